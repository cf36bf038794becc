"""Powers in one spelling each: roots of symbols, numbers to symbolic powers, powers of an index (exponential.py)."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd, lcm

from sympy import Expr, Integer, Pow, Rational, Symbol


def is_root(expression: Expr) -> bool:
    """Whether it is a power of a root of a symbol, such as ``eps**(-3/4)``."""
    if not isinstance(expression, Pow) or not isinstance(expression.base, Symbol):
        return False
    return isinstance(expression.exp, Rational) and not isinstance(expression.exp, Integer)


def is_power_of_number(expression: Expr) -> bool:
    """Whether it is a number to a power that is none, such as ``2**(-1/a)``: a decay by its half-life."""
    if not isinstance(expression, Pow) or isinstance(expression.exp, Rational):
        return False
    return isinstance(expression.base, Rational) and bool(expression.base > 0)


def above_one(base: Expr, exponent: Expr) -> tuple[Expr, Expr]:
    """One spelling of a power: ``(1/2)**a`` is ``2**(-a)``, and SymPy writes its inverse as ``2**a``."""
    return (base, exponent) if base > 1 else (1 / base, -exponent)


def common_powers(numbers: Iterable[tuple[Expr, Expr]]) -> set[Expr]:
    """One generator for all multiples of an exponent: ``2**(a/2)`` for ``2**a`` and ``2**(-3*a/2)``."""
    multiples: dict[tuple[Expr, Expr], list[Rational]] = {}
    for base, exponent in numbers:
        number, core = exponent.as_coeff_Mul()
        multiples.setdefault((base, core), []).append(number)
    return {
        Pow(
            base,
            core * Rational(gcd(*(int(each.p) for each in found)), lcm(*(int(each.q) for each in found))),
        )
        for (base, core), found in multiples.items()
    }


def decaying(base: Expr) -> Expr:
    """The base of a generator: 1/2 for 2, since SymPy writes ``(1/2)**n`` as ``2**(-n)``."""
    return 1 / base if isinstance(base, Integer) and base > 1 else base


def linear_exponent(exponent: Expr, indices: Iterable[Symbol]) -> tuple[int, ...] | None:
    """``(a, c, ..., d)`` of the exponent ``a n + c s + ... + d`` with integers, or None."""
    slopes, rest = [], exponent.expand()
    for index in indices:
        slope = rest.coeff(index, 1)
        slopes.append(slope)
        rest = rest - slope * index
    slopes.append(rest)
    if not all(isinstance(slope, Integer) for slope in slopes):
        return None
    return tuple(int(slope) for slope in slopes)


def root_degree(exponent: Expr, indices: Iterable[Symbol]) -> int:
    """The least d for which d times the exponent has integers before the indices; 1 where they are no fractions."""
    slopes = [exponent.expand().coeff(index, 1) for index in indices]
    return lcm(*(int(slope.q) for slope in slopes if isinstance(slope, Rational)))
