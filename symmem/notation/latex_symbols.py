"""How the symbols of one optimizer are spelled in LaTeX; beside symbols.py, below latex_printer.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from symmem.notation import extent
from symmem.notation.declared_latex import declared, potential_of
from symmem.notation.extent import Extent
from symmem.notation.formula import Formula
from symmem.notation.glyphs import GREEK
from symmem.notation.macros import Macros
from symmem.notation.piece import SPACE, Piece, row, scripted, symbol
from symmem.notation.symbols import Speller, numbered
from symmem.records import record


@record(frozen=True)
class LatexSpeller(Speller):
    """Spells the atoms in LaTeX, in an author's macros."""

    macros: Macros = Macros()
    theta: Formula | None = None
    """What is written for theta, where it is not theta itself."""

    def meaning(self, name: str) -> Formula | None:
        """The formula that a name stands for, if it stands for one."""
        return self.theta if name == "theta" else super().meaning(name)

    def without(self, name: str) -> Self:
        """Inside its meaning a name is itself."""
        return replace(self, theta=None) if name == "theta" else super().without(name)

    def latex(self, name: str, depth: int) -> Piece:
        """The symbol of a name, in LaTeX; the argument of the loss is the printer's."""
        if name in self.functions:
            return self.function_latex(name, depth)
        match name:
            case "theta":
                return self.macros.theta
            case "lr":
                return self.macros.lr
            case "loss":
                return self.macros.loss
            case "grad":
                return row(self.macros.nabla, SPACE, self.macros.loss)
            case "oo":
                return symbol(r"\infty", 1.0)
            case "pi":
                return symbol(r"\pi", 0.64)
        latex = self.names.get(name)
        return declared(latex, depth) if isinstance(latex, str) else self._undeclared(name)

    def _undeclared(self, name: str) -> Piece:
        """m1 is a momentum variable, Greek and one-letter names are symbols."""
        stem, digits = numbered(name)
        if stem == "m" and digits:
            return _indexed(self.macros.momentum, digits)
        if stem in GREEK:
            return _indexed(symbol(f"\\{stem}", 0.64), digits)
        if len(stem) == 1:
            return _indexed(symbol(stem, extent.letter(stem)), digits)
        return symbol(r"\mathrm{" + name.replace("_", r"\_") + "}", extent.words(name))

    def function_latex(self, name: str, depth: int) -> Piece:
        """An open function, in LaTeX: as declared, else by its name."""
        known = self.functions.get(name)
        return declared(known[0], depth) if known else self._undeclared(name)

    def potential_latex(self, name: str, depth: int) -> Piece:
        r"""The potential of an opaque gradient: its LaTeX without the \nabla, else its name."""
        latex, potential = self.functions[name]
        behind = potential_of(latex)
        return self._undeclared(potential or name) if behind is None else declared(behind, depth)


def _indexed(base: Piece, digits: str) -> Piece:
    if not digits:
        return base
    index = extent.script(Extent(extent.digits(len(digits))), False)
    return scripted(base, Piece(f"_{{{digits}}}" if len(digits) > 1 else f"_{digits}", index))
