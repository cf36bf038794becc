"""Bounds: an interval in which an expression stays while its symbols stay in theirs.  The one place of its kind.

Interval arithmetic over the tree: sound, never sharp beyond it.  With ``beta`` in [0, 1) and ``eps`` in (0, inf)

    1 - beta**(n + 1)   in (0, 1],       grad**2 + eps   in (0, inf),       beta1 - beta2   in (-1, 1): no sign.

Bounds hold wherever the expression is defined; a symbol without a range may be any real number.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from sympy import Add, Expr, Mul, Pow, Rational, S, Symbol, oo

from symmem.algebra.head import Head
from symmem.algebra.heads import HEADS
from symmem.algebra.interval_powers import enclosing, power, variable_power
from symmem.algebra.intervals import NONNEGATIVE, POSITIVE, REALS, Interval, hull, point
from symmem.algebra.symbols import AGO, INDEX_NAME, LR, PAST, STEP

Ranges = Mapping[Expr, Interval]
"""Of symbols; a composite expression that is known to lie in an interval may stand there too."""

COUNTERS = (STEP, PAST, AGO)
"""The symbols that count steps: whole numbers from 0 on."""
LANGUAGE: Ranges = {**dict.fromkeys(COUNTERS, NONNEGATIVE), LR: POSITIVE}
"""The ranges of the symbols that no declaration declares."""


def bounds(expression: Expr, ranges: Ranges) -> Interval:
    """An interval that holds every value of a scalar, or every entry of a vector."""
    if isinstance(expression, Rational):
        return point(expression)
    if expression in ranges:
        return ranges[expression]
    if isinstance(expression, Symbol):
        unknown = NONNEGATIVE if INDEX_NAME.fullmatch(expression.name) else REALS
        return LANGUAGE.get(expression, unknown)
    if isinstance(expression, Add):
        return reduce(lambda a, b: a + b, (bounds(term, ranges) for term in expression.args))
    if isinstance(expression, Mul):
        return reduce(lambda a, b: a * b, (bounds(factor, ranges) for factor in expression.args))
    if isinstance(expression, Pow):
        return _power(expression.base, expression.exp, ranges)
    if expression.is_number and expression.is_real:
        return Interval(enclosing(expression, -1), enclosing(expression, 1))
    head = HEADS.of(expression)
    return REALS if head is None else _function(expression, head, ranges)


def _power(base: Expr, exponent: Expr, ranges: Ranges) -> Interval:
    inner = bounds(base, ranges)
    if isinstance(exponent, Rational):
        return power(inner, exponent)
    return variable_power(inner, bounds(exponent, ranges))


def _function(expression: Expr, head: Head, ranges: Ranges) -> Interval:
    """The image of a function; a sum of things with one sign, be it finite or over entries, keeps that sign."""
    if head.name == "abs":
        return abs(bounds(expression.args[0], ranges))
    if head.name in ("min", "max"):
        parts = [bounds(part, ranges) for part in expression.args]
        return reduce(Interval.least if head.name == "min" else Interval.most, parts)
    if head.name == "where":
        return hull(end for value in expression.args[1:] for end in bounds(value, ranges).ends)
    if head.name == "prod":
        return _multiplied(expression, ranges)
    if head.name == "dot" or head.is_additive or head.binds:
        summand = Mul(*expression.args) if head.name == "dot" else expression.args[0]
        inner = bounds(summand, ranges)
        if inner.is_nonnegative:
            return _summed(inner, head)
        return -_summed(-inner, head) if (-inner).is_nonnegative else REALS
    return head.image


def _multiplied(product: Expr, ranges: Ranges) -> Interval:
    """A product over steps of what lies in [0, 1] stays there; below 1 with its factors, where it has one at least.

    ``prod(beta, i, 1, n + 1)`` lies in [0, 1) with beta, and ``prod(beta, i, 1, n)`` is 1 at n = 0.
    """
    index, first, last = product.limits[0]
    steps = Interval(bounds(first, ranges).lower, oo, False, True)
    factor = bounds(product.function, {**ranges, index: steps} if steps.is_nonnegative else ranges)
    if not factor.is_nonnegative or factor.upper > 1:
        return NONNEGATIVE if factor.is_nonnegative else REALS
    has_one = bounds(last - first, ranges).is_nonnegative
    below = bool(factor.upper < 1) or factor.upper_open
    return Interval(S.Zero, S.One, upper_open=has_one and below)


def _summed(summand: Interval, head: Head) -> Interval:
    """Sums, means and entries of what is not negative: at least one summand, where they go over entries or tensors.

    ``dot(1, 1) >= 1``: a tensor has an entry; the sum over past steps may be empty.
    """
    return NONNEGATIVE if head.binds else Interval(summand.lower, oo, summand.lower_open, True)
