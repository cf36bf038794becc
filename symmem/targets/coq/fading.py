"""What separates a number at step n from its limit, as a sum of terms that fade.

    x(n) - limit = sum_r K_r(n) prod_i beta_i^(n e_i) prod_j 1/(1 - beta_j^(n+1))^(d_j)

where every term has a power of a decay: ``|x(n) - limit| <= C(n) rho^n`` for every rho from the slowest decay on, with
``C = sum_r |K_r| prod_j 1/(1 - |beta_j|)^(d_j)``.
In heavy ball's gain, ``(1 - beta^(n+1))/(1 - beta) - 1/(1 - beta)``, one term: ``K = -beta/(1 - beta)``.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

from sympy import Add, Expr, Mul, Pow, S, Symbol

from symmem.algebra.atoms import STEP
from symmem.records import record

Powers = tuple[tuple[Expr, int], ...]
"""Decays with their exponents, in a fixed order."""
_Terms = dict[tuple[Powers, Powers], Expr]


@record(frozen=True)
class Fading:
    """``factor(n) prod beta^(n e) prod 1/(1 - beta^(n+1))^d``."""

    factor: Expr
    powers: Powers
    below: Powers


def fading_terms(number: Expr, decays: frozenset[Expr]) -> tuple[Fading, ...] | None:
    """The terms that fade; None where the number is not of this form.  What does not fade is the limit."""
    terms = _polynomial(number, decays)
    if terms is None:
        return None
    found: _Terms = {}
    for (powers, below), factor in terms.items():
        for key, more in _with_power(powers, below).items():
            found[key] = found.get(key, S.Zero) + factor * more
    return tuple(Fading(factor, *key) for key, factor in found.items() if key[0] and factor != 0)


def _with_power(powers: Powers, below: Powers) -> _Terms:
    """``1/(1 - x) = 1 + x/(1 - x)`` until a power stands in every term that has a denominator."""
    if powers or not below:
        return {(powers, below): S.One}
    (decay, count), *rest = below
    fewer = ((decay, count - 1), *rest) if count > 1 else tuple(rest)
    return _with_power((), fewer) | {(((decay, 1),), below): decay}


def _polynomial(number: Expr, decays: frozenset[Expr]) -> _Terms | None:
    """By powers of the decays and denominators 1 - decay^(n+1)."""
    if not _moves(number):
        return {((), ()): number}
    if isinstance(number, Add):
        total: _Terms = {}
        for part in number.args:
            for key, factor in (found := _polynomial(part, decays) or {}).items():
                total[key] = total.get(key, S.Zero) + factor
            if not found:
                return None
        return total
    if isinstance(number, Mul):
        return _product([_polynomial(part, decays) for part in number.args])
    if number == STEP:
        return {((), ()): number}
    return _power(number, decays) if isinstance(number, Pow) else None


def _power(number: Pow, decays: frozenset[Expr]) -> _Terms | None:
    base, exponent = number.base, number.exp
    if base in decays:
        slope, rest = exponent.coeff(STEP, 1), exponent.subs(STEP, 0)
        plain = slope.is_Integer and slope > 0 and rest.is_Integer and exponent == slope * STEP + rest
        return {(((base, int(slope)),), ()): base**rest} if plain else None
    if not exponent.is_Integer:
        return None
    if exponent > 0:
        return _product([_polynomial(base, decays)] * int(exponent))
    for decay in decays:
        if base == 1 - decay ** (STEP + 1):
            return {((), ((decay, int(-exponent)),)): S.One}
    return None


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


def _joined(left: Powers, right: Powers) -> Powers:
    counts = Counter(dict(left))
    counts.update(dict(right))
    return tuple(sorted(counts.items(), key=lambda item: str(item[0])))


def _moves(number: Expr) -> bool:
    return STEP in number.atoms(Symbol)
