"""The sign of an expression for all values of its symbols in their ranges: proved, or not known.  The one place.

A sign is proved by an enclosure (:mod:`symmem.algebra.ranges`).  What holds at given values alone is asked with the
ranges of these values, :func:`at_values`, and whoever says it says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from sympy import Expr, Symbol

from symmem.algebra.intervals import point
from symmem.algebra.ranges import Ranges, bounds


class Sign(Enum):
    """The value is the sign of what is not zero: a NONNEGATIVE expression is positive wherever it is not 0."""

    NEGATIVE = "-"
    NONPOSITIVE = "- or 0"
    ZERO = "0"
    NONNEGATIVE = "+ or 0"
    POSITIVE = "+"

    @property
    def direction(self) -> int:
        """1, -1, or 0."""
        if self is Sign.ZERO:
            return 0
        return 1 if self in (Sign.POSITIVE, Sign.NONNEGATIVE) else -1


def sign_of(expression: Expr, ranges: Ranges) -> Sign | None:
    """The sign for every value of the symbols in their ranges; None where it changes or is not known."""
    interval = bounds(expression, ranges)
    if interval.lower == interval.upper == 0:
        return Sign.ZERO
    if interval.is_nonnegative:
        return Sign.POSITIVE if interval.is_positive else Sign.NONNEGATIVE
    mirrored = -interval
    if mirrored.is_nonnegative:
        return Sign.NEGATIVE if mirrored.is_positive else Sign.NONPOSITIVE
    return None


def is_positive(expression: Expr, ranges: Ranges) -> bool:
    """Whether the expression is known to be above zero, for all values in the ranges."""
    return bounds(expression, ranges).is_positive


def is_nonzero(expression: Expr, ranges: Ranges) -> bool:
    """Whether the expression is known to keep away from zero."""
    return bounds(expression, ranges).excludes_zero


def at_values(values: Mapping[Symbol, Expr]) -> Ranges:
    """The ranges of symbols that have one rational value each."""
    return {symbol: point(value) for symbol, value in values.items()}
