"""How the formulas of one optimizer are spelled in LaTeX: notebook, JSON, comparison and paper."""

from __future__ import annotations

from symmem.declaration.optimizer import Optimizer
from symmem.documents.spelling import Spelling
from symmem.notation.formula import Formula
from symmem.notation.latex import lines, piece
from symmem.notation.latex_symbols import LatexSpeller
from symmem.notation.layout import Line
from symmem.notation.macros import Macros
from symmem.notation.piece import Piece
from symmem.notation.writable import Writable
from symmem.records import record

_SCRIPT = 0.9
"""How wide a formula is at most in the size of scripts: fractions in it are in the smallest size already."""


@record(frozen=True)
class LatexSpelling(Spelling):
    """The spelling with the signs of an author."""

    macros: Macros = Macros()

    @classmethod
    def of(cls, optimizer: Optimizer, macros: Macros | None = None) -> LatexSpelling:
        """The spelling of an optimizer's own symbols."""
        plain = Spelling.of(optimizer)
        return cls(plain.names, plain.functions, macros or Macros())

    def piece(self, written: Writable, theta: Formula | None = None) -> Piece:
        """In LaTeX, in one line, with its extent; ``theta`` is what is written in its place."""
        return piece(written, LatexSpeller(self.names, self.functions, macros=self.macros, theta=theta))

    def latex(self, written: Writable) -> str:
        """In LaTeX, in one line."""
        return self.piece(written).text

    def lines(
        self,
        written: Writable,
        ems: float,
        *,
        start: float = 0,
        theta: Formula | None = None,
        arguments: bool = False,
        smallest: str = "",
    ) -> tuple[str, ...]:
        """LaTeX in lines of at most ``ems``; ``start`` is taken on the first; ``arguments``: the loss at theta.

        A line that cannot be broken, such as a fraction that is wider than the page, stays as it is, or
        becomes smaller, at last in the size of the command ``smallest``.
        """
        speller = LatexSpeller(self.names, self.functions, arguments, self.macros, theta)
        found = lines(written, speller, ems, start)
        starts = (start, *(0.0 for _ in found[1:]))
        return tuple(
            _shrunk(line, ems - before, smallest) if smallest else line.source
            for line, before in zip(found, starts, strict=True)
        )

    def fits(self, written: Writable, ems: float, *, start: float = 0, arguments: bool = False) -> bool:
        """Whether it can be broken into lines of at most ``ems``."""
        speller = LatexSpeller(self.names, self.functions, arguments, self.macros)
        first, *others = lines(written, speller, ems, start)
        return start + first.size <= ems and all(line.size <= ems for line in others)


def _shrunk(line: Line, ems: float, smallest: str) -> str:
    """The line in the largest of the sizes of scripts in which it fits; most lines fit as they are."""
    if line.size <= ems:
        return line.source
    size = r"\scriptstyle" if _SCRIPT * line.size <= ems else smallest
    return rf"{size} {line.source}"
