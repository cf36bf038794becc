"""Intervals with exact ends and their arithmetic; :mod:`symmem.algebra.ranges` bounds expressions by them.

Every operation encloses: ``x in a, y in b`` give ``x + y in a + b``, and so on; an end is open where the value there
is not taken.  ``(0, 1] * [0, inf) = [0, inf)``, ``1 - [0, 1)**2 = (0, 1]``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sympy import Expr, Pow, Rational, S, oo

End = tuple[Expr, bool]
"""A rational or infinite number, and whether it is open: not taken itself."""


@dataclass(frozen=True)
class Interval:
    """``lower <= x <= upper``, strictly at an open end; an end is rational, or infinite and open."""

    lower: Expr
    upper: Expr
    lower_open: bool = False
    upper_open: bool = False

    def __add__(self, other: Interval) -> Interval:
        lower_open, upper_open = self.lower_open or other.lower_open, self.upper_open or other.upper_open
        return Interval(self.lower + other.lower, self.upper + other.upper, lower_open, upper_open)

    def __neg__(self) -> Interval:
        return Interval(-self.upper, -self.lower, self.upper_open, self.lower_open)

    def __mul__(self, other: Interval) -> Interval:
        return hull(_product(a, b) for a in self.ends for b in other.ends)

    def __abs__(self) -> Interval:
        if self.lower >= 0:
            return self
        if self.upper <= 0:
            return -self
        largest = hull([(-self.lower, self.lower_open), (self.upper, self.upper_open)])
        return Interval(S.Zero, largest.upper, False, largest.upper_open)

    @property
    def ends(self) -> tuple[End, End]:
        return (self.lower, self.lower_open), (self.upper, self.upper_open)

    @property
    def is_positive(self) -> bool:
        return bool(self.lower > 0) or bool(self.lower == 0 and self.lower_open)

    @property
    def is_nonnegative(self) -> bool:
        return bool(self.lower >= 0)

    @property
    def is_within_unit(self) -> bool:
        """Whether the powers of every number in it vanish: |x| < 1."""
        below, above = -self.lower, self.upper
        return bool(below < 1 or (below == 1 and self.lower_open)) and bool(
            above < 1 or (above == 1 and self.upper_open)
        )


def point(value: Expr) -> Interval:
    return Interval(value, value)


def hull(ends: Iterable[End]) -> Interval:
    """The smallest interval that has these ends in it; of two ends at one number the closed one counts."""
    known = list(ends)
    lower, upper = min(value for value, _ in known), max(value for value, _ in known)
    return Interval(
        lower,
        upper,
        all(is_open for value, is_open in known if value == lower),
        all(is_open for value, is_open in known if value == upper),
    )


REALS = Interval(-oo, oo, True, True)
NONNEGATIVE = Interval(S.Zero, oo, False, True)
POSITIVE = Interval(S.Zero, oo, True, True)
UNIT = Interval(S.NegativeOne, S.One)


def _product(a: End, b: End) -> End:
    """One corner; a zero that is taken makes the product zero whatever the other factor is, infinity included."""
    zeros = [is_open for value, is_open in (a, b) if value == 0]
    if zeros:
        return S.Zero, all(zeros)
    return a[0] * b[0], a[1] or b[1]


def reciprocal(interval: Interval) -> Interval:
    """``1/x`` wherever it is defined."""
    if interval.lower < 0 < interval.upper or interval.lower == interval.upper == 0:
        return REALS
    if interval.upper <= 0:
        return -reciprocal(-interval)
    if interval.lower == 0:
        return Interval(1 / interval.upper, oo, interval.upper_open, True)
    return Interval(1 / interval.upper, 1 / interval.lower, interval.upper_open, interval.lower_open)


def power(base: Interval, exponent: Rational) -> Interval:
    """``x**exponent`` wherever it is real."""
    if exponent < 0:
        return reciprocal(power(base, -exponent))
    if exponent == 0:
        return point(S.One)
    if exponent.q % 2 == 0 and base.lower < 0:
        base = Interval(S.Zero, base.upper if base.upper > 0 else S.Zero, False, base.upper_open)
    if exponent.p % 2 == 0:
        base = abs(base)
    elif base.lower < 0 and exponent.q > 1:
        return REALS  # an odd root of a negative number: SymPy's is not the real one
    return Interval(
        _end_power(base.lower, exponent, -1),
        _end_power(base.upper, exponent, 1),
        base.lower_open,
        base.upper_open,
    )


def _end_power(end: Expr, exponent: Rational, outward: int) -> Expr:
    return enclosing(Pow(end, exponent), outward)


def enclosing(number: Expr, outward: int) -> Expr:
    """A rational at most 10^-20 of its size below (``outward`` -1) or above (1) an irrational number."""
    if isinstance(number, Rational) or number in (oo, -oo):
        return number
    digits = number.evalf(30)
    width = Rational(1, 10**20) * (abs(Rational(digits)) + Rational(1, 10**20))
    return Rational(digits) + outward * width


def variable_power(base: Interval, exponent: Interval) -> Interval:
    """``x**y`` for x >= 0 wherever it is defined, with ``0**0 = 1``; example: ``[0, 1)**[1, inf) = [0, 1)``."""
    if base.lower < 0:
        return REALS
    if exponent.upper <= 0:
        return reciprocal(variable_power(base, -exponent))
    if exponent.lower < 0:
        return NONNEGATIVE
    return hull(end for x in base.ends for y in exponent.ends for end in _corner(x, y))


def _corner(base: End, exponent: End) -> list[End]:
    """``x**y`` at a corner with y >= 0 and x >= 0, infinity included; ``y log(x)`` is extreme at corners."""
    (x, x_open), (y, y_open) = base, exponent
    if y == 0:
        return [(S.One, y_open)]
    if x == 0:
        return [(S.Zero, x_open)]
    if x == 1:
        return [(S.One, x_open)]
    if oo in (x, y):
        return [(S.Zero if x < 1 else oo, True)]
    value = Pow(x, y)
    return [(enclosing(value, outward), x_open or y_open) for outward in (-1, 1)]


def signed_power(base: Interval, exponent: Interval) -> Interval:
    """``x**y`` for whole numbers y >= 0 and x of any sign."""
    size = variable_power(abs(base), exponent)
    return hull([*size.ends, *(-size).ends]) if base.lower < 0 else size
