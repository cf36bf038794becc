r"""Displayed equations for a paper: rows ``left &= right`` of an ``align``, broken to the width of the text.

The number of an equation stands on its last line; a left-hand side that is too wide for a column of its own gets a
line of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sympy import Expr

from symmem.declaration.optimizer import Optimizer
from symmem.documents.latex_spelling import LatexSpelling
from symmem.documents.paper.escaping import typeset
from symmem.documents.paper.macros import PAPER, SMALLEST
from symmem.documents.prose import Prose
from symmem.notation.decimals import shown
from symmem.notation.formula import Formula
from symmem.notation.latex import TEXT_WIDTH
from symmem.notation.piece import EQUALS, Piece
from symmem.notation.writable import Writable
from symmem.records import record

NUMBER = 3.2
"""The room for the number of an equation, in ems."""
WIDEST_IN_TEXT = 0.5
"""The share of a line that a formula in the text may take."""
WIDEST_LEFT = 9.0
"""A left-hand side that is wider stands on a line of its own."""


@record(frozen=True)
class Row:
    """``left = right = right ...``; on the right ``theta`` is written in the place of theta."""

    left: Writable
    rights: tuple[Writable, ...]
    label: str = ""
    theta: Formula | None = None
    arguments: bool = False
    """Whether the loss is written at its argument."""


@record(frozen=True)
class Writer:
    """Writes the formulas and sentences of one optimizer in the macros of a paper."""

    spelling: LatexSpelling
    width: float = TEXT_WIDTH
    """That of the text, in ems."""

    @classmethod
    def of(cls, optimizer: Optimizer, width: float = TEXT_WIDTH) -> Writer:
        """In the macros of a paper."""
        return cls(LatexSpelling.of(optimizer, PAPER), width)

    def naming(self, meanings: Mapping[str, Formula]) -> Writer:
        """A writer that also knows what these symbols stand for."""
        return replace(self, spelling=replace(self.spelling, names={**self.spelling.names, **meanings}))

    def piece(self, written: Writable, theta: Formula | None = None) -> Piece:
        """The formula in one line, with its extent."""
        return self.spelling.piece(_readable(written), theta)

    def inline(self, written: Writable, theta: Formula | None = None) -> str:
        """The formula for a line of text, without dollars."""
        return self.piece(written, theta).text

    def sentence(self, prose: Prose) -> str:
        """Words escaped, mathematics between dollars."""
        return "".join(typeset(part) if isinstance(part, str) else self.in_text(part) for part in prose)

    def in_text(self, written: Writable) -> str:
        """A formula between dollars; displayed, and broken, where no line of text could take it."""
        inline = self.piece(written)
        if inline.width <= self.width * WIDEST_IN_TEXT:
            return f"${inline.text}$"
        lines = self.spelling.lines(_readable(written), self.width - 2, smallest=SMALLEST)
        return "\n\\begin{align*}\n  & " + " \\\\\n  &".join(lines) + "\n\\end{align*}\n"

    def lines(self, row: Row, right: Writable, ems: float) -> tuple[str, ...]:
        """The right-hand side of a row, broken to the width."""
        return self.spelling.lines(
            _readable(right), ems, start=EQUALS, theta=row.theta, arguments=row.arguments, smallest=SMALLEST
        )

    def display(self, rows: Sequence[Row], end: str = ".") -> str:
        """The rows in one ``align``, with a comma behind each and ``end`` behind the last."""
        lefts = [self.piece(row.left) for row in rows]
        widest = max(left.width for left in lefts)
        numbered = any(row.label for row in rows)
        whole = self.width - (NUMBER if numbered else 0)
        hanging = widest > WIDEST_LEFT or not all(self._fits(row, whole - widest) for row in rows)
        room = whole - (1 if hanging else widest)
        lines: list[str] = []
        for position, (left, row) in enumerate(zip(lefts, rows, strict=True)):
            written = self._row(left, row, room, hanging)
            written[-1] += end if position == len(rows) - 1 else ","
            marked = [f"{line} \\notag" if numbered else line for line in written[:-1]]
            last = f" \\label{{{row.label}}}" if row.label else " \\notag" if numbered else ""
            lines += [*marked, written[-1] + last]
        name = "align" if numbered else "align*"
        body = " \\\\\n  ".join(lines)
        return f"\\begin{{{name}}}\n  {body}\n\\end{{{name}}}"

    def _fits(self, row: Row, room: float) -> bool:
        rights = map(_readable, row.rights)
        return all(self.spelling.fits(r, room, start=EQUALS, arguments=row.arguments) for r in rights)

    def _beside(self, left: Piece, row: Row, right: Writable, room: float) -> str:
        """A right-hand side that fits on the line of its left-hand side; empty where it does not."""
        rest = room - left.width
        if not self.spelling.fits(_readable(right), rest, start=EQUALS, arguments=row.arguments):
            return ""
        line, *others = self.lines(row, right, rest)
        return "" if others else line

    def _row(self, left: Piece, row: Row, room: float, hanging: bool) -> list[str]:
        lines: list[str] = []
        for position, right in enumerate(row.rights):
            first, *others = self.lines(row, right, room)
            before = f"{left.text} " if position == 0 else ""
            if hanging and before and (beside := self._beside(left, row, right, room)):
                lines.append(f"&{before}= {beside}")
            elif hanging:
                lines += [f"&{before}"] if position == 0 else []
                lines += [f"&\\quad = {first}", *(f"&\\quad {line}" for line in others)]
            else:
                lines += [f"{before}&= {first}", *(f"&{line}" for line in others)]
        return lines


def _readable(written: Writable) -> Writable:
    """Long numbers are rounded for reading."""
    return shown(written) if isinstance(written, Expr) else written
