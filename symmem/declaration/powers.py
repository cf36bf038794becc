"""Whether the powers of a decay are known exactly: what the sums over the past are made of."""

from __future__ import annotations

from sympy import Expr, Pow, exp

from symmem.algebra.atoms import STEP


def has_exact_powers(beta: Expr) -> bool:
    """Whether ``beta**n`` is made of powers ``base**(k n)`` with integers k.

    SymPy writes ``exp(-1)**n`` as ``exp(-n)`` and ``sqrt(x)**n`` as ``x**(n/2)``: there the base is lost.
    """
    power = beta**STEP
    if any(STEP in part.args[0].free_symbols for part in power.atoms(exp)):
        return False
    exponents = [part.exp for part in power.atoms(Pow) if STEP in part.exp.free_symbols]
    return all((exponent / STEP).is_Integer for exponent in exponents)
