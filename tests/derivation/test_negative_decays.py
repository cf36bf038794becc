"""A decay that is negative: ``(-1)^n`` stays, and an even power of it is 1, as n is a whole number."""

from __future__ import annotations

import pytest
from sympy import Expr, Integer, Pow, Rational, Symbol

import symmem
from symmem import D2L, Momentum, Optimizer
from symmem.algebra.atoms import GRAD, LR, STEP

BETA = Symbol("beta")
HALF = Rational(1, 2)
RANGE = {"beta": {"default": HALF, "range": "[0, 1)"}}
TURNING = Optimizer("turning", "m1", [Momentum("grad", "-beta", "1")], RANGE)
BOTH = Optimizer(
    "both", "2*m1 - 3*m2", [Momentum("grad", "beta", "1"), Momentum("grad", "-beta", "1")], RANGE
)


def weight(optimizer: Optimizer, k: int) -> Expr:
    """``c(k)`` of the memory in all, at beta = 1/2."""
    return (-HALF) ** k if optimizer is TURNING else 2 * HALF**k - 3 * (-HALF) ** k


def even_powers(expression: Expr) -> set[Expr]:
    """``(-1)^(2n)`` and the like."""
    found = (power for power in expression.atoms(Pow) if power.base == -1)
    return {
        power
        for power in found
        if all((power.exp.coeff(index) / 2).is_Integer for index in power.free_symbols)
    }


@pytest.mark.parametrize("optimizer", [TURNING, BOTH], ids=lambda each: each.name)
def test_the_correction_of_a_negative_decay(optimizer: Optimizer) -> None:
    """``M = h sum_k c(k) sum_{s=n-k..n-1} gain(s) D2L(grad)``, written out."""
    M = symmem.derive(optimizer).M
    assert not even_powers(M)
    for n in range(6):
        gains = [sum(weight(optimizer, k) for k in range(s + 1)) for s in range(n + 1)]
        expected = sum(weight(optimizer, k) * sum(gains[n - k : n]) for k in range(n + 1))
        values = {D2L(GRAD): Integer(1), LR: Integer(1), BETA: HALF, STEP: Integer(n)}
        assert M.xreplace(values) - expected == 0


@pytest.mark.parametrize("name", ["pnm", "adapnm"])
def test_no_even_power_of_a_sign_is_left(name: str) -> None:
    d = symmem.derive(name)
    assert not even_powers(d.F)
    assert not even_powers(d.M)
