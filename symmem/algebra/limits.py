"""The limit n -> infinity of a scalar: by the exact field, or by the continuity of its parts."""

from __future__ import annotations

from functools import partial

from sympy import AccumBounds, Add, Expr, Max, Min, Mul, Pow, Product, S, exp, nan, oo, zoo

from symmem.algebra.atoms import STEP
from symmem.algebra.eventual import eventually
from symmem.algebra.ranges import bounds
from symmem.algebra.results import Missing, Sentence
from symmem.algebra.scalars import Scalars
from symmem.algebra.signs import is_positive
from symmem.algebra.where import where

_UNTOLD = (nan, zoo, oo, -oo, AccumBounds)
"""What no finite limit has in it."""


def scalar_limit(scalar: Expr, scalars: Scalars) -> Expr | Missing:
    """The limit n -> infinity of a scalar, by the field or by the continuity of its parts."""
    scalar = eventually(scalar, STEP, scalars.ranges, partial(known_limit, scalars=scalars))
    found = _limit_in_field(scalar, scalars)
    if found is not None and not isinstance(found, Missing):
        return found
    # (sqrt(2)/2)**n is no power of one generator of the field; its parts may be known all the same.
    value = _limit_by_parts(scalar, scalars)
    if value.has(*_UNTOLD):
        return Missing(Sentence.of(_why(value))) if found is None else found
    return scalars.tidy(value)


def known_limit(scalar: Expr, scalars: Scalars) -> Expr | None:
    """The same, with oo and -oo among the limits; None where it is not known."""
    limit = scalar_limit(scalar, scalars)
    if not isinstance(limit, Missing):
        return limit
    terms = [_limit_by_parts(term, scalars) for term in Add.make_args(scalar)]
    infinite = [slope for slope in (_infinite_factor(term) for term in terms) if slope is not None]
    finite = [term for term in terms if not term.has(*_UNTOLD)]
    if len(infinite) != 1 or len(infinite) + len(finite) < len(terms):
        return None
    if is_positive(infinite[0], scalars.ranges):
        return oo
    return -oo if is_positive(-infinite[0], scalars.ranges) else None


def _infinite_factor(value: Expr) -> Expr | None:
    """The x of ``oo x``; None where the value is of another form."""
    factors = Mul.make_args(value)
    signs = [S.One if factor is oo else S.NegativeOne for factor in factors if factor in (oo, -oo)]
    rest = Mul(*(factor for factor in factors if factor not in (oo, -oo)))
    return Mul(*signs, rest) if len(signs) == 1 and not rest.has(*_UNTOLD) else None


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
    grows = not value.has(nan) and _infinite_factor(value) is not None
    return "it grows without bound" if grows else "the limits of its parts do not tell it"


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
    if isinstance(scalar, Product):
        return _limit_of_product(scalar, scalars)
    if isinstance(scalar, where):
        return nan
    parts = [_limit_by_parts(part, scalars) for part in scalar.args]
    if isinstance(scalar, (Max, Min)) and any(part.has(nan, zoo, AccumBounds) for part in parts):
        return nan  # SymPy compares numbers alone
    if isinstance(scalar, Pow):
        return _limit_of_power(parts[0], parts[1], scalars)
    if not isinstance(scalar, (Add, Mul)) and any(
        isinstance(part, Expr) and part.has(oo, -oo) and abs(part) != oo for part in parts
    ):
        return nan  # exp(oo*a) would be a number to SymPy, which it may cancel
    value: Expr = scalar.func(*parts)
    return value


def _limit_of_power(base: Expr, exponent: Expr, scalars: Scalars) -> Expr:
    """``base**exponent`` of two limits: SymPy would leave x**oo, and cancel it, and take oo**0 and 1**(oo a) for 1."""
    if _fades(base, exponent, scalars):
        return S.Zero
    if exponent.has(*_UNTOLD) and base != oo:
        grows = is_positive(base, scalars.ranges) and _fades(1 / base, exponent, scalars)
        return oo if grows else nan
    if exponent == 0 and (base == 0 or base.has(*_UNTOLD)):
        return nan
    value: Expr = Pow(base, exponent)
    return value


def _fades(base: Expr, exponent: Expr, scalars: Scalars) -> bool:
    """Whether ``base**exponent`` vanishes for an exponent that goes to infinity: oo times what has a known sign."""
    slope = _infinite_factor(exponent)
    if slope is None:
        return False
    if is_positive(slope, scalars.ranges):
        return base in scalars.vanishing or bounds(base, scalars.ranges).is_within_unit
    if is_positive(-slope, scalars.ranges):
        return 1 / base in scalars.vanishing or bounds(1 / base, scalars.ranges).is_within_unit
    return False


def _limit_of_product(product: Product, scalars: Scalars) -> Expr:
    """0 where the factors tend to a number inside the unit circle: they fall below one that is."""
    (index, _, last), *others = product.limits
    tends = known_limit(product.function.xreplace({index: STEP}), scalars)
    if others or tends is None or not is_positive(last.coeff(STEP, 1), {}):
        return nan
    return S.Zero if bounds(tends, scalars.ranges).is_within_unit else nan
