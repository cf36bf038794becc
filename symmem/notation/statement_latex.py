"""Statements -> LaTeX, in an author's macros: what no expression is read into; the lower half of latex_printer.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from symmem.notation import extent
from symmem.notation.extent import SCRIPT_DEPTH
from symmem.notation.formula import Formula
from symmem.notation.latex_brackets import Brackets, bracket, in_parentheses, whole
from symmem.notation.latex_symbols import LatexSpeller
from symmem.notation.layout import Cat, Doc
from symmem.notation.macros import Macros
from symmem.notation.piece import (
    Piece,
    above,
    below,
    equals,
    listed,
    relation,
    row,
    scripted,
    symbol,
    words,
)
from symmem.notation.statement import (
    Along,
    Applied,
    Assignment,
    AtStep,
    BigO,
    Bracketed,
    Equality,
    Grouped,
    Indexed,
    Interval,
    Iterate,
    Less,
    Letter,
    Listed,
    Tends,
    Velocity,
    Word,
)
from symmem.records import record

_BIG_O = symbol("O", 0.763)


@record(frozen=True)
class StatementPrinter(ABC):
    """Spells statements; how expressions are spelled is latex_printer.py's."""

    speller: LatexSpeller
    fixed: bool = False
    """Whether brackets have fixed sizes, so that lines may be broken inside."""
    depth: int = 0
    """How many fractions (1) and scripts (2) are around."""

    @property
    def macros(self) -> Macros:
        """How the operators are spelled."""
        return self.speller.macros

    @abstractmethod
    def doc(self, formula: Formula) -> Doc:
        """The formula with the places at which a line may end."""

    def line(self, formula: Formula) -> Piece:
        """The formula in one line."""
        return whole(self.doc(formula))

    def small(self, formula: Formula) -> Piece:
        """The formula in a script."""
        return replace(self, depth=self.depth + SCRIPT_DEPTH).line(formula)

    def enclosed(self, body: Doc, left: str = "(", right: str = ")") -> Doc:
        """Between brackets as large as the body."""
        return Brackets(self.fixed, self.depth).around(body, left, right)

    def statement(self, formula: Formula) -> Doc:
        """The statement, whose parts are spelled by `doc`."""
        match formula:
            case Letter(name):
                return self.macros.letters.get(name) or symbol(name, sum(map(extent.letter, name)))
            case Word(text):
                return words(text)
            case Indexed(base, index):
                return attached(self.doc(base), below(self.small(index), self.depth))
            case Iterate(step):
                inside = self.small(step)
                script = (
                    above(in_parentheses(inside), self.depth)
                    if self.macros.step_above
                    else below(inside, self.depth)
                )
                return scripted(self.macros.theta, script)
            case AtStep(base, step):
                return attached(self.doc(base), above(in_parentheses(self.small(step)), self.depth))
            case Bracketed(body):
                return self.enclosed(self.doc(body), "[", "]")
            case Applied(function, arguments):
                return Cat((self.doc(function), in_parentheses(self._listed(arguments))))
            case Along(derivative, direction):
                return Cat((self.doc(derivative), self.enclosed(self.doc(direction), "[", "]")))
            case Velocity():
                return Piece(rf"\dot{{{self.macros.theta.text}}}", self.macros.theta.extent)
            case BigO(size):
                return Cat((_BIG_O, self.enclosed(self.doc(size))))
            case Interval(lower, upper, lower_open, upper_open):
                ends = self._listed((lower, upper))
                return row(bracket("(" if lower_open else "["), ends, bracket(")" if upper_open else "]"))
            case Listed(parts):
                return self._listed(parts)
            case Grouped(parts):
                return in_parentheses(self._listed(parts))
        return self._relation(formula)

    def _relation(self, formula: Formula) -> Doc:
        match formula:
            case Tends(left, place):
                return Cat((self._listed(left), relation(r"\to", 1.0, self.depth), self.doc(place)))
            case Assignment(left, right):
                return Cat((self.doc(left), relation(r"\leftarrow", 1.0, self.depth), self.doc(right)))
            case Equality(left, right):
                return Cat((self.doc(left), equals(self.depth), self.doc(right)))
            case Less(left, right):
                return Cat((self.doc(left), relation("<", 0.778, self.depth), self.doc(right)))
        raise TypeError(f"no LaTeX for {type(formula).__name__}")

    def _listed(self, formulas: tuple[Formula, ...]) -> Piece:
        return listed(map(self.line, formulas), self.depth)


def attached(base: Doc, script: Piece) -> Doc:
    """A script at its base, which may be broken in lines."""
    return scripted(base, script) if isinstance(base, Piece) else Cat((base, script))
