"""How the symbols of one optimizer are spelled in each format, by their names in the expression language.

Below text_printer.py and latex_printer.py; the signs themselves are in glyphs.py and macros.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from symmem.notation import extent
from symmem.notation.declared_latex import declared, potential_of, unicode_of
from symmem.notation.extent import Extent
from symmem.notation.formula import Formula
from symmem.notation.glyphs import GREEK, Glyphs, subscript
from symmem.notation.macros import Macros
from symmem.notation.piece import SPACE, Piece, row, scripted, symbol
from symmem.records import record

Functions = Mapping[str, tuple[str, str | None]]
"""Opaque functions: name -> (LaTeX, name of the potential or None)."""
Names = Mapping[str, "str | Formula"]
"""Parameters: name -> LaTeX as declared, or the formula that the name stands for."""

_NUMBERED = re.compile(r"([A-Za-z]+)_?([0-9]*)")


@record(frozen=True)
class Speller:
    """Spells the atoms: parameters by their declared LaTeX, the rest by the tables of signs."""

    names: Names
    functions: Functions
    macros: Macros = Macros()
    arguments: bool = False
    """Whether the loss and its gradient are written at theta: L(theta)."""
    theta: Formula | None = None
    """What is written for theta, where it is not theta itself."""

    def meaning(self, name: str) -> Formula | None:
        """The formula that a name stands for, if it stands for one."""
        meant = self.theta if name == "theta" else self.names.get(name)
        return meant if isinstance(meant, Formula) else None

    def without(self, name: str) -> Speller:
        """Inside its meaning a name is itself: m1 may stand for m1 at a step."""
        if name == "theta":
            return replace(self, theta=None)
        return replace(self, names={key: value for key, value in self.names.items() if key != name})

    def text(self, name: str, glyphs: Glyphs) -> str:
        """The symbol of a name, in lines of text."""
        if name in glyphs.atoms:
            at = f"({glyphs.atoms['theta']})" if self.arguments and name in ("grad", "loss") else ""
            return glyphs.atoms[name] + at
        if name in self.functions:  # a sentence may speak of a function without its argument
            return self.function_text(name, glyphs)
        return _text(name, self.names.get(name), glyphs)

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
        stem, digits = _numbered(name)
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

    def function_text(self, name: str, glyphs: Glyphs) -> str:
        """An open function, in lines of text."""
        return _text(name, self.functions[name][0] if name in self.functions else None, glyphs)

    def potential_latex(self, name: str, depth: int) -> Piece:
        r"""The potential of an opaque gradient: its LaTeX without the \nabla, else its name."""
        latex, potential = self.functions[name]
        behind = potential_of(latex)
        return self._undeclared(potential or name) if behind is None else declared(behind, depth)

    def potential_text(self, name: str, glyphs: Glyphs) -> str:
        """The potential of an open gradient, in lines of text."""
        latex, potential = self.functions[name]
        return _text(potential or name, potential_of(latex), glyphs)


def _numbered(name: str) -> tuple[str, str]:
    """Letters and a number behind them: beta1, m_2; any other name is its own stem."""
    match = _NUMBERED.fullmatch(name)
    return (match[1], match[2]) if match else (name, "")


def _indexed(base: Piece, digits: str) -> Piece:
    if not digits:
        return base
    index = extent.script(Extent(extent.digits(len(digits))), False)
    return scripted(base, Piece(f"_{{{digits}}}" if len(digits) > 1 else f"_{digits}", index))


def _text(name: str, latex: str | Formula | None, glyphs: Glyphs) -> str:
    """The Unicode reading of the declared LaTeX, else of the name; the name itself where there is none."""
    if not glyphs.unicode:
        return name
    if isinstance(latex, str):
        return unicode_of(latex) or name
    stem, digits = _numbered(name)
    letter = GREEK.get(stem, stem)
    return letter + (subscript(digits) or "") if len(letter) == 1 else name
