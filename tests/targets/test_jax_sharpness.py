"""The edge of stability in the emitted JAX module: against dense matrices, and against runs on a parabola."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import probe
import pytest

from symmem.targets.registry import TARGETS

jax.config.update("jax_enable_x64", True)
RATE, BETA = 0.01, 0.8
SETTINGS = {"beta1": 0.8, "beta2": 0.95, "eps": 1e-3, "weight_decay": 0.2}
MATRIX = np.diag([-9.0, 0.5, 1.0, 2.0, 3.0]) + 0.4 * np.ones((5, 5))
START = {"a": np.linspace(-1, 1, 3), "b": np.linspace(0.3, -0.7, 2).reshape(2, 1)}


@cache
def emitted(name: str) -> ModuleType:
    return probe.module(TARGETS["jax"].source(probe.derivation(name, 1)))


def flat(theta: Any) -> Any:
    return jnp.concatenate([jnp.ravel(theta["a"]), jnp.ravel(theta["b"])])


def loss(theta: Any) -> Any:
    wave = jnp.sin(flat(theta))
    return 0.5 * wave @ jnp.asarray(MATRIX) @ wave + 0.3 * flat(theta).sum()


def hvp(theta: Any, v: Any) -> Any:
    return jax.jvp(jax.grad(loss), (theta,), (v,))[1]


@pytest.mark.parametrize("name", ["adamw-torch", "adam-l2"])
def test_adam_and_its_decays(name: str) -> None:
    """P from moments that a loop makes; n is traced.  beta1 = 0.8: (2 - lr decay) 1.8/0.2/lr."""
    theta = {key: jnp.asarray(value) for key, value in START.items()}
    coupled = SETTINGS["weight_decay"] if name == "adam-l2" else 0.0
    memory, moments = None, 0.0
    for n in range(4):
        if n < 3:
            _, memory = emitted(name).with_memory(theta, jax.grad(loss), memory, n=n, **SETTINGS)
        slope = flat(jax.grad(loss)(theta)) + coupled * flat(theta)
        moments = 0.95 * moments + 0.05 * slope**2
        if n < 3:
            theta = jax.tree.map(lambda x: 0.9 * x + 0.05, theta)
    compiled = jax.jit(
        lambda x, kept, n: emitted(name).sharpness(x, jax.grad(loss), hvp, kept, n=n, lr=RATE, **SETTINGS)
    )
    found = compiled(theta, memory, 3)
    root = np.sqrt(1 / (np.sqrt(moments / (1 - 0.95**4)) + SETTINGS["eps"]))
    hessian = np.stack([flat(hvp(theta, {"a": row[:3], "b": row[3:].reshape(2, 1)})) for row in jnp.eye(5)])
    expected = np.linalg.eigvalsh(root[:, None] * (hessian + coupled * np.eye(5)) * root)[-1]
    assert float(found["preconditioned_sharpness"]) == pytest.approx(float(expected), rel=1e-8)
    bound = (2 - RATE * (SETTINGS["weight_decay"] - coupled)) * 9 / RATE
    assert float(found["sharpness_threshold"]) == pytest.approx(bound, rel=1e-8)


def heavy_ball(slope: Callable[[float], float], x: float, m: float) -> tuple[float, float]:
    m = BETA * m + slope(x)
    return x - RATE * m, m


def nesterov(slope: Callable[[float], float], x: float, m: float) -> tuple[float, float]:
    m = BETA * m + slope(x)
    return x - RATE * (slope(x) + BETA * m), m


@pytest.mark.parametrize(("name", "step"), [("heavyball", heavy_ball), ("nesterov", nesterov)])
def test_a_run_on_a_parabola_ends_below_the_threshold_alone(name: str, step: Any) -> None:
    def at(curvature: float) -> dict[str, Any]:
        theta = jnp.asarray([0.7])
        return emitted(name).sharpness(
            theta, lambda x: curvature * x, lambda _, v: curvature * v, None, n=0, lr=RATE, beta=BETA
        )

    def size(curvature: float) -> float:
        x, m = 1.0, 0.0
        for _ in range(4000):
            x, m = step(lambda x: curvature * x, x, m)
        return abs(x)

    unit = at(1.0)
    critical = float(unit["sharpness_threshold"]) / float(unit["preconditioned_sharpness"])
    assert float(at(critical)["preconditioned_sharpness"]) == pytest.approx(
        float(unit["sharpness_threshold"]), rel=1e-6
    )
    assert size(0.99 * critical) < 1e-3
    assert size(1.01 * critical) > 1e3


def test_a_method_without_such_a_recursion_has_no_such_function() -> None:
    assert not hasattr(emitted("lion"), "sharpness")
