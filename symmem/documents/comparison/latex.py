"""A comparison as a longtable with booktabs; its macros are those of a paper section."""

from __future__ import annotations

from collections.abc import Sequence

from symmem import __version__
from symmem.documents.comparison.entry import DEPENDS, Compared
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.escaping import typeset
from symmem.documents.paper.macros import FILE
from symmem.notation.latex import TEXT_WIDTH
from symmem.output.rendering import render

NAMES = 8.0
"""How wide the names of optimizers are at most, in ems, where their words allow it."""


def comparison_latex(
    entries: Sequence[Compared], width: float = TEXT_WIDTH, *, floating: bool = False
) -> str:
    """The comparison as a LaTeX table, in a text so wide, in ems; ``floating``: across a page of two columns."""
    titles = [str(entry.title) for entry in entries]
    column = _column(titles)
    room = width - column - 6
    rows = [_row(entry, room) for entry in entries]
    values = {
        "version": __version__,
        "file": FILE,
        "rows": [{"title": _title(title, column), **row} for title, row in zip(titles, rows, strict=True)],
        "floating": floating,
        "room": f"{room:.1f}em",
        "sense": any(entry.inside is not None for entry in entries),
        "depends": DEPENDS if any(entry.depends for entry in entries) else "",
        "rated": any(entry.is_rated for entry in entries),
    }
    return render("latex/comparison.tex.jinja", values)


def _column(titles: Sequence[str]) -> float:
    """How wide the names are, in ems: a long one is broken between its words, where they are short enough for it."""
    words = (_width(word) for title in titles for word in title.split())
    whole = max(_width(typeset(title)) for title in titles)
    return whole if max(words, default=0.0) > NAMES else min(NAMES, whole)


def _width(text: str) -> float:
    return 0.55 * len(text)


def _title(title: str, column: float) -> str:
    text = typeset(title)
    return text if _width(title) <= column else rf"\parbox{{{column:.1f}em}}{{\raggedright {text}}}"


def _row(entry: Compared, room: float) -> dict[str, str]:
    writer = Writer.of(entry.account.optimizer)
    return {"sign": _sign(entry), "cell": _cell(entry, writer, room), "note": writer.sentence(entry.note)}


def _sign(entry: Compared) -> str:
    if entry.sign is None:
        return ""
    return f"${'-0+'[entry.sign + 1]}{'^{*}' if entry.depends else ''}$"


def _cell(entry: Compared, writer: Writer, room: float) -> str:
    if not entry.formulas:
        return ""
    lefts = [writer.piece(left) for left, _ in entry.formulas]
    widest = max(left.width for left in lefts)
    lines = []
    for left, (label, value) in zip(lefts, entry.formulas, strict=True):
        head, *others = writer.lines(Row(label, (value,)), value, room - widest)
        lines += [f"{left.text} &= {head}", *(f"&{line}" for line in others)]
    return r"\begin{aligned} " + " \\\\ ".join(lines) + r" \end{aligned}"
