"""Powers of intervals, as enclosures: reciprocals, rational powers, and powers with an exponent that varies.

The second part of :mod:`symmem.algebra.intervals`.  Roots of rational ends are enclosed by rationals.
"""

from __future__ import annotations

from sympy import Expr, Pow, Rational, S, oo

from symmem.algebra.intervals import NONNEGATIVE, REALS, End, Interval, hull, point


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
    """``x**y`` wherever it is real, with ``0**0 = 1``; example: ``[0, 1)**[1, inf) = [0, 1)``.

    Of a negative x the size is known, ``|x**y| = |x|**y``, and the sign is not.
    """
    if base.lower < 0:
        size = variable_power(abs(base), exponent)
        return hull([*size.ends, *(-size).ends])
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
