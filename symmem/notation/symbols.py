"""How the symbols of one optimizer are spelled, by their names in the expression language: in lines of text.

Below text_printer.py; latex_symbols.py has the same in LaTeX.  The signs themselves are in glyphs.py and macros.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Self

from symmem.notation.declared_latex import potential_of, unicode_of
from symmem.notation.formula import Formula
from symmem.notation.glyphs import GREEK, Glyphs, subscript
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
    arguments: bool = False
    """Whether the loss and its gradient are written at theta: L(theta)."""

    def meaning(self, name: str) -> Formula | None:
        """The formula that a name stands for, if it stands for one."""
        meant = self.names.get(name)
        return meant if isinstance(meant, Formula) else None

    def without(self, name: str) -> Self:
        """Inside its meaning a name is itself: m1 may stand for m1 at a step."""
        return replace(self, names={key: value for key, value in self.names.items() if key != name})

    def text(self, name: str, glyphs: Glyphs) -> str:
        """The symbol of a name, in lines of text."""
        if name in glyphs.atoms:
            at = f"({glyphs.atoms['theta']})" if self.arguments and name in ("grad", "loss") else ""
            return glyphs.atoms[name] + at
        if name in self.functions:  # a sentence may speak of a function without its argument
            return self.function_text(name, glyphs)
        return _text(name, self.names.get(name), glyphs)

    def function_text(self, name: str, glyphs: Glyphs) -> str:
        """An open function, in lines of text."""
        return _text(name, self.functions[name][0] if name in self.functions else None, glyphs)

    def potential_text(self, name: str, glyphs: Glyphs) -> str:
        """The potential of an open gradient, in lines of text."""
        latex, potential = self.functions[name]
        return _text(potential or name, potential_of(latex), glyphs)


def numbered(name: str) -> tuple[str, str]:
    """Letters and a number behind them: beta1, m_2; any other name is its own stem."""
    match = _NUMBERED.fullmatch(name)
    return (match[1], match[2]) if match else (name, "")


def _text(name: str, latex: str | Formula | None, glyphs: Glyphs) -> str:
    """The Unicode reading of the declared LaTeX, else of the name; the name itself where there is none."""
    if not glyphs.unicode:
        return name
    if isinstance(latex, str):
        return unicode_of(latex) or name
    stem, digits = numbered(name)
    letter = GREEK.get(stem, stem)
    return letter + (subscript(digits) or "") if len(letter) == 1 else name


LATEX_NAMES: Mapping[str, str] = {
    **{"Max": "max", "Min": "min", "asin": "arcsin", "acos": "arccos", "atan": "arctan"},
    **{"newton_schulz": "NS", "inverse_root": "InverseRoot"},
}
"""Functions whose LaTeX name is not their own."""
