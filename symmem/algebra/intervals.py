"""Intervals with exact ends and their arithmetic; :mod:`symmem.algebra.ranges` bounds expressions by them.

Every operation encloses: ``x in a, y in b`` give ``x + y in a + b``, and so on; an end is open where the value there
is not taken.  ``(0, 1] * [0, inf) = [0, inf)``, ``1 - [0, 1)**2 = (0, 1]``.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Expr, Rational, S, oo

from symmem.records import record

End = tuple[Expr, bool]
"""A rational or infinite number, and whether it is open: not taken itself."""


@record(frozen=True)
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

    def least(self, other: Interval) -> Interval:
        """``min(x, y)``."""
        return -(-self).most(-other)

    def most(self, other: Interval) -> Interval:
        """``max(x, y)``; of two ends at one number the closed one counts above, the open one below."""
        lower, lower_open = max(self.ends[0], other.ends[0])
        upper = max(self.upper, other.upper)
        return Interval(lower, upper, lower_open, hull([self.ends[1], other.ends[1]]).upper_open)

    @property
    def ends(self) -> tuple[End, End]:
        """``(number, is_open)`` of both ends, the lower one first."""
        return (self.lower, self.lower_open), (self.upper, self.upper_open)

    @property
    def is_positive(self) -> bool:
        """Whether every number inside is above 0."""
        return bool(self.lower > 0) or bool(self.lower == 0 and self.lower_open)

    @property
    def is_nonnegative(self) -> bool:
        """Whether no number inside is below 0."""
        return bool(self.lower >= 0)

    @property
    def excludes_zero(self) -> bool:
        """Whether 0 does not lie inside."""
        return self.is_positive or (-self).is_positive

    @property
    def is_within_unit(self) -> bool:
        """Whether the powers of every number in it vanish: |x| < 1."""
        below, above = -self.lower, self.upper
        return bool(below < 1 or (below == 1 and self.lower_open)) and bool(
            above < 1 or (above == 1 and self.upper_open)
        )

    def within(self, other: Interval) -> bool:
        """Is every number of this interval in the other?"""
        low = self.lower > other.lower or (self.lower == other.lower and other.lower_open <= self.lower_open)
        high = self.upper < other.upper or (self.upper == other.upper and other.upper_open <= self.upper_open)
        return bool(low and high)

    def __str__(self) -> str:
        opening, closing = "([)]"[not self.lower_open], "([)]"[2 + (not self.upper_open)]
        return f"{opening}{_text(self.lower)}, {_text(self.upper)}{closing}"


def _text(end: Expr) -> str:
    return {oo: "inf", -oo: "-inf"}.get(end, str(end))


def point(value: Expr) -> Interval:
    """The interval that holds one number alone."""
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
DECAYS = Interval(S.NegativeOne, S.One, True, True)
"""The values that a decay may have where a declaration says nothing: the sums over the past converge."""
BETWEEN_POLES = Interval(Rational(-3, 2), Rational(3, 2))
"""An interval in which the cosine has no zero."""


def _product(a: End, b: End) -> End:
    """One corner; a zero that is taken makes the product zero whatever the other factor is, infinity included."""
    zeros = [is_open for value, is_open in (a, b) if value == 0]
    if zeros:
        return S.Zero, all(zeros)
    return a[0] * b[0], a[1] or b[1]
