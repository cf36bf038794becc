"""Negative decays in code: sums over the past of every target, and steps of PyTorch, against brute force."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jax
import jax_probe
import numpy as np
import probe
import pytest
import torch
from compiled import few_passes, module
from octave_probe import needs_octave, probe_functions, run
from truth import LR, THETA, literal_of, load

from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation, derive
from symmem.targets.c.build import build
from symmem.targets.registry import TARGETS
from symmem.training.by_name import Memoryless
from symmem.verification.bruteforce import correction, memoryless

STEPS = (1, 3, 20)
AVERAGES = ({"g": "grad", "beta": "rho", "b": 1}, {"g": "grad**2", "beta": "beta", "b": 1})
NUMBERS = {
    "rho": {"default": -0.5, "range": "(-1, 1)"},
    "beta": {"default": 0.6, "range": "[0, 1)"},
    "eps": {"default": 0.02, "range": "(0, inf)"},
}
TURNING = Optimizer("turning", "m1/sqrt(m2 + eps)", AVERAGES, NUMBERS)
OPTIMIZERS = {"turning": TURNING, "adapnm": load("adapnm")}


@cache
def derived(name: str) -> Derivation:
    return derive(OPTIMIZERS[name])


@cache
def expected(name: str, n: int) -> np.ndarray:
    """``theta - lr (F + M)``, without a formula."""
    literal = literal_of(OPTIMIZERS[name], {p.name: p.default for p in OPTIMIZERS[name].parameters})
    parts = memoryless(literal, THETA, n, 20), correction(literal, THETA, n, LR, 20)
    return probe.THETA64 - float(LR) * sum(np.array([float(x) for x in part]) for part in parts)


def assert_near(step: object, name: str, n: int) -> None:
    assert np.abs(np.asarray(step) - expected(name, n)).max() < 1e-13


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_numpy_and_pytorch(name: str) -> None:
    arrays, tensors = (probe.module(TARGETS[each].source(derived(name))) for each in ("numpy", "torch"))

    def along(theta: torch.Tensor, *v: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(probe.contraction(theta.numpy(), *(each.numpy() for each in v)))

    for n in STEPS:
        assert_near(
            arrays.step(probe.THETA64, probe.contraction, probe.contraction, n=n, lr=float(LR)), name, n
        )
        assert_near(tensors.step(torch.from_numpy(probe.THETA64), along, along, n=n, lr=float(LR)), name, n)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("is_emitted", [False, True])
def test_optimizers_of_pytorch(name: str, is_emitted: bool) -> None:
    """The parameters are put back to the same point before every step, so that only n changes."""
    x = torch.nn.Parameter(torch.from_numpy(probe.THETA64.copy()))
    if is_emitted:
        emitted = probe.module(TARGETS["torch"].source(derived(name)))
        (made,) = (value for key, value in vars(emitted).items() if key.startswith("Memoryless"))
        found = made([x], lr=float(LR), history="expansion")
    else:
        found = Memoryless(OPTIMIZERS[name], [x], lr=float(LR), history="expansion")

    def closure() -> torch.Tensor:
        return sum(
            float(ridge.weight)
            * probe.profile_value(
                torch, ridge.profile, x @ torch.tensor([float(a) for a in ridge.inward], dtype=x.dtype)
            )
            for ridge in probe.LOSS.ridges
        )

    for n in range(max(STEPS) + 1):
        with torch.no_grad():
            x.copy_(torch.from_numpy(probe.THETA64))
        found.step(closure)
        if n in STEPS:
            assert_near(x.detach().numpy(), name, n)


def test_jax() -> None:
    found = probe.module(TARGETS["jax"].source(derived("turning")))
    step = jax.jit(
        lambda n: found.step(probe.THETA64, jax_probe.contraction, jax_probe.contraction, n=n, lr=float(LR))
    )
    for n in STEPS:
        assert_near(step(n), "turning", n)


def test_c(tmp_path: Path) -> None:
    with few_passes():
        build([derived(name) for name in OPTIMIZERS], str(tmp_path / "kernels"))
    for name in OPTIMIZERS:
        found = module(tmp_path / "kernels", name)
        for n in STEPS:
            step = found.step(probe.THETA64.copy(), probe.contraction, probe.contraction, n=n, lr=float(LR))
            assert_near(step, name, n)


@needs_octave
def test_octave(tmp_path: Path) -> None:
    (tmp_path / "turning.m").write_text(TARGETS["octave"].source(derived("turning")))
    script = [*probe_functions(), "made = turning();"]
    script += [
        f"printf('%.17g ', made.step(theta, grad, hvp, 'n', {n}, 'lr', {float(LR)!r})); printf('\\n');"
        for n in STEPS
    ]
    for n, row in zip(STEPS, run(script, tmp_path).splitlines(), strict=True):
        assert_near(np.array(row.split(), float), "turning", n)
