"""The limit n -> infinity of a scalar: by the exact field, or by the continuity of its parts."""

from __future__ import annotations

from sympy import AccumBounds, Expr, Max, Min, Pow, S, exp, nan, oo, zoo

from symmem.algebra.atoms import STEP
from symmem.algebra.eventually import late_form
from symmem.algebra.results import Missing, Sentence
from symmem.algebra.scalars import Scalars


def scalar_limit(scalar: Expr, scalars: Scalars) -> Expr | Missing:
    """The limit n -> infinity of a scalar, by the field or by the continuity of its parts."""
    late = late_form(scalar, STEP) if scalar.has(Min, Max) else None
    scalar = scalar if late is None else late[0]
    found = _limit_in_field(scalar, scalars)
    if found is not None and not isinstance(found, Missing):
        return found
    # (sqrt(2)/2)**n is no power of one generator of the field; its parts may be known all the same.
    value = _limit_by_parts(scalar, scalars)
    if value.has(nan, zoo, oo, -oo, AccumBounds):
        return Missing(Sentence.of(_why(value))) if found is None else found
    return scalars.tidy(value)


def _limit_in_field(scalar: Expr, scalars: Scalars) -> Expr | Missing | None:
    """None where the scalar is not in the field."""
    element = scalars.field.read(scalar)
    if element is None:
        return None
    limit = scalars.limit(element)
    return limit if isinstance(limit, Missing) else scalars.write(limit)


def _why(value: Expr) -> str:
    """What is wrong with the value at the limits of the parts; oo*0 may be anything, also 0."""
    if value.has(AccumBounds):
        return "it does not settle"
    return "the limits of its parts do not tell it" if value.has(nan) else "it grows without bound"


def exponential_slope(scalar: Expr) -> Expr | None:
    """The c of ``exp(c n + d)``; None where the exponent is not linear in n."""
    exponent = scalar.args[0].expand()
    slope = exponent.coeff(STEP, 1)
    is_linear = STEP not in slope.free_symbols and STEP not in (exponent - slope * STEP).free_symbols
    return slope if is_linear else None


def _limit_by_parts(scalar: Expr, scalars: Scalars) -> Expr:
    """The value at the limits of the parts; infinities are kept for the caller to judge."""
    if scalar == STEP:
        return oo
    if STEP not in scalar.free_symbols:
        return scalar
    found = _limit_in_field(scalar, scalars)
    if found is not None and not isinstance(found, Missing):
        return found
    slope = exponential_slope(scalar) if isinstance(scalar, exp) else None
    if slope is not None and exp(slope) in scalars.vanishing:
        return S.Zero
    parts = [_limit_by_parts(part, scalars) for part in scalar.args]
    if isinstance(scalar, Pow) and parts[1] == oo and parts[0] in scalars.vanishing:
        return S.Zero
    if isinstance(scalar, Pow) and parts[1] == -oo and 1 / parts[0] in scalars.vanishing:
        return S.Zero
    value: Expr = scalar.func(*parts)
    return value
