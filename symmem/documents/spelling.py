"""How the formulas of one optimizer are spelled: its parameters and functions, in every alphabet."""

from __future__ import annotations

from dataclasses import field

from symmem.declaration.optimizer import Optimizer
from symmem.notation.formula import Formula
from symmem.notation.latex import lines, piece
from symmem.notation.macros import Macros
from symmem.notation.piece import Piece
from symmem.notation.symbols import Functions, Names, Speller
from symmem.notation.text import text
from symmem.notation.writable import Writable, formula_of
from symmem.records import record

WHOLE = 10**6
"""A width that no formula has."""


@record(frozen=True)
class Spelling:
    """``names`` are the parameters in LaTeX, and further symbols by what they stand for; then the signs of LaTeX."""

    names: Names
    functions: Functions = field(default_factory=dict)
    macros: Macros = Macros()

    @classmethod
    def of(cls, optimizer: Optimizer, macros: Macros | None = None) -> Spelling:
        """The spelling of an optimizer's own symbols."""
        return cls(optimizer.symbols, optimizer.function_symbols, macros or Macros())

    def formula(self, written: Writable) -> Formula:
        """To be put into a longer formula."""
        return formula_of(written, self.names, self.functions)

    def text(self, written: Writable, *, unicode: bool, width: int = WHOLE, prefix: str = "") -> str:
        """In lines of text, at most so wide."""
        return text(
            written, names=self.names, functions=self.functions, width=width, unicode=unicode, prefix=prefix
        )

    def piece(self, written: Writable, theta: Formula | None = None) -> Piece:
        """In LaTeX, in one line, with its extent; ``theta`` is what is written in its place."""
        return piece(written, Speller(self.names, self.functions, self.macros, theta=theta))

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
        speller = Speller(self.names, self.functions, self.macros, arguments, theta)
        return tuple(line.source for line in lines(written, speller, ems, start))
