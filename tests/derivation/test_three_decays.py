"""Sums in which three decays meet, at symbolic n: their exponentials are kept apart, and the value is the method's own.

AggMo (Lucas et al. 2019, arXiv:1804.00325) averages heavy-ball variables with several decays.  The truth is the method
run literally, the powers of h peeled off its next direction (``bruteforce.expansion``).
"""

from __future__ import annotations

from functools import cache
from time import process_time

import mpmath
import pytest
from mpmath import mpf
from sympy import Add, Rational

from symmem import Momentum, Optimizer, derive
from symmem.derivation.derivation import Derivation
from symmem.verification import bruteforce
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.vectors import relative_error

NUMBERS = {"beta1": Rational(1, 3), "beta2": Rational(4, 5), "beta3": Rational(2, 7)}
SECONDS = 10
EXACT = mpf("1e-40")


@cache
def derived(name: str) -> Derivation:
    factors = {"aggmo": "1", "averages": "1 - {0}"}
    momentum = [Momentum("grad", decay, factors[name].format(decay)) for decay in NUMBERS]
    parameters = {decay: {"default": 0.9, "range": "[0, 1)"} for decay in NUMBERS}
    return derive(Optimizer(name, "(m1 + m2 + m3)/3", momentum, parameters), 2)


@pytest.mark.parametrize("n", [0, 1, 2, 6])
@pytest.mark.parametrize("name", ["aggmo", "averages"])
def test_second_order_with_three_decays(name: str, n: int) -> None:
    derivation = derived(name)
    theta = probe_point(2)
    literal = Literal(derivation.optimizer, NUMBERS, coupled_loss(2), {})
    _, first, second = bruteforce.expansion(literal, theta, n, 2, digits=50)
    for rate in (Rational(1, 10), Rational(-2)):
        values = {**literal.numbers, "n": n, "lr": rate}
        found = evaluate(derivation.M, values, {"theta": theta}, literal.loss, {}, digits=60)
        with mpmath.workdps(60):
            h = mpf(rate.p) / rate.q
            truth = [h * x + h**2 * y for x, y in zip(first, second, strict=True)]
        assert relative_error(found, truth) < EXACT


def test_three_decays_are_soon_derived_and_short() -> None:
    """Over one denominator the numerators had thousands of terms and took more than a minute to write."""
    derived.cache_clear()
    start = process_time()
    correction = derived("aggmo").M
    assert process_time() - start < SECONDS
    assert max(len(part.args) for part in correction.atoms(Add)) < 150
