"""The probe of an emitted JAX module follows the modified loss inside a gradient map, and says all in one line."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax_probe  # noqa: F401  # numbers of 64 bits
import numpy as np
import probe
import pytest
import torch

import symmem
from symmem.targets.registry import TARGETS
from symmem.training import WithMemory
from symmem.training import probe as torch_probe

START, RATE, BETA = np.array([0.4, -0.7, 1.1]), 0.02, 0.8


def loss(x: Any) -> Any:
    """Of JAX, NumPy and PyTorch alike."""
    return (x**4).sum() / 4 + x[0] * x[1] ** 2 + x[1] * x[2] - x[2]


def hvp(x: Any, v: Any) -> Any:
    return jax.jvp(jax.grad(loss), (x,), (v,))[1]


BRANCHES = symmem.Optimizer(
    "branches", "m1", [symmem.Momentum("grad", "beta", "where(n < 3 or n > 4, 1, 2)")], {"beta": 0.9}
)
"""A gain with branches."""


def followed(
    method: str | symmem.Optimizer, steps: int, skipped: int | None = None, **settings: Any
) -> list[dict[str, Any]]:
    """The probes along a run, one a step; compiled, n traced."""
    module = probe.module(TARGETS["jax"].source(symmem.derive(method)))

    @jax.jit
    def one(x: Any, memory: Any, n: Any) -> Any:
        return module.with_memory(x, jax.grad(loss), memory, n=n, **settings)

    @jax.jit
    def told(x: Any, memory: Any, n: Any, before: Any) -> Any:
        given = {"n": n, "lr": RATE, "loss": loss(x), "previous": before, **settings}
        return module.probe(x, jax.grad(loss), hvp, memory, **given)

    x, memory, found = jnp.asarray(START), None, list[dict[str, Any]]()
    for n in range(steps):
        if n != skipped:
            found.append(told(x, memory, n, found[-1] if found else None))
        update, memory = one(x, memory, n)
        x = x - RATE * update
    assert module.probe_line(found[-1]).endswith(f"modified loss {found[-1]['modified_loss']:.6g}")
    return found


def test_signum_by_its_definition() -> None:
    """S_n = (1 - beta) L + beta S_{n-1} - h beta K*(v_{n-1}), K* = m.v - K(m), K = sum sqrt(m^2 + eps), S_0 = L."""
    eps = 0.05
    found = followed("signum", 7, beta=BETA, eps=eps)
    x, m, value = START.copy(), np.zeros(3), float(loss(START))
    for n, mine in enumerate(found):
        if n:
            v = m / np.sqrt(m**2 + eps)
            dual = float((m * v - np.sqrt(m**2 + eps)).sum())
            x = x - RATE * v
            value = (1 - BETA) * float(loss(x)) + BETA * (value - RATE * dual)
        assert float(mine["modified_loss"]) == pytest.approx(value, rel=1e-12)
        assert float(mine["loss"]) == pytest.approx(float(loss(x)), rel=1e-12)
        m = BETA * m + (1 - BETA) * np.asarray(jax.grad(loss)(jnp.asarray(x)))


@pytest.mark.parametrize(
    "method", ["ema-momentum-debiased", "heavyball", BRANCHES], ids=["debiased", "heavyball", "branches"]
)
def test_it_is_that_of_pytorch(method: str | symmem.Optimizer) -> None:
    """With a factor that depends on the step, and a probe left out, after which the loss itself starts anew."""
    skipped, steps = 3, 7
    found = followed(method, steps, skipped, beta=BETA)
    theta = torch.nn.Parameter(torch.tensor(START))
    model = torch.nn.Module()
    model.theta = theta
    given = {"momentum": BETA} if method == "heavyball" else {"beta": BETA}
    optimizer = WithMemory(method, [theta], lr=RATE, **given)
    expected: list[Any] = []
    for n in range(steps):
        if n != skipped:
            before = expected[-1] if expected else None
            expected.append(torch_probe(model, optimizer, lambda: loss(theta), iterations=0, previous=before))
        optimizer.step(lambda: loss(theta))
    for mine, other in zip(found, expected, strict=True):
        assert float(mine["modified_loss"]) == pytest.approx(other["modified_loss"], rel=1e-12)
        assert float(mine["steps"]) == other["steps"]


def test_the_line_says_what_that_of_pytorch_says() -> None:
    """The same words with the same numbers, and sharpness where it is joined."""
    module = probe.module(TARGETS["jax"].source(probe.derivation("adamw", 1)))
    theta = torch.nn.Parameter(torch.tensor(START))
    model = torch.nn.Module()
    model.theta = theta
    optimizer = WithMemory("adamw", [theta], lr=RATE, eps=1e-3)
    x, memory = jnp.asarray(START), None
    for n in range(3):
        optimizer.step(lambda: loss(theta))
        update, memory = module.with_memory(x, jax.grad(loss), memory, n=n, eps=1e-3)
        x = x - RATE * update
    other = torch_probe(model, optimizer, lambda: loss(theta), iterations=0)
    given = x, jax.grad(loss), hvp, memory
    mine = module.probe(*given, n=3, lr=RATE, eps=1e-3)
    line = module.probe_line({"loss": loss(x), **mine})
    assert other.text.startswith(line)
    edge = module.sharpness(*given, n=3, lr=RATE, eps=1e-3)
    joined = module.probe_line({**mine, **edge})
    bound = (2 - RATE * 0.01) * 19 / RATE  # (2 - lr weight_decay)(1 + beta1)/((1 - beta1) lr)
    value = float(edge["preconditioned_sharpness"])
    assert joined.endswith(f"sharpness {value:.4g}, unstable from {bound:.4g}")
