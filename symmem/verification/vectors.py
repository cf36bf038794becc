"""Numbers and vectors of the verification room: the floor under its other modules.

A number is an mpmath ``mpf``, a vector a tuple of them.  Exact input (int, Fraction, SymPy Rational, or a
text such as "0.9" or "9/10") is rounded at the working precision in force when it is *used*, so that one
declaration serves every precision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeAlias

import mpmath
from mpmath import mpf

from symmem.errors import SymmemError

Vector: TypeAlias = tuple[mpf, ...]
Number: TypeAlias = Any
"""int, Fraction, SymPy Rational, text, mpf, or float (which means its exact binary value)."""


class VerificationError(SymmemError):
    """A formula or an input that the verification room cannot put numbers into."""


def real(number: Number) -> mpf:
    """The number as an mpf at the working precision."""
    if isinstance(number, mpf):
        return number
    if isinstance(number, str):
        number = Fraction(number)
    if isinstance(number, Rational):
        return mpf(int(number.numerator)) / int(number.denominator)
    return mpmath.mp.convert(number)


def vector(numbers: Iterable[Number]) -> Vector:
    """The numbers as a vector at the working precision."""
    return tuple(real(number) for number in numbers)


def dot(left: Sequence[mpf], right: Sequence[mpf]) -> mpf:
    """``sum_i left_i right_i``."""
    return sum((x * y for x, y in zip(left, right, strict=True)), mpf(0))


def distance(left: Sequence[Number], right: Sequence[Number]) -> mpf:
    """``max_i |left_i - right_i|``; a number that is not finite is an error, since max would pass over it."""
    gaps = [abs(real(x) - real(y)) for x, y in zip(left, right, strict=True)]
    if not all(mpmath.isfinite(gap) for gap in gaps):
        raise VerificationError("an entry is infinite or not a number")
    return max(gaps)


def relative_error(value: Sequence[Number], truth: Sequence[Number]) -> mpf:
    """``max_i |value_i - truth_i| / max_i |truth_i|``; the absolute error where the truth is zero."""
    scale = max(abs(real(x)) for x in truth)
    return distance(value, truth) / (scale or mpf(1))
