"""Whatever can be written -> formula tree: expressions by structure.py, and results that are no expressions."""

from __future__ import annotations

from typing import TypeAlias

from sympy import Expr, Symbol, log, oo

from symmem.algebra.atoms import LR
from symmem.algebra.intervals import Interval as Range
from symmem.algebra.results import Bound, Named, Regime, Start, Steps
from symmem.notation.decimals import number_formula
from symmem.notation.formula import Atom, Comparison, Formula, Number, negated
from symmem.notation.statement import (
    ZERO,
    BigO,
    Indexed,
    Interval,
    Iterate,
    Letter,
    N,
    Tends,
    added,
    series,
)
from symmem.notation.structure import read
from symmem.notation.symbols import Functions, Names

Writable: TypeAlias = Expr | Bound | Regime | Range | Named | Start | Steps | Formula
"""What the notation room spells: an expression, what stands in a sentence, or a formula as it is."""


def formula_of(written: Writable, names: Names, functions: Functions) -> Formula:
    """Whatever can be written, as a formula."""
    if isinstance(written, Formula):
        return written
    match written:
        case Bound(size):
            return BigO(read(size, names, functions))
        case Regime(small):
            return Tends(tuple(Atom(symbol.name) for symbol in small), Number(0))
        case Range():
            return interval_formula(written)
        case Named(letter, index):
            return _named(letter, index)
        case Start(shifts):
            origin = Iterate(ZERO)
            return added(origin, series("d", range(1, shifts + 1))) if shifts else origin
        case Steps(letter, late):
            constant = Symbol(letter)
            bound = read(constant * log(1 / LR) if late else constant / LR, names, functions)
            return Comparison(N, ">=" if late else "<=", bound)
    return read(written, names, functions)


def interval_formula(interval: Range) -> Formula:
    """``[0, 1)`` as a Formula."""
    lower, upper = _end(interval.lower), _end(interval.upper)
    return Interval(lower, upper, interval.lower_open, interval.upper_open)


def _end(end: Expr) -> Formula:
    if end in (oo, -oo):
        return Atom("oo") if end > 0 else negated(Atom("oo"))
    return number_formula(end)


def _named(letter: str, index: str | int | None) -> Formula:
    """``Phi``, ``g_l``, ``d_1``; theta with an index is an iterate."""
    if index is None:
        return Letter(letter)
    below = Number(index) if isinstance(index, int) else Letter(index)
    return Iterate(below) if letter == "theta" else Indexed(Letter(letter), below)
