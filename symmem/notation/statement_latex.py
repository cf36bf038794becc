"""Statements -> LaTeX, in an author's macros; called by latex.py for what no expression is read into."""

from __future__ import annotations

from collections.abc import Callable

from symmem.notation.formula import Formula
from symmem.notation.layout import Cat, Doc, flat
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
from symmem.notation.symbols import Macros

Spell = Callable[[Formula], Doc]
Enclose = Callable[[Doc, str, str], Doc]
_SIGNS = {Assignment: r"\leftarrow", Equality: "=", Less: "<"}


def statement_latex(formula: Formula, spell: Spell, enclose: Enclose, macros: Macros) -> Doc:
    """The statement; `spell` is the printer that called, `enclose` its brackets around a body."""
    match formula:
        case Letter(name):
            return macros.letters.get(name, name)
        case Word(words):
            return rf"\text{{{words}}}"
        case Indexed(base, index):
            return Cat((spell(base), f"_{{{flat(spell(index))}}}"))
        case Iterate(step):
            left, right = macros.iterate
            return macros.theta + left + flat(spell(step)) + right
        case AtStep(base, step):
            return Cat((spell(base), f"^{{({flat(spell(step))})}}"))
        case Bracketed(body):
            return enclose(spell(body), "[", "]")
        case Applied(function, arguments):
            return Cat((spell(function), "(", _listed(arguments, spell), ")"))
        case Along(derivative, direction):
            return Cat((spell(derivative), enclose(spell(direction), "[", "]")))
        case Velocity():
            return rf"\dot{{{macros.theta}}}"
        case BigO(size):
            return Cat(("O", enclose(spell(size), "(", ")")))
        case Interval(lower, upper, lower_open, upper_open):
            left, right = "(" if lower_open else "[", ")" if upper_open else "]"
            return left + _listed((lower, upper), spell) + right
        case Listed(parts):
            return _listed(parts, spell)
        case Grouped(parts):
            return f"({_listed(parts, spell)})"
        case Tends(left, place):
            return Cat((_listed(left, spell), r" \to ", spell(place)))
        case Assignment(left, right) | Equality(left, right) | Less(left, right):
            return Cat((spell(left), f" {_SIGNS[type(formula)]} ", spell(right)))
    raise TypeError(f"no LaTeX for {type(formula).__name__}")


def _listed(formulas: tuple[Formula, ...], spell: Spell) -> str:
    return ", ".join(flat(spell(formula)) for formula in formulas)
