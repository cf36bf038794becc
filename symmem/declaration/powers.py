"""Whether the powers of a decay are known exactly: what the sums over the past are made of."""

from __future__ import annotations

from sympy import Expr, Function, Pow

from symmem.algebra.atoms import STEP


def has_exact_powers(beta: Expr) -> bool:
    """Whether ``beta**n`` is made of powers ``base**(k n)`` with integers k.

    SymPy writes ``exp(-1)**n`` as ``exp(-n)`` and ``sqrt(x)**n`` as ``x**(n/2)``: there the base is lost.  Nor has the
    exact field a decay that is a function of something, such as ``1 - exp(-a)``.
    """
    if beta.atoms(Function):
        return False
    power = beta**STEP
    exponents = [part.exp for part in power.atoms(Pow) if STEP in part.exp.free_symbols]
    return all((exponent / STEP).is_Integer for exponent in exponents)
