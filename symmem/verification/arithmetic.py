"""Arithmetic on scalars and vectors alike: what the evaluation does at each node of a formula."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

import mpmath
from mpmath import mpf

from symmem.verification.vectors import Vector, VerificationError

Value: TypeAlias = Any
"""An mpf, or a tuple of them."""

USUAL_FUNCTIONS = re.compile("exp|log|sign|a?(sin|cos|tan)h?|erf|floor|ceiling")


def spread(value: Value, dimension: int) -> Vector:
    """The value as a vector: a scalar stands for the vector with this entry everywhere."""
    return value if isinstance(value, tuple) else (value,) * dimension


def entrywise(function: Callable[..., mpf], *parts: Value) -> Value:
    """The function entry by entry; scalars go with every entry.  What leaves the reals is an error."""
    lengths = {len(part) for part in parts if isinstance(part, tuple)}
    if not lengths:
        return _real(function(*parts))
    if len(lengths) > 1:
        raise VerificationError(f"vectors of different lengths meet: {sorted(lengths)}")
    columns = zip(*(spread(part, min(lengths)) for part in parts), strict=True)
    return tuple(_real(function(*column)) for column in columns)


def _real(number: Any) -> mpf:
    if isinstance(number, mpf) and mpmath.isfinite(number):
        return number
    raise VerificationError(
        "a formula leaves the real numbers: a root or a logarithm of a negative number, or a pole"
    )


def power(base: mpf, exponent: mpf) -> mpf:
    """``base^exponent`` with ``0^0 = 1``; whole exponents are exact repeated products."""
    if mpmath.isint(exponent):
        return base ** int(exponent) if exponent else mpf(1)
    return base**exponent


def usual_function(name: str) -> Callable[..., mpf]:
    """mpmath's function with SymPy's name."""
    if not USUAL_FUNCTIONS.fullmatch(name):
        raise VerificationError(f"the function {name} is not known to the verification room")
    found: Callable[..., mpf] = getattr(
        mpmath, "ceil" if name == "ceiling" else "ln" if name == "log" else name
    )
    return found
