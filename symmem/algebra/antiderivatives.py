"""Antiderivatives of entrywise functions: what turns ``D2L(f(grad))`` into the gradient of a sum over entries.

No search: the rules below, and the antiderivative of each function in its head.  Beside :mod:`.potentials`.
"""

from __future__ import annotations

from sympy import Abs, Add, Expr, Integer, Mul, Pow, S, Symbol, log, sign

from symmem.algebra.atoms import TOTAL, terms_of
from symmem.algebra.directional import derivative
from symmem.algebra.every import every
from symmem.algebra.heads import HEADS
from symmem.algebra.real_functions import real_function
from symmem.algebra.reals import signed_power


def antiderivative(function: Expr, variable: Symbol) -> Expr | None:
    """An expression ``a`` with ``da/dx = function`` for one real variable x, or None where no rule finds one."""
    if function.has(TOTAL):
        return None  # it joins entries: no function of one variable
    parts = every(_antiderivative_of_term(term, variable) for term in terms_of(function))
    return None if parts is None else Add(*parts)


def _antiderivative_of_term(term: Expr, x: Symbol) -> Expr | None:
    constant, rest = term.as_independent(x, as_Add=False)
    if rest == 1:
        return constant * x
    base, exponent = rest.as_base_exp()
    if base == x and x not in exponent.free_symbols:
        return constant * (log(Abs(x)) if exponent == -1 else x ** (exponent + 1) / (exponent + 1))
    power = signed_power(rest, x)
    if power is not None:
        return constant * _of_signed_power(*power, x)
    head = HEADS.of(rest)
    if head is not None and head.antiderivative is not None:
        slope = derivative(rest.args[0], {x: S.One})
        if slope == 0 or x in slope.free_symbols:  # 0 of what jumps, a sign
            return None
        return constant * head.antiderivative(rest.args[0]) / slope
    return _by_substitution(constant, rest, x)


def _of_signed_power(exponent: Expr, odd: bool, x: Symbol) -> Expr:
    """``sign(x) |x|^p`` has ``|x|^(p+1)/(p+1)``, and ``|x|^p`` has ``x |x|^p/(p+1)``; at p = -1 a logarithm."""
    if exponent == -1:
        return log(Abs(x)) if odd else sign(x) * log(Abs(x))
    return Pow(Abs(x), exponent + 1) / (exponent + 1) if odd else x * Pow(Abs(x), exponent) / (exponent + 1)


def _by_substitution(constant: Expr, rest: Expr, x: Symbol) -> Expr | None:
    """``c u' u^q`` for a factor ``u^q``; and ``x / (|x| + c) = d/dx (|x| - c log(|x| + c))``.

    The first is how ``x / sqrt(x^2 + eps)`` is seen: ``u = x^2 + eps``, ``q = -1/2``, and what remains of it beside
    ``u' u^q`` is the constant 1/2, so that the antiderivative is ``1/2 u^(1/2) / (1/2)``.
    """
    for factor in Mul.make_args(rest):
        base, exponent = factor.as_base_exp()
        if x in exponent.free_symbols or not isinstance(base, Add):
            continue
        shift = base - Abs(x)
        if exponent == -1 and rest == x * factor and x not in shift.free_symbols:
            return constant * (Abs(x) - shift * log(base))
        slope = derivative(base, {x: S.One})
        if slope == 0:
            continue
        ratio = Mul(rest, Pow(factor, Integer(-1)), Pow(slope, Integer(-1)))
        if x not in ratio.free_symbols:
            return (
                constant
                * ratio
                * (
                    log(real_function(Abs, base))
                    if exponent == -1
                    else base ** (exponent + 1) / (exponent + 1)
                )
            )
    return None
