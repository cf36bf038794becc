"""The limit n -> infinity of a scalar: by the exact field, or by the continuity of its parts."""

from __future__ import annotations

from sympy import AccumBounds, Add, Expr, Mul, Pow, S, Symbol, nan, oo, zoo

from symmem.algebra.atoms import STEP
from symmem.algebra.scalars import Scalars
from symmem.algebra.sums import NoLimitError


def scalar_limit(scalar: Expr, scalars: Scalars) -> Expr:
    """The limit n -> infinity of a scalar, by the field or by the continuity of its parts."""
    element = scalars.field.read(scalar)
    reason: NoLimitError | None
    try:
        if element is not None:
            return scalars.write(scalars.limit(element))
        reason = None
    except NoLimitError as found:
        # (sqrt(2)/2)**n is no power of one generator of the field; its parts may be known all the same.
        reason = found
    value = _limit_by_parts(scalar, scalars)
    if value.has(nan, zoo, oo, AccumBounds):
        raise reason or NoLimitError(_why(value))
    return scalars.tidy(value)


def _why(value: Expr) -> str:
    """What is wrong with the value at the limits of the parts; oo*0 may be anything, also 0."""
    if value.has(AccumBounds):
        return "it does not settle"
    return "the limits of its parts do not tell it" if value.has(nan) else "it grows without bound"


def _limit_by_parts(scalar: Expr, scalars: Scalars) -> Expr:
    """The value at the limits of the parts; infinities are kept for the caller to judge."""
    if scalar == STEP:
        return oo
    if STEP not in scalar.free_symbols:
        return scalar
    element = scalars.field.read(scalar)
    if element is not None:
        try:
            return scalars.write(scalars.limit(element))
        except NoLimitError:
            pass
    parts = [_limit_by_parts(part, scalars) for part in scalar.args]
    if isinstance(scalar, Pow) and parts[1] == oo and parts[0] in scalars.vanishing:
        return S.Zero
    if isinstance(scalar, (Add, Mul, Pow)) or not any(
        isinstance(part, Symbol) and part == STEP for part in parts
    ):
        value: Expr = scalar.func(*parts)
        return value
    raise NoLimitError(f"{scalar} has no known limit")
