"""A decay that is 0 when the code runs: 0**0 = 1, and the last step is all that a memory holds.

Sums that stay are cut where their weights no longer count; of a decay 0 the newest weight stays, against brute force.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jax_probe
import numpy as np
import probe
import pytest
import torch
from octave_probe import needs_octave, probe_functions, run
from truth import LR, THETA, literal_of

from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation, derive
from symmem.targets.registry import TARGETS
from symmem.verification.bruteforce import correction, memoryless

STEPS = (0, 1, 4)
NONE = {"default": 0, "range": "[0, 1)"}
NUMBERS = {
    "beta": {"default": 0.6, "range": "[0, 1)"},
    "rho": NONE,
    "eps": {"default": 0.02, "range": "(0, inf)"},
}
READING = Optimizer(
    "reading",
    "m2",
    (
        {"g": "grad**2", "beta": "beta", "b": "1 - beta"},
        {"g": "grad/sqrt(m1 + eps)", "beta": "rho", "b": "1 - rho"},
    ),
    NUMBERS,
)


@cache
def derived() -> Derivation:
    return derive(READING)


@cache
def parts(n: int) -> tuple[np.ndarray, np.ndarray]:
    """F and M, without a formula."""
    literal = literal_of(READING, {each.name: each.default for each in READING.parameters})
    found = memoryless(literal, THETA, n, 20), correction(literal, THETA, n, LR, 20)
    update, change = (np.array([float(x) for x in part]) for part in found)
    return update, change


def assert_near(step: object, n: int) -> None:
    assert np.abs(np.asarray(step) - (probe.THETA64 - float(LR) * sum(parts(n)))).max() < 1e-13


@pytest.mark.parametrize("n", STEPS)
def test_numpy_pytorch_and_jax(n: int) -> None:
    arrays, tensors, traced = (
        probe.module(TARGETS[each].source(derived())) for each in ("numpy", "torch", "jax")
    )

    def along(theta: torch.Tensor, *v: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(probe.contraction(theta.numpy(), *(each.numpy() for each in v)))

    rest = {"n": n, "lr": float(LR)}
    assert_near(arrays.step(probe.THETA64, probe.contraction, probe.contraction, **rest), n)
    assert_near(tensors.step(torch.from_numpy(probe.THETA64), along, along, **rest), n)
    assert_near(traced.step(probe.THETA64, jax_probe.contraction, jax_probe.contraction, **rest), n)


@needs_octave
def test_octave(tmp_path: Path) -> None:
    (tmp_path / "reading.m").write_text(TARGETS["octave"].source(derived()))
    script = [*probe_functions(), "made = reading();"]
    script += [
        f"printf('%.17g ', made.step(theta, grad, hvp, 'n', {n}, 'lr', {float(LR)!r})); printf('\\n');"
        for n in STEPS
    ]
    for n, row in zip(STEPS, run(script, tmp_path).splitlines(), strict=True):
        assert_near(np.array(row.split(), float), n)
