"""Statements -> Unicode or ASCII text; called by text.py for what no expression is read into."""

from __future__ import annotations

from collections.abc import Callable

from symmem.notation.formula import Atom, Formula
from symmem.notation.glyphs import Glyphs, subscript, superscript
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

Spell = Callable[[Formula], Doc]


def statement_text(formula: Formula, spell: Spell, glyphs: Glyphs) -> Doc:
    """The statement, on one line; `spell` is the printer that called."""
    match formula:
        case Letter(name):
            return glyphs.letters.get(name, name)
        case Word(words):
            return words
        case Indexed(base, index):
            return Cat((spell(base), _below(flat(spell(index)), glyphs)))
        case Iterate(step):
            return glyphs.atoms["theta"] + _below(flat(spell(step)), glyphs)
        case AtStep(base, step):
            return Cat((spell(base), "" if step == Atom("oo") else _above(flat(spell(step)), glyphs)))
        case Bracketed(body):
            return Cat(("[", spell(body), "]"))
        case Applied(function, arguments):
            return Cat((spell(function), "(", _listed(arguments, spell), ")"))
        case Along(derivative, direction):
            return Cat((spell(derivative), "[", spell(direction), "]"))
        case Velocity():
            return glyphs.velocity
        case BigO(size):
            return Cat(("O(", spell(size), ")"))
        case Interval(lower, upper, lower_open, upper_open):
            left, right = "(" if lower_open else "[", ")" if upper_open else "]"
            return Cat((left, _listed((lower, upper), spell), right))
        case Listed(parts):
            return _listed(parts, spell)
        case Grouped(parts):
            return f"({_listed(parts, spell)})"
        case Tends(left, place):
            return Cat((_listed(left, spell), f" {glyphs.arrow_right} ", spell(place)))
        case Assignment(left, right) | Equality(left, right) | Less(left, right):
            signs = {Assignment: glyphs.arrow_left, Equality: "=", Less: "<"}
            return Cat((spell(left), f" {signs[type(formula)]} ", spell(right)))
    raise TypeError(f"no text for {type(formula).__name__}")


def _listed(formulas: tuple[Formula, ...], spell: Spell) -> str:
    return ", ".join(flat(spell(formula)) for formula in formulas)


def _below(index: str, glyphs: Glyphs) -> str:
    """An index: small characters where there are some, else behind an underscore, n+1 in braces."""
    compact = index.replace(" ", "")
    if glyphs.unicode and (small := subscript(compact)):
        return small
    return f"_{compact}" if compact.isalnum() else f"_{{{compact}}}"


def _above(step: str, glyphs: Glyphs) -> str:
    if glyphs.unicode and (small := superscript(f"({step})")):
        return small
    return f"^({step})"
