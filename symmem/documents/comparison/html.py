"""A comparison in a notebook: one row an optimizer."""

from __future__ import annotations

from collections.abc import Sequence

from symmem.documents.comparison.entry import DEPENDS, RATED, Compared
from symmem.documents.latex_spelling import LatexSpelling
from symmem.notation import html
from symmem.notation.html import Mathematics


def comparison_html(entries: Sequence[Compared]) -> str:
    """The comparison as a table for a notebook."""
    rows = [[[entry.title], _sign(entry), *_formulas(entry), _note(entry)] for entry in entries]
    heads: list[html.Words] = [
        ["optimizer"],
        ["sign"],
        ["correction"],
        ["modified loss"],
        ["inside the gradient map"],
        [""],
    ]
    notes = [html.sentence([f"*: {DEPENDS}"])] if any(entry.depends for entry in entries) else []
    notes += [html.sentence([RATED])] if any(entry.is_rated for entry in entries) else []
    return html.page("Optimizers side by side", "", [html.table(heads, rows), *notes])


def _sign(entry: Compared) -> html.Words:
    if entry.sign is None:
        return []
    return [Mathematics("-0+"[entry.sign + 1] + ("^{*}" if entry.depends else ""))]


def _formulas(entry: Compared) -> list[html.Words]:
    """Correction and modified losses, each in its column."""
    spelling = LatexSpelling.of(entry.account.optimizer)
    return [
        [] if value is None else [Mathematics(spelling.latex(value))]
        for value in (entry.correction, entry.loss, entry.inside)
    ]


def _note(entry: Compared) -> html.Words:
    spelling = LatexSpelling.of(entry.account.optimizer)
    return [part if isinstance(part, str) else Mathematics(spelling.latex(part)) for part in entry.note]
