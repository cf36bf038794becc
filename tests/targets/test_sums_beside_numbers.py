"""Emitted sums over the past beside numbers of a whole tensor: names of their own, and equal terms counted.

The truth is the formula itself, in 20 digits by code that makes no statements.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import probe
import pytest
import torch

from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation, derive
from symmem.targets.registry import TARGETS
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import coupled_loss, probe_point

POINT, LOSS = probe_point(3), coupled_loss(3)
AVERAGE, BETA = "(1 - beta)/(1 - beta**(n + 1))", {"beta": {"default": 0.625, "range": "[0, 1)"}}
LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "numpy": np.asarray,
    "torch": torch.as_tensor,
}
OPTIMIZERS = {
    "a number of each step that is read as one": (
        Optimizer(
            "beside",
            "m1*dot(m2, m3) + m2",
            [
                {"g": "theta", "beta": "beta", "b": AVERAGE},
                {"g": "grad*theta", "beta": "beta", "b": AVERAGE},
                {"g": "tanh(m1)", "beta": 0.5, "b": 0.5},
            ],
            BETA,
        ),
        1,
    ),
    "equal terms": (
        Optimizer(
            "equal",
            "m1*global_norm(m1) + m2*exp(-m2**2)",
            [{"g": "grad*theta", "beta": "beta", "b": AVERAGE}, {"g": "grad", "beta": 0.5, "b": 1}],
            BETA,
        ),
        2,
    ),
}


@cache
def derived(case: str) -> Derivation:
    return derive(*OPTIMIZERS[case])


def along(theta: Any, *directions: Any) -> np.ndarray:
    flat = [np.asarray(each, dtype=float).tolist() for each in (theta, *directions)]
    return np.array([float(x) for x in LOSS.contraction(*flat)])


@pytest.mark.parametrize("target", LIBRARIES)
@pytest.mark.parametrize("case", OPTIMIZERS)
def test_the_correction_is_its_formula(case: str, target: str) -> None:
    d, made = derived(case), LIBRARIES[target]
    module = probe.module(TARGETS[target].source(d))
    theta = made(np.array([float(x) for x in POINT]))
    served = [lambda *given: made(along(*given))] * (d.order + 1)
    for n in (1, 2, 4):
        values = {"beta": "5/8", "n": n, "lr": "1/8"}
        layouts = {"theta": ((3,),), "grad": ((3,),)}
        exact = evaluate(d.M, values, {"theta": POINT}, LOSS, layouts=layouts, digits=20)
        found = np.asarray(module.correction(theta, *served, n=n, lr=1 / 8, beta=5 / 8))
        np.testing.assert_allclose(found, [float(x) for x in exact], rtol=1e-11)
