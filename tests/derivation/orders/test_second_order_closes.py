"""Second order at finite n of methods that are linear in several vectors: their sums over the past close.

The truth are runs of the literal optimizer, from which the powers of h are peeled off.
"""

from __future__ import annotations

import mpmath
import pytest
from mpmath import mpf
from sympy import Expr, Rational, Sum

import symmem
from symmem import Momentum, Optimizer
from symmem.verification import bruteforce
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.vectors import relative_error

DECAYS = {
    "beta": {"default": Rational(2, 5), "range": "[0, 1)"},
    "gamma": {"default": Rational(1, 3), "range": "[0, 1)"},
    "wd": {"default": Rational(3, 10), "range": "[0, inf)"},
}
EXACT = 1e-20


def declared(phi: str, *momentum: tuple[str, str, str]) -> Optimizer:
    words = " ".join((phi, *(word for each in momentum for word in each)))
    used = {name: each for name, each in DECAYS.items() if name in words}
    return Optimizer("linear", phi, [Momentum(*each) for each in momentum], used)


CASES = {
    "a decay of the parameters": declared("m1 + wd*m2", ("grad", "beta", "1"), ("theta", "0", "1")),
    "a decay with a memory of its own": declared(
        "m1 + m2", ("grad", "beta", "1"), ("wd*theta", "gamma", "1 - gamma")
    ),
    "a sign beside the gradient": declared(
        "m1 + m2/5", ("grad", "beta", "1 - beta"), ("abs(grad)", "0", "1")
    ),
    "a square of the gradient": declared("m1 + m2", ("grad", "0", "1 + gamma**n"), ("grad**2", "beta", "1")),
}


def value(expression: Expr, literal: Literal, theta: object, n: int, lr: Rational) -> object:
    return evaluate(expression, {**literal.numbers, "n": n, "lr": lr}, {"theta": theta}, literal.loss)


@pytest.mark.parametrize("case", CASES)
def test_no_sum_over_the_past_stays(case: str) -> None:
    derivation = symmem.derive(CASES[case], order=2)
    for each in (derivation.F, derivation.M, *derivation.shift):
        assert not each.has(Sum)


OPEN = {
    "a delay beside an average": Optimizer(
        "late",
        "m1 + m2",
        [Momentum("grad", "beta", "1"), Momentum("grad", delay=3)],
        {"beta": DECAYS["beta"]},
    ),
    "a delay of an average": Optimizer(
        "late-average",
        "m2",
        [Momentum("grad", "beta", "1"), Momentum("m1", delay=2)],
        {"beta": DECAYS["beta"]},
    ),
}
"""The steps that a delay has seen are a sum of their own."""


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("case", [*CASES, *OPEN])
def test_against_runs(case: str, n: int) -> None:
    optimizer = {**CASES, **OPEN}[case]
    literal, theta = Literal(optimizer, {}, coupled_loss(2)), probe_point(2)
    memoryless, first, second = bruteforce.expansion(literal, theta, n, 2)
    derivation = symmem.derive(optimizer, order=2)
    assert relative_error(value(derivation.F, literal, theta, n, Rational(1)), memoryless) < EXACT
    for rate in (Rational(1, 10), Rational(-2)):
        with mpmath.workdps(40):
            h = mpf(rate.p) / rate.q
            truth = [h * one + h**2 * two for one, two in zip(first, second, strict=True)]
        assert relative_error(value(derivation.M, literal, theta, n, rate), truth) < EXACT
