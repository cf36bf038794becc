"""One number for each tensor as a direction: who is called gets arrays like theta; values to 20 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import jax_probe  # noqa: F401  # JAX counts in float64 from here on
import numpy as np
import probe
import pytest
import torch

from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.targets.registry import TARGETS
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import coupled_loss, probe_point

POINT, LOSS, LR = probe_point(6), coupled_loss(6), 0.01
THETA = np.array([float(x) for x in POINT]).reshape(2, 3)
MOMENTUM = ({"g": "grad", "beta": "beta", "b": 1},)
LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "numpy": np.asarray,
    "torch": torch.as_tensor,
    "jax": jnp.asarray,
}


def along(theta: Any, *directions: Any) -> np.ndarray:
    """``D^(k+1) L [directions]``, of directions like theta alone."""
    assert all(tuple(v.shape) == THETA.shape for v in (theta, *directions))
    flat = [np.asarray(each, dtype=float).reshape(-1).tolist() for each in (theta, *directions)]
    return np.array([float(x) for x in LOSS.contraction(*flat)]).reshape(THETA.shape)


CASES = [(phi, 1, target) for phi in ("mean(m1)", "m1*norm(mean(m1))") for target in LIBRARIES]


@pytest.mark.parametrize(
    ("phi", "order", "target"), [*CASES, ("m1 + mean(m1)", 2, "numpy"), ("m1 + mean(m1)", 2, "jax")]
)
def test_directions_are_like_theta(phi: str, order: int, target: str) -> None:
    parameters = {"beta": {"default": 0.5, "range": "[0, 1)"}}
    d = derive(Optimizer("uniform", phi, MOMENTUM, parameters), order)
    module, made = probe.module(TARGETS[target].source(d)), LIBRARIES[target]

    def served(*given: Any) -> Any:
        return made(along(*given))

    higher, layouts = [served] * order, {"theta": ((2, 3),), "grad": ((2, 3),)}
    for n in (2, None):
        pair = d if n is not None else d.limit
        values = {"beta": "1/2", "n": n or 0, "lr": "1/100"}
        pairs = [
            evaluate(each, values, {"theta": POINT}, LOSS, layouts=layouts, digits=20)
            for each in (pair.F, pair.M)
        ]
        update, change = (np.broadcast_to(np.array(each, dtype=float), 6) for each in pairs)
        found = (
            module.memoryless(made(THETA), served, n=n),
            module.correction(made(THETA), served, *higher, n=n, lr=LR),
            module.step(made(THETA), served, *higher, n=n, lr=LR),
        )
        expected = update, change, THETA.reshape(-1) - LR * (update + change)
        for x, y in zip(found, expected, strict=True):
            assert tuple(x.shape) == THETA.shape
            assert np.abs(np.asarray(x).reshape(-1) - y).max() < 1e-12
