r"""Displayed equations for a paper: rows ``left &= right`` of an ``align``, broken to the width of the text.

The number of an equation stands on its last line; a left-hand side that is too wide for a column of its own gets a
line of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sympy import Expr

from symmem.documents.decimals import in_latex, shown
from symmem.documents.paper.macros import PAPER
from symmem.notation.latex import TEXT_WIDTH, latex, latex_lines
from symmem.notation.symbols import Functions, Macros
from symmem.notation.tex_size import EQUALS, width

NUMBER = 3.2
"""The room for the number of an equation, in ems."""
WIDEST_LEFT = 9.0
"""A left-hand side that is wider stands on a line of its own."""


@dataclass(frozen=True)
class Row:
    """``left = right = right ...``; a right-hand side is an expression, or LaTeX that is short enough."""

    left: str
    rights: tuple[Expr | str, ...]
    label: str = ""
    macros: Macros = PAPER
    arguments: bool = False


@dataclass(frozen=True)
class Writer:
    """Writes the formulas of one optimizer; ``names`` are its parameters, and further symbols, in LaTeX."""

    names: Mapping[str, str]
    functions: Functions = field(default_factory=dict)

    def inline(self, expression: Expr, macros: Macros = PAPER, *, arguments: bool = False) -> str:
        source = latex(
            shown(expression), names=self.names, functions=self.functions, macros=macros, arguments=arguments
        )
        return in_latex(source)

    def lines(self, row: Row, right: Expr | str, ems: float) -> tuple[str, ...]:
        if isinstance(right, str):
            return (right,)
        lines = latex_lines(
            shown(right),
            names=self.names,
            functions=self.functions,
            macros=row.macros,
            arguments=row.arguments,
            ems=ems,
            start=EQUALS,
        )
        return tuple(map(in_latex, lines))

    def display(self, rows: Sequence[Row], end: str = ".") -> str:
        """The rows in one ``align``, with a comma behind each and ``end`` behind the last."""
        widest = max(width(row.left) for row in rows)
        hanging = widest > WIDEST_LEFT
        numbered = any(row.label for row in rows)
        room = TEXT_WIDTH - (1 if hanging else widest) - (NUMBER if numbered else 0)
        lines: list[str] = []
        for position, row in enumerate(rows):
            written = self._row(row, room, hanging)
            written[-1] += end if position == len(rows) - 1 else ","
            marked = [f"{line} \\notag" if numbered else line for line in written[:-1]]
            last = f" \\label{{{row.label}}}" if row.label else " \\notag" if numbered else ""
            lines += [*marked, written[-1] + last]
        name = "align" if numbered else "align*"
        body = " \\\\\n  ".join(lines)
        return f"\\begin{{{name}}}\n  {body}\n\\end{{{name}}}"

    def _row(self, row: Row, room: float, hanging: bool) -> list[str]:
        lines: list[str] = []
        for position, right in enumerate(row.rights):
            first, *others = self.lines(row, right, room)
            if hanging:
                lines += [f"&{row.left}"] if position == 0 else []
                lines += [f"&\\quad = {first}", *(f"&\\quad {line}" for line in others)]
            else:
                left = f"{row.left} " if position == 0 else ""
                lines += [f"{left}&= {first}", *(f"&{line}" for line in others)]
        return lines
