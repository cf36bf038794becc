"""Optimizers side by side: correction, sign of the implicit regularisation, modified loss; as text, LaTeX and JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import Expr

from symmem import __version__
from symmem.derivation.derivation import Derivation
from symmem.derivation.regularisation_sign import Regularisation, regularisation
from symmem.documents.decimals import shown
from symmem.documents.json_record import SCHEMA, RecordWriter
from symmem.documents.paper.consequences import sentence
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.escaping import typeset
from symmem.documents.paper.macros import FILE
from symmem.documents.terminal import Style, columns, filled, formula_behind, in_ascii
from symmem.documents.words import Words, found, in_macros, marked
from symmem.errors import DerivationError
from symmem.notation.latex import TEXT_WIDTH
from symmem.notation.tex_size import width
from symmem.output.rendering import render

DEPENDS = "at the default parameters, on which it depends"
SIGNS = "+: large gradients are penalised; -: they are rewarded; 0: the loss stays"


@dataclass(frozen=True)
class Entry:
    """One optimizer in the comparison: the limit of many steps, to first order in h."""

    derivation: Derivation

    @cached_property
    def correction(self) -> Expr | None:
        try:
            return self.derivation.limit.M
        except DerivationError:
            return None

    @cached_property
    def reason(self) -> str:
        """Why there is no modified loss; empty where there is one."""
        try:
            obstruction = self.derivation.obstruction
        except DerivationError as error:
            return str(error)
        return obstruction.reason if obstruction else ""

    @cached_property
    def regularisation(self) -> Regularisation | None:
        return None if self.reason else regularisation(self.derivation.method, self.derivation.modified_loss)

    @property
    def sign(self) -> str | None:
        found_sign = self.regularisation
        return None if found_sign is None else "-0+"[found_sign.sign + 1]

    @property
    def mark(self) -> str:
        """The sign, with a star where it depends on the parameters."""
        return (self.sign or "") + ("*" if self.depends else "")

    @property
    def regime(self) -> Words:
        loss = None if self.reason else self.derivation.modified_loss
        exact = loss is None or loss.regime == "exact"
        return (
            () if exact or loss is None else marked(f"as `{loss.regime}`", self.derivation.optimizer.symbols)
        )

    @property
    def formulas(self) -> tuple[tuple[str, str, str, Expr], ...]:
        """Unicode, ASCII and LaTeX of the left-hand side, and the right-hand side."""
        parts: list[tuple[str, str, str, Expr]] = []
        if self.correction is not None:
            parts.append(("M", "M", r"\bM", shown(self.correction)))
        loss = None if self.reason else self.derivation.modified_loss
        if loss is not None:
            parts.append(("L̃", "L~", r"\modloss", shown(loss.potential)))
        return tuple(parts)

    @property
    def depends(self) -> bool:
        return self.regularisation is not None and not self.regularisation.everywhere


def compared(derivations: Sequence[Derivation]) -> tuple[Entry, ...]:
    return tuple(map(Entry, derivations))


def as_text(entries: Sequence[Entry], style: Style) -> str:
    """A table in the width of the terminal: name, sign, formulas, one optimizer below the other."""
    names = [_plain(str(entry.derivation.optimizer.title), style) for entry in entries]
    first = max(map(columns, (*names, "optimizer"))) + 2
    indent = first + 6
    lines = [filled("optimizer", first) + filled("sign", 6) + "correction and modified loss"]
    lines.append(("─" if style.unicode else "-") * style.width)
    for name, entry in zip(names, entries, strict=True):
        mark = entry.mark.replace("-", "−") if style.unicode else entry.mark
        body = "\n".join(_text_cell(entry, indent, style))
        lines.append(filled(name, first) + filled(mark, 6) + body[indent:])
    lines.append("")
    signs = SIGNS.replace("-:", "−:") if style.unicode else SIGNS
    lines += textwrap.wrap(f"sign  {signs}", style.width, subsequent_indent=" " * 6)
    if any(entry.depends for entry in entries):
        lines += textwrap.wrap(f"*     {DEPENDS}", style.width, subsequent_indent=" " * 6)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _text_cell(entry: Entry, indent: int, style: Style) -> list[str]:
    blank = " " * indent
    lines = []
    for unicode, ascii_, _, value in entry.formulas:
        label = filled(unicode if style.unicode else ascii_, 1 if style.unicode else 2)
        lines.append(formula_behind(f"{blank}{label} = ", value, entry.derivation.optimizer, style))
    notes = entry.regime
    if entry.reason:
        notes = found(f"no modified loss: {entry.reason}", entry.derivation.optimizer.symbols)
    words = "".join(
        _plain(part, style) if isinstance(part, str) else part.unicode if style.unicode else part.ascii
        for part in notes
    )
    return lines + textwrap.wrap(words, style.width, initial_indent=blank, subsequent_indent=blank)


def _plain(words: str, style: Style) -> str:
    return words if style.unicode else in_ascii(words)


def as_latex(entries: Sequence[Entry]) -> str:
    """A longtable with booktabs; its macros are those of a paper section."""
    titles = [typeset(str(entry.derivation.optimizer.title)) for entry in entries]
    room = TEXT_WIDTH - max(0.55 * len(title) for title in titles) - 6
    rows = [
        {"title": title, "sign": _tex_sign(entry), "cell": _tex_cell(entry, room), "note": _tex_note(entry)}
        for title, entry in zip(titles, entries, strict=True)
    ]
    values = {
        "version": __version__,
        "file": FILE,
        "rows": rows,
        "room": f"{room:.1f}em",
        "depends": DEPENDS if any(entry.depends for entry in entries) else "",
    }
    return render("latex/comparison.tex.jinja", values)


def _tex_sign(entry: Entry) -> str:
    return f"${entry.sign}{'^{*}' if entry.depends else ''}$" if entry.sign is not None else ""


def _tex_cell(entry: Entry, room: float) -> str:
    optimizer = entry.derivation.optimizer
    writer = Writer(optimizer.symbols, optimizer.function_symbols)
    if not entry.formulas:
        return ""
    widest = max(width(left) for _, _, left, _ in entry.formulas)
    lines = []
    for _, _, left, value in entry.formulas:
        head, *others = writer.lines(Row(left, (value,)), value, room - widest)
        lines += [f"{left} &= {head}", *(f"&{line}" for line in others)]
    return r"\begin{aligned} " + " \\\\ ".join(lines) + r" \end{aligned}"


def _tex_note(entry: Entry) -> str:
    optimizer = entry.derivation.optimizer
    if entry.reason:
        return sentence(f"no modified loss: {entry.reason}", optimizer)
    parts = (
        part if isinstance(part, str) else f"${in_macros(part, optimizer.symbols)}$" for part in entry.regime
    )
    return "".join(parts)


def as_record(entries: Sequence[Entry]) -> dict[str, Any]:
    """Plain data for JSON; ``sign_holds`` is "everywhere" or "at the defaults"."""
    return {"schema": SCHEMA, "symmem": __version__, "optimizers": [_record(entry) for entry in entries]}


def _record(entry: Entry) -> dict[str, Any]:
    writer = RecordWriter(entry.derivation)
    holds = None if entry.sign is None else "at the defaults" if entry.depends else "everywhere"
    return {
        "name": entry.derivation.optimizer.name,
        "title": entry.derivation.optimizer.title,
        "correction": None if entry.correction is None else writer.write(entry.correction),
        "sign": entry.sign,
        "sign_holds": holds,
        "modified_loss": writer.modified_loss(),
    }
