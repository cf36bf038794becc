"""``order_variance`` in NumPy and PyTorch against the optimizer itself, run over every order of six batches.

The batches have linear losses, ``g_i . theta``: gradients do not move with theta, and a method linear in them has
exactly the variance of the formula.  A curved one has it to first order in the noise, which is made small.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from mpmath import mpf

import symmem
from symmem.targets.registry import TARGETS, Options

MEAN, NOISE = mpf("0.8"), [mpf(x) / 100 for x in (3, -7, 4, -1, 6, -5)]
DECAY = Fraction(3, 5)
LR, SMALL = mpf("0.1"), mpf(10) ** -12
Gradients = Sequence[mpf]


@lru_cache
def module(name: str, target: str) -> SimpleNamespace:
    source = TARGETS[target].source(symmem.derive(name), Options(minibatch=True))
    found: dict[str, Any] = {"__name__": name}
    exec(compile(source, name, "exec"), found)  # what was emitted is what is tested
    return SimpleNamespace(**found)


def heavyball(g: Gradients) -> list[mpf]:
    """beta = 3/5."""
    found, m = [], mpf(0)
    for x in g:
        m = mpf(3) / 5 * m + x
        found.append(m)
    return found


def adam(g: Gradients) -> list[mpf]:
    """beta1 = 2/5, beta2 = 7/10, eps = 1/5 inside the root."""
    found, m, v = [], mpf(0), mpf(0)
    a, b = mpf(2) / 5, mpf(7) / 10
    for n, x in enumerate(g):
        m, v = a * m + (1 - a) * x, b * v + (1 - b) * x * x
        found.append(m / (1 - a ** (n + 1)) / mpmath.sqrt(v / (1 - b ** (n + 1)) + mpf(1) / 5))
    return found


def nadamw(g: Gradients) -> list[mpf]:
    """The same with the present gradient in the average; no decay of theta."""
    found, v, m = [], mpf(0), mpf(0)
    a, b = mpf(2) / 5, mpf(7) / 10
    for n, x in enumerate(g):
        m, v = a * m + (1 - a) * x, b * v + (1 - b) * x * x
        ahead = a * m / (1 - a ** (n + 1)) + (1 - a) * x
        found.append(ahead / mpmath.sqrt(v / (1 - b ** (n + 1)) + mpf(1) / 5))
    return found


SQUARES = {"beta1": 0.4, "beta2": 0.7, "eps": 0.2}
METHODS: dict[str, tuple[Any, dict[str, float]]] = {
    "heavyball": (heavyball, {"beta": 0.6}),
    "adam": (adam, SQUARES),
    "nadamw": (nadamw, {**SQUARES, "weight_decay": 0.0}),
    "gd": (list, {}),
}


@lru_cache
def variance_over_orders(name: str, size: mpf) -> mpf:
    """Of theta after the epoch, over all 720 orders; the noise is ``size`` times NOISE."""
    with mpmath.workdps(50):
        run = METHODS[name][0]
        ends = [
            -LR * mpmath.fsum(run([MEAN + size * NOISE[i] for i in order]))
            for order in permutations(range(len(NOISE)))
        ]
        mean = mpmath.fsum(ends) / len(ends)
        return mpmath.fsum((x - mean) ** 2 for x in ends) / len(ends)


@pytest.mark.parametrize("target", ["numpy", "torch"])
@pytest.mark.parametrize("name", METHODS)
def test_is_the_variance_over_all_orders_of_six_batches(name: str, target: str) -> None:
    linear = name in ("heavyball", "gd")
    size = mpf(1) if linear else SMALL
    expected = float(variance_over_orders(name, size) / size**2)
    rows = [[float(MEAN + x)] for x in NOISE]
    theta = np.zeros(1) if target == "numpy" else torch.zeros(1, dtype=torch.float64)
    given = METHODS[name][1]
    emitted = module(name, target)
    if not linear:  # The slope of Phi is taken at the mean gradient, whatever the noise is.
        assert abs(float(sum(NOISE))) < 1e-15
    found = emitted.order_variance(theta, lambda _: rows, batches=6, lr=float(LR), **given)
    assert float(found[0]) == pytest.approx(expected, rel=1e-9, abs=1e-25)
    if name != "gd":
        assert expected > 0
    out = theta * 0
    emitted.order_variance(theta, lambda _: rows, batches=6, lr=float(LR), out=out, **given)
    assert float(out[0]) == float(found[0])


def test_a_delay_that_starts_with_the_first_value_and_a_decay_of_zero() -> None:
    """pid: the weights that each batch has, in exact rationals; nadamw at beta1 = 0, where all is in the present."""
    emitted, count = module("pid", "numpy"), 6
    weights = []
    for j in range(count):  # what one batch adds to the sum of all updates
        g = [Fraction(int(k == j)) for k in range(count)]
        m, change, old, total = Fraction(0), Fraction(0), g[0], Fraction(0)
        for x in g:
            m = m * DECAY + x
            change = change * DECAY + (x - old) * (1 - DECAY)
            total += x + 2 * m + change / 3
            old = x
        weights.append(total)
    mean = sum(weights) / count
    scatter = sum((x - mean) ** 2 for x in weights) * Fraction(count, count - 1)
    spread = sum(float(x) ** 2 for x in NOISE) / count
    rows = [[float(MEAN + x)] for x in NOISE]
    given = {"beta": 0.6, "integral": 2.0, "derivative": 1 / 3, "batches": count}
    found = emitted.order_variance(np.zeros(1), lambda _: rows, lr=1.0, **given)
    assert found[0] == pytest.approx(float(scatter) * spread, rel=1e-9)
    still = module("nadamw", "numpy").order_variance(
        np.zeros(1), lambda _: rows, batches=count, lr=1.0, beta1=0, beta2=0
    )
    assert still[0] == pytest.approx(0, abs=1e-18)


def test_an_epoch_has_two_batches_or_more() -> None:
    emitted = module("heavyball", "numpy")
    for batches in (1, 2.5):
        with pytest.raises(ValueError, match="an epoch has 2 or more"):
            emitted.order_variance(np.zeros(1), lambda _: [[1.0], [2.0]], batches=batches, lr=0.1)
