"""The frozen preconditioner on a quadratic: the threshold against the optimizer as it runs, by brute force."""

from __future__ import annotations

from math import inf

import pytest
from mpmath import mpf, sqrt
from sympy import Symbol

import symmem
from symmem import Momentum, Optimizer
from symmem.algebra.results import Missing
from symmem.derivation.stability import Stability, stability
from symmem.method.reading import running_method
from symmem.training.runtime.roots import threshold
from symmem.verification.literal import Literal
from symmem.verification.losses import quadratic_loss
from symmem.verification.vectors import VerificationError

LR = 0.1
LINEAR = (
    "gd",
    "heavyball",
    "nesterov",
    "sgdw",
    "sgd-l2",
    "aggmo",
    "qhm",
    "optimistic-gd",
    "delayed-gd",
    "pid",
)
"""Decays, mixtures of memories, differences of gradients, delays."""
FROZEN = Optimizer(
    "frozen",
    "m1 / sqrt(m2 + eps) + m3",
    [
        Momentum("grad + decay*theta", "beta", "1 - beta"),
        Momentum("grad**2", "delta", "1 - delta"),
        Momentum("theta", "0", "1/9"),
    ],
    {"beta": "4/5", "delta": "9/10", "eps": "1/9", "decay": "1/7"},
)


def numbers(name: str) -> tuple[list[float], list[float], float]:
    method = running_method(symmem.load(name))
    known = stability(method)
    assert isinstance(known, Stability)
    values = {Symbol("lr"): LR, **{key: float(value) for key, value in method.defaults.items()}}
    free, forced = ([float(c.xreplace(values)) for c in each] for each in (known.free, known.forced))
    return free, forced, float(known.preconditioner.xreplace(values))


@pytest.mark.parametrize("name", LINEAR)
def test_a_quadratic_runs_away_from_the_threshold_on(name: str) -> None:
    """The declared optimizer itself on ``a x^2/2``: it settles below, and does not above."""
    free, forced, preconditioner = numbers(name)
    edge = threshold(free, forced) / LR / preconditioner
    assert _growth(name, 0.95 * edge) < 1 < _growth(name, 1.05 * edge)


def _growth(name: str, curvature: float) -> float:
    """By how much the second half of a run is larger than the first; a run away is the reference's own error."""
    loss = quadratic_loss([[sqrt(mpf(curvature))]])
    try:
        steps = Literal(symmem.load(name), {}, loss).trace([1], LR, 600, digits=20)
    except VerificationError:
        return inf
    early, late = (max(abs(theta[0]) for theta, _ in steps[k - 60 : k]) for k in (300, 600))
    return float(late / early)


def test_the_thresholds_that_are_known() -> None:
    """Cohen et al. 2022 for momentum; ``2 - h lambda`` in the place of 2 with a decay; 2 for gradient descent."""
    for beta in (0.5, 0.9, 0.99):
        assert threshold([1.0, -1 - beta, beta], [1 - beta, 0.0]) == pytest.approx(
            (2 + 2 * beta) / (1 - beta), rel=1e-12
        )
    assert threshold([1.0, -1.0], [1.0]) == pytest.approx(2.0)
    known = stability(running_method(symmem.load("adamw-torch")))
    assert isinstance(known, Stability)
    values = {Symbol("lr"): LR, Symbol("beta1"): 0.9, Symbol("weight_decay"): 0.01}
    free, forced = ([float(c.xreplace(values)) for c in each] for each in (known.free, known.forced))
    assert threshold(free, forced) == pytest.approx((2 - LR * 0.01) * 1.9 / 0.1, rel=1e-12)
    assert threshold([1.0, -1.0, 0.0], [1.0]) == pytest.approx(1.0)  # a delay of one step: mu = exp(i pi/3)


def test_both_kinds_of_decay_are_told_apart_or_refused() -> None:
    coupled = stability(running_method(symmem.load("adam-l2")))
    assert isinstance(coupled, Stability)
    assert coupled.shift == Symbol("weight_decay")
    assert isinstance(stability(running_method(FROZEN)), Missing)


@pytest.mark.parametrize("name", ["lion", "signum", "muon", "lamb", "adopt"])
def test_what_has_no_frozen_preconditioner_is_refused(name: str) -> None:
    assert isinstance(stability(running_method(symmem.load(name))), Missing)
