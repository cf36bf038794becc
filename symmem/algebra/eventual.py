"""A scalar at all late steps: which branch of ``where``, ``min`` and ``max`` it takes once n is large.

Proved from signs, never guessed.  With ``warmup`` and ``total`` in (0, inf):

    min(1, (n + 1)/warmup)             1: the difference (n + 1)/warmup - 1 grows
    where(n < total, 1 - n/total, 0)   0: the condition fails from n = total on
    max(x, cos(n))                     as it is: nothing decides
"""

from __future__ import annotations

from collections.abc import Callable

from sympy import And, Expr, Max, Min, Or, Poly, Product, Symbol, fraction, oo, together
from sympy.core.relational import GreaterThan, Relational, StrictGreaterThan
from sympy.logic.boolalg import Boolean, BooleanFalse, BooleanTrue

from symmem.algebra.ranges import Ranges
from symmem.algebra.signs import is_positive
from symmem.algebra.where import where

Limit = Callable[[Expr], Expr | None]
"""The limit of a scalar for n -> infinity, oo and -oo included; None where it is not known."""


def eventually(scalar: Expr, index: Symbol, ranges: Ranges, limit: Limit) -> Expr:
    """An expression that equals the scalar at every large enough value of the index, with fewer branches."""
    if not scalar.has(Min, Max, where) or index not in scalar.free_symbols:
        return scalar
    if isinstance(scalar, Product):
        return scalar
    if isinstance(scalar, where):
        return _branch(scalar, index, ranges, limit)
    parts = [eventually(part, index, ranges, limit) for part in scalar.args]
    if not isinstance(scalar, (Min, Max)):
        return scalar.func(*parts)
    kept: list[Expr] = []
    for part in parts:
        against = [_sign(part - other, index, ranges, limit) for other in kept]
        worse = 1 if isinstance(scalar, Min) else -1
        if worse in against:
            continue
        kept = [other for other, sign in zip(kept, against, strict=True) if sign != -worse] + [part]
    return kept[0] if len(kept) == 1 else scalar.func(*kept)


def _branch(scalar: where, index: Symbol, ranges: Ranges, limit: Limit) -> Expr:
    condition, *values = scalar.args
    truth = _truth(condition, index, ranges, limit)
    return scalar if truth is None else eventually(values[0 if truth else 1], index, ranges, limit)


def _truth(condition: Boolean, index: Symbol, ranges: Ranges, limit: Limit) -> bool | None:
    """Whether the condition holds at all late steps, or fails at all of them."""
    if isinstance(condition, (BooleanTrue, BooleanFalse)):
        return bool(condition)
    if isinstance(condition, (And, Or)):
        parts = [_truth(part, index, ranges, limit) for part in condition.args]
        decisive = isinstance(condition, Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if not isinstance(condition, Relational):
        return None
    difference = eventually(condition.lhs - condition.rhs, index, ranges, limit)
    sign = _sign(difference, index, ranges, limit)
    if sign is None:
        return None
    above = isinstance(condition, (StrictGreaterThan, GreaterThan))
    return (sign > 0) == above


def _sign(difference: Expr, index: Symbol, ranges: Ranges, limit: Limit) -> int | None:
    """1 or -1 where the difference keeps this sign at all late steps; None where that is not known."""
    if index in difference.free_symbols and difference.is_rational_function(index):
        above, below = (Poly(part, index).LC() for part in fraction(together(difference)))
        settled: Expr | None = above / below
    else:
        settled = limit(difference)
    if settled is None:
        return None
    if settled in (oo, -oo):
        return 1 if settled is oo else -1
    if is_positive(settled, ranges):
        return 1
    return -1 if is_positive(-settled, ranges) else None
