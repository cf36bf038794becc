"""How the formulas of one optimizer are spelled in LaTeX: notebook, JSON, comparison and paper."""

from __future__ import annotations

from symmem.declaration.optimizer import Optimizer
from symmem.documents.spelling import Spelling
from symmem.notation.formula import Formula
from symmem.notation.latex import lines, piece
from symmem.notation.latex_symbols import LatexSpeller
from symmem.notation.macros import Macros
from symmem.notation.piece import Piece
from symmem.notation.writable import Writable
from symmem.records import record


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
    ) -> tuple[str, ...]:
        """LaTeX in lines of at most ``ems``; ``start`` is taken on the first; ``arguments``: the loss at theta."""
        speller = LatexSpeller(self.names, self.functions, arguments, self.macros, theta)
        return tuple(line.source for line in lines(written, speller, ems, start))
