"""``erf``, the mean of a sign over Gaussian noise: in every language, and as a smooth theory of Signum."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import torch
from mpmath import mpf
from octave_probe import needs_octave, run
from probe import module
from sympy import Symbol, lambdify

import symmem
from symmem import Momentum, Optimizer
from symmem.targets.numpy.helpers import _erf
from symmem.targets.registry import TARGETS

jax.config.update("jax_enable_x64", True)
POSITIVE = {"default": 0.5, "range": "(0, inf)"}
SIGNUM = Optimizer(
    "gaussian",
    "sign(m1)",
    [Momentum("grad", "beta", "1 - beta")],
    {"beta": {"default": 0.6, "range": "[0, 1)"}, "sigma": POSITIVE},
    smooth={"sign": "erf(x/(sigma*sqrt(2)))"},
)
POINTS = np.array([-1.3, -0.2, 1e-8, 0.7, 3.0])
MAKE: dict[str, Any] = {"numpy": np.asarray, "torch": torch.tensor, "jax": jnp.asarray}


def truth() -> list[mpf]:
    """F + M of Signum's smooth theory in the limit, on L = theta^2/2 at h = 1/10, written by hand."""
    beta, sigma, h = mpf(3) / 5, mpf(1) / 2, mpf(1) / 10
    found = []
    for x in map(mpf, POINTS):
        update = mpmath.erf(x / (sigma * mpmath.sqrt(2)))
        slope = 2 / (sigma * mpmath.sqrt(2 * mpmath.pi)) * mpmath.exp(-(x**2) / (2 * sigma**2))
        found.append(update + h * beta / (1 - beta) * slope * update)
    return found


@pytest.mark.parametrize("target", MAKE)
def test_values_in_python(target: str) -> None:
    made: ModuleType = module(TARGETS[target].source(symmem.derive(SIGNUM)))
    theta = MAKE[target](POINTS)
    found = made.memoryless(theta, lambda x: x) + made.correction(theta, lambda x: x, lambda _, v: v, lr=0.1)
    assert max(abs(x - y) / abs(y) for x, y in zip(found.tolist(), truth(), strict=True)) < 1e-14


@needs_octave
def test_values_in_octave(tmp_path: Path) -> None:
    (tmp_path / "symmem_gaussian.m").write_text(TARGETS["octave"].source(symmem.derive(SIGNUM)), "utf-8")
    script = [
        "f = symmem_gaussian(); x = [-1.3 -0.2 1e-8 0.7 3]; g = @(t) t; h = @(t, v) v;",
        "printf('%.17g ', f.memoryless(x, g) + f.correction(x, g, h, 'lr', 0.1));",
    ]
    found = list(map(float, run(script, tmp_path).split()))
    assert max(abs(x - y) / abs(y) for x, y in zip(found, truth(), strict=True)) < 1e-14


def test_numpy_has_its_own_with_all_digits() -> None:
    points = np.concatenate([10.0 ** np.linspace(-300, 1, 300), np.linspace(0.0, 7.0, 2000)])
    exact = np.array([float(mpmath.erf(mpf(x))) for x in points])
    assert (np.abs(_erf(points) - exact) <= 2e-15 * exact).all()
    assert (_erf(-points) == -_erf(points)).all()
    assert np.isnan(_erf(np.array([np.nan]))).all()
    assert _erf(np.array([np.inf], dtype=np.float32)).dtype == np.float32


def test_it_is_the_mean_of_the_sign() -> None:
    """By integration over the noise: sign(x + sigma xi) is 1 where xi > -x/sigma."""

    def density(xi: mpf) -> mpf:
        return mpmath.exp(-(xi**2) / 2) / mpmath.sqrt(2 * mpmath.pi)

    update = lambdify([Symbol("grad"), Symbol("sigma")], symmem.derive(SIGNUM).limit.F, "mpmath")
    for x in map(mpf, POINTS):
        above = mpmath.quad(density, [-2 * x, -2 * x + 4, mpmath.inf])
        assert abs(2 * above - 1 - update(x, mpf(1) / 2)) < 1e-13
