"""How a scalar behaves for n -> infinity: whether it settles exponentially fast (mathematics.md section 6).

Proved from the parts, never guessed.  With beta in [0, 1):

    beta**(n + 1), exp(-2*n), 2**(-n/2), n*beta**n   FADING: at most C r^n with some r < 1
    sqrt(1 - beta**(n + 1))                          SETTLING: the root is analytic at the limit of its argument, 1
    n, 1/(n + 1)                                     TAME: at most a power of n
    n**n, 2**n, sin(n)                               None: nothing is known, or it is none of these
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from sympy import Add, Expr, Integer, Mul, Pow, Product, Rational, Symbol, exp

from symmem.algebra.eventual import Limit, eventually
from symmem.algebra.every import every
from symmem.algebra.head import Roughness
from symmem.algebra.heads import HEADS
from symmem.algebra.intervals import BETWEEN_POLES, UNIT
from symmem.algebra.ranges import Ranges, bounds
from symmem.algebra.signs import is_nonzero, is_positive
from symmem.algebra.where import where


class Behaviour(IntEnum):
    """From the best to the worst: a sum behaves as its worst term, with FIXED beside FADING giving SETTLING."""

    FADING = 0
    FIXED = 1
    SETTLING = 2
    TAME = 3


def settles(scalar: Expr, index: Symbol, ranges: Ranges, limit: Limit) -> bool:
    """Whether the scalar is proved to approach its limit exponentially fast as ``index`` grows."""
    found = behaviour(scalar, index, ranges, limit)
    return found is not None and found <= Behaviour.SETTLING


def behaviour(scalar: Expr, index: Symbol, ranges: Ranges, limit: Limit) -> Behaviour | None:
    """What the parts prove of the scalar; None where they prove nothing."""
    scalar = eventually(scalar, index, ranges, limit)
    if index not in scalar.free_symbols:
        return Behaviour.FIXED
    if isinstance(scalar, Product):
        # Its factors tend to a number inside the unit circle, and it vanishes as a power of one does.
        return Behaviour.FADING if limit(scalar) == 0 else None
    if isinstance(scalar, where):
        return None
    if scalar == index or scalar.is_rational_function(index):
        # Off finitely many steps a rational function of n is at most a power of n.
        return Behaviour.TAME
    if isinstance(scalar, exp) or (isinstance(scalar, Pow) and index not in scalar.base.free_symbols):
        return _exponential(scalar, index, ranges, limit)
    parts = every(behaviour(part, index, ranges, limit) for part in scalar.args)
    if parts is None:
        return None
    if isinstance(scalar, Add):
        fading = all(part is Behaviour.FADING for part in parts)
        return Behaviour.FADING if fading else max(*parts, Behaviour.SETTLING)
    if isinstance(scalar, Mul):
        return Behaviour.FADING if Behaviour.FADING in parts else max(*parts, Behaviour.SETTLING)
    if isinstance(scalar, Pow):
        return _power(scalar, parts, ranges, limit)
    return _function(scalar, parts, ranges, limit)


def _exponential(scalar: Expr, index: Symbol, ranges: Ranges, limit: Limit) -> Behaviour | None:
    """``base**(slope n + rest)``: fading where ``base**slope`` lies in (-1, 1), by the ranges."""
    base, exponent = scalar.as_base_exp()
    slope = exponent.expand().coeff(index, 1)
    if index in slope.free_symbols or index in (exponent - slope * index).expand().free_symbols:
        tame = behaviour(exponent, index, ranges, limit)
        settling = tame is not None and tame <= Behaviour.SETTLING and is_positive(base, ranges)
        return Behaviour.SETTLING if settling else None
    negative, positive = is_positive(-slope, ranges), is_positive(slope, ranges)
    if isinstance(scalar, exp):
        return Behaviour.FADING if negative else None
    if positive and bounds(base, ranges).is_within_unit:
        return Behaviour.FADING
    if negative and bounds(1 / base, ranges).is_within_unit:
        return Behaviour.FADING
    # (-1)**n stays bounded.
    return Behaviour.TAME if positive and bounds(base, ranges).within(UNIT) else None


def _power(scalar: Expr, parts: Sequence[Behaviour], ranges: Ranges, limit: Limit) -> Behaviour | None:
    """A power with an exponent free of n: analytic where the limit of its base is not 0, and positive for a root."""
    inner, exponent = parts[0], scalar.exp
    if parts[1] is not Behaviour.FIXED:
        return None
    whole = isinstance(exponent, Integer)
    if whole and exponent > 0:
        return inner
    if inner is Behaviour.FADING:
        return Behaviour.FADING if isinstance(exponent, Rational) and exponent > 0 else None
    if inner is Behaviour.TAME:
        return None
    settled = limit(scalar.base)
    if settled is None:
        return None
    analytic = is_nonzero(settled, ranges) if whole else is_positive(settled, ranges)
    return Behaviour.SETTLING if analytic else None


def _function(scalar: Expr, parts: Sequence[Behaviour], ranges: Ranges, limit: Limit) -> Behaviour | None:
    """A function of the table, away from where the table says that it is rough."""
    head = HEADS.of(scalar)
    if head is None or len(parts) != 1 or parts[0] is Behaviour.TAME:
        return None
    if parts[0] is Behaviour.FADING and head.roughness in (None, Roughness.KINK, Roughness.POLES):
        return Behaviour.FADING if scalar.func(Integer(0)) == 0 else Behaviour.SETTLING
    if head.roughness is None:
        return Behaviour.SETTLING
    settled = Integer(0) if parts[0] is Behaviour.FADING else limit(scalar.args[0])
    if settled is None:
        return None
    if head.roughness is Roughness.POLES:
        smooth = bounds(settled, ranges).within(BETWEEN_POLES)
    elif head.roughness in (Roughness.KINK, Roughness.JUMP):
        smooth = is_nonzero(settled, ranges)
    else:
        smooth = is_positive(settled, ranges)
    return Behaviour.SETTLING if smooth else None
