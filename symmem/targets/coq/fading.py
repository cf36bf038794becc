"""What separates a number at step n from its limit, as a sum of terms that fade.

    x(n) - limit = sum_r K_r(n) prod_i beta_i^(n e_i) prod_j 1/(1 - beta_j^(n+c_j))^(d_j),      c_j >= 1

where every term has a power of a decay: ``|x(n) - limit| <= C(n) rho^n`` for every rho from the slowest decay on, with
``C = sum_r |K_r| prod_j 1/(1 - |beta_j|)^(d_j)``.  Beside its decays a term may have powers of -1.
In heavy ball's gain, ``(1 - beta^(n+1))/(1 - beta) - 1/(1 - beta)``, one term: ``K = -beta/(1 - beta)``.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TypeVar

from sympy import Add, Expr, Mul, Pow, S, Symbol

from symmem.algebra.atoms import STEP
from symmem.records import record

SIGN = S.NegativeOne
"""Its powers change sign and do not fade."""
Powers = tuple[tuple[Expr, int], ...]
"""Decays with their exponents, in a fixed order."""
Denominators = tuple[tuple[tuple[Expr, int], int], ...]
"""``(beta, c)`` for ``1 - beta^(n+c)``, with its exponent."""
_Terms = dict[tuple[Powers, Denominators], Expr]
_Base = TypeVar("_Base")


@record(frozen=True)
class Fading:
    """``factor(n) prod beta^(n e) prod 1/(1 - beta^(n+c))^d``."""

    factor: Expr
    powers: Powers
    below: Denominators


def fading_terms(number: Expr, decays: frozenset[Expr]) -> tuple[Fading, ...] | None:
    """The terms that fade; None where the number is not of this form.  What does not fade is the limit."""
    found = _told(number, decays)
    if found is None:
        return None
    return tuple(Fading(factor, *key) for key, factor in found.items() if key[0] and factor != 0)


def without_fading(number: Expr, decays: frozenset[Expr]) -> Expr | None:
    """The limit of a number of this form; None where the step stands in what does not fade."""
    found = _told(number, decays)
    left = S.Zero if found is None else found.get(((), ()), S.Zero)
    return None if found is None or _moves(left) else left


def _told(number: Expr, decays: frozenset[Expr]) -> _Terms | None:
    """All terms, each with a power of a decay or with nothing but its factor."""
    terms = _polynomial(number, decays)
    if terms is None:
        return None
    found: _Terms = {}
    for (bases, below), factor in terms.items():
        powers = _of_decays(bases, decays)
        if powers is None or (powers and all(base == SIGN for base, _ in powers)):
            return None
        for key, more in _with_power(powers, below).items():
            found[key] = found.get(key, S.Zero) + factor * more
    return found


def _of_decays(bases: Powers, decays: frozenset[Expr]) -> Powers | None:
    """Powers of the parts of a decay such as ``x/y`` joined to powers of that decay; None where a part is left."""
    left, found = dict(bases), dict[Expr, int]()
    for decay in (*sorted(decays, key=_place), SIGN):
        parts = _parts(decay)
        count = min(left.get(base, 0) // exponent for base, exponent in parts.items())
        if count > 0:
            found[decay] = count
            left = {base: has - count * parts.get(base, 0) for base, has in left.items()}
    return None if any(left.values()) else tuple(sorted(found.items(), key=lambda item: str(item[0])))


def _place(decay: Expr) -> tuple[int, str]:
    """Quotients first, which alone take a power out of a denominator; products behind their factors."""
    parts = _parts(decay)
    return (0 if any(exponent < 0 for exponent in parts.values()) else len(parts)), str(decay)


def _parts(decay: Expr) -> dict[Expr, int]:
    """``x/y`` as ``{x: 1, y: -1}``."""
    parts = [factor.as_base_exp() for factor in Mul.make_args(decay)]
    whole = not decay.is_number and all(exponent.is_Integer for _, exponent in parts)
    return {base: int(exponent) for base, exponent in parts} if whole else {decay: 1}


def _with_power(powers: Powers, below: Denominators) -> _Terms:
    """``1/(1 - x) = 1 + x/(1 - x)`` until a power stands in every term that has a denominator."""
    if powers or not below:
        return {(powers, below): S.One}
    ((decay, later), count), *rest = below
    fewer = (((decay, later), count - 1), *rest) if count > 1 else tuple(rest)
    return _with_power((), fewer) | {(((decay, 1),), below): decay**later}


def _polynomial(number: Expr, decays: frozenset[Expr]) -> _Terms | None:
    """By powers of the decays, or of their parts, and denominators 1 - decay^(n+c)."""
    if not _moves(number):
        return {((), ()): number}
    if isinstance(number, Add):
        total: _Terms = {}
        for part in number.args:
            found = _polynomial(part, decays)
            if found is None:
                return None
            for key, factor in found.items():
                total[key] = total.get(key, S.Zero) + factor
        return total
    if isinstance(number, Mul):
        return _product([_polynomial(part, decays) for part in number.args])
    if number == STEP:
        return {((), ()): number}
    return _power(number, decays) if isinstance(number, Pow) else None


def _power(number: Pow, decays: frozenset[Expr]) -> _Terms | None:
    base, exponent = number.base, number.exp
    slope, rest = exponent.coeff(STEP, 1), exponent.subs(STEP, 0)
    if slope != 0:
        known = base == SIGN or any(base in _parts(decay) for decay in decays)
        plain = slope.is_Integer and rest.is_Integer and exponent == slope * STEP + rest
        return {(((base, int(slope)),), ()): base**rest} if known and plain else None
    if not exponent.is_Integer:
        return None
    if exponent > 0:
        return _product([_polynomial(base, decays)] * int(exponent))
    return _denominator(1 - base, int(-exponent), decays)


def _denominator(power: Expr, count: int, decays: frozenset[Expr]) -> _Terms | None:
    """``1/(1 - decay^(n+c))^count``"""
    later = power.exp - STEP if isinstance(power, Pow) and power.base in decays else S.Zero
    return {((), (((power.base, int(later)), count),)): S.One} if later.is_Integer and later >= 1 else None


def _product(factors: list[_Terms | None]) -> _Terms | None:
    result: _Terms = {((), ()): S.One}
    for factor in factors:
        if factor is None:
            return None
        joined: _Terms = {}
        for (left, x), (right, y) in product(result.items(), factor.items()):
            key = _joined(left[0], right[0]), _joined(left[1], right[1])
            joined[key] = joined.get(key, S.Zero) + x * y
        result = joined
    return result


def _joined(
    left: tuple[tuple[_Base, int], ...], right: tuple[tuple[_Base, int], ...]
) -> tuple[tuple[_Base, int], ...]:
    counts = Counter(dict(left))
    counts.update(dict(right))
    return tuple(sorted(counts.items(), key=lambda item: str(item[0])))


def _moves(number: Expr) -> bool:
    return STEP in number.atoms(Symbol)
