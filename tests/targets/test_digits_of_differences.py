"""Differences and products of memories with decays near 1: digits against brute force, and code in a short time.

``(1 - a^(n+1)) - (1 - b^(n+1))`` closes to ``b^(n+1) - a^(n+1)``, of which nothing is left near 1, and a product of two
gains to a sum in which no sign is found.  On the parabola at theta = 1, where gradients are exact.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from mpmath import mpf
from probe import module
from sympy import Rational

import symmem
from symmem import Momentum, Optimizer
from symmem.derivation.derivation import Derivation
from symmem.program.lowering import lower
from symmem.targets.registry import TARGETS
from symmem.verification import bruteforce
from symmem.verification.literal import Literal
from symmem.verification.losses import quadratic_loss
from symmem.work import budget

BETA = {"default": 0.875, "range": "[0, 1)"}
SETTINGS = ((1 - 1e-8, 1 - 3e-8), (1 - 3e-8, 1 - 1e-8), (0.875, 0.75), (0.25, 1 - 1e-8))
STEPS, RATE = (0, 1, 2, 3, 9, 40), 1 / 128
EMA = [Momentum("grad", "b1", "1 - b1"), Momentum("grad", "b2", "1 - b2")]
SQUARES = [Momentum("grad", "b1", "1 - b1"), Momentum("grad**2", "b2", "1 - b2")]
CASES = {
    "a difference": ("m1 - m2", EMA),
    "of a function": ("m1 - m2", [EMA[0], Momentum("abs(grad)", "b2", "1 - b2")]),
    "in a function": ("tanh(m1 - m2)", EMA),
    "over a root": ("(m1 - m2)/sqrt(m3 + 1)", [*EMA, Momentum("grad**2", "b1", "1 - b1")]),
    "of powers": ("m1**2 - 2*m2", SQUARES),
    "a product": ("m1*m2", SQUARES),
    "with a norm": ("m1*(1 + norm(m2))", EMA),
    "with a kink": ("m1*abs(m2)", EMA),
}
PRODUCTS = ("of powers", "a product", "with a norm", "with a kink")
SECONDS = 40
"""Of processor time, for what takes two; a search for a sign took minutes."""


@cache
def derived(name: str) -> Derivation:
    phi, momentum = CASES[name]
    return symmem.derive(Optimizer("line", phi, momentum, {"b1": BETA, "b2": BETA}))


@pytest.mark.parametrize("name", CASES)
def test_digits_are_those_of_the_sums_over_the_past(name: str) -> None:
    derivation = derived(name)
    with budget(SECONDS):
        assert not lower(derivation).loses_digits
        made = module(TARGETS["numpy"].source(derivation))
    one, field, product = np.ones(1), lambda x: x, lambda x, v: v
    for b1, b2 in SETTINGS:
        exact = {"b1": Rational(b1), "b2": Rational(b2)}
        literal = Literal(derivation.optimizer, exact, quadratic_loss([[1]]))
        for n in STEPS:
            update = bruteforce.memoryless(literal, [mpf(1)], n)[0]
            found = float(made.memoryless(one, field, n=n, b1=b1, b2=b2)[0])
            assert abs(found - update) <= 1e-13 * abs(update), (b1, b2, n)
            moved = bruteforce.correction(literal, [mpf(1)], n, Rational(RATE))[0]
            found = float(made.correction(one, field, product, n=n, lr=RATE, b1=b1, b2=b2)[0])
            assert abs(found - moved) <= 1e-13 * abs(moved), (b1, b2, n)


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("target", ["torch", "jax"])
def test_every_target_is_written_in_a_short_time(target: str, name: str) -> None:
    with budget(SECONDS):
        assert "lose digits" not in " ".join(TARGETS[target].source(derived(name)).split())
