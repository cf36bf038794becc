"""The emitted losses inside a gradient map: the series against 50 digits, the running form along a real run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import jax.numpy as jnp
import jax_probe  # noqa: F401  # JAX counts in float64 from here on
import numpy as np
import probe
import pytest
import torch
from mpmath import mpf
from sympy import Rational
from truth import LOSS, LR, THETA

import symmem
from symmem import Momentum, Optimizer
from symmem.targets.registry import TARGETS
from symmem.verification.evaluation import evaluate
from symmem.verification.ridges import potential_map

MAP = potential_map(3)
BETA = {"default": Rational(3, 5), "range": "[0, 1)"}
DECAY = {"default": Rational(3, 10), "range": "[0, inf)"}
EPS = {"default": Rational(1, 20), "range": "(0, inf)"}
EQUAL = {"beta1": Rational(3, 5), "beta2": Rational(3, 5)}
OPTIMIZERS = {
    "heavyball": symmem.load("heavyball"),
    "ema-momentum": symmem.load("ema-momentum"),
    "signum": symmem.load("signum").with_values({"eps": Rational(1, 20), "beta": Rational(3, 5)}),
    "with decay": Optimizer(
        "decayed",
        "m1/sqrt(m1**2 + eps) + m2",
        [Momentum("grad", "beta", "1 - beta"), Momentum("theta", "0", "wd")],
        {"beta": BETA, "wd": DECAY, "eps": EPS},
    ),
    "lion-k with equal rates": symmem.load("lion-k").with_values(EQUAL),
    "a parameter called m": Optimizer(
        "m", "m*m1", [Momentum("grad", "beta", "1")], {"beta": BETA, "m": DECAY}
    ),
}
CASES = [(name, order) for name in OPTIMIZERS for order in (1, 2)]
MAKERS: dict[str, Callable[[Any], Any]] = {
    "numpy": np.asarray,
    "torch": lambda x: torch.tensor(np.asarray(x)),
    "jax": jnp.asarray,
}


@cache
def emitted(name: str, order: int, target: str) -> ModuleType:
    optimizer = OPTIMIZERS.get(name) or symmem.load(name)
    return probe.module(TARGETS[target].source(symmem.derive(optimizer, order)))


def spelled(target: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of exact vectors as one of the target's vectors; a number stays a number."""

    def called(*vectors: Any) -> Any:
        found = function(*(tuple(mpf(float(x)) for x in vector) for vector in vectors))
        return MAKERS[target]([float(x) for x in found]) if isinstance(found, (tuple, list)) else float(found)

    return called


def opaque(optimizer: Optimizer, target: str, count: int) -> list[Callable[..., Any]]:
    """gradK with so many names, then K."""
    if not optimizer.functions:
        return []
    return [*[spelled(target, MAP)] * count, spelled(target, MAP.potential)]


def exact(expression: Any, optimizer: Optimizer, vectors: dict[str, Any], **more: Any) -> float:
    scalars = {**{p.name: p.default for p in optimizer.parameters}, "lr": LR, **more}
    return float(evaluate(expression, scalars, vectors, LOSS, {"gradK": MAP}, digits=50))


@pytest.mark.parametrize("target", MAKERS)
@pytest.mark.parametrize(("name", "order"), [*CASES, ("lion", 1), ("nesterov", 1), ("lion-k", 1)])
def test_the_series(name: str, order: int, target: str) -> None:
    optimizer = OPTIMIZERS.get(name) or symmem.load(name)
    found = symmem.derive(optimizer, order).gradient_map_loss
    value = spelled(target, LOSS.value)
    contraction = spelled(target, LOSS.contraction)
    higher = [contraction] * order if order > 1 else []
    loss = emitted(name, order, target).gradient_map_loss(
        MAKERS[target](probe.THETA64),
        value,
        contraction,
        *higher,
        *opaque(optimizer, target, order + 1),
        lr=float(LR),
    )
    assert float(loss) == pytest.approx(exact(found.potential, optimizer, {"theta": THETA}), rel=1e-12)


@pytest.mark.parametrize("target", MAKERS)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_running_form(name: str, target: str) -> None:
    optimizer = OPTIMIZERS[name]
    found = symmem.derive(optimizer).gradient_map_loss
    momentum = [0.5, -0.25, 0.125]
    loss = emitted(name, 1, target).running_loss(
        0.75, 0.5, MAKERS[target](momentum), *opaque(optimizer, target, 1), lr=float(LR)
    )
    expected = exact(
        found.running.xreplace({symmem.algebra.atoms.LOSS: Rational(1, 2)}), optimizer,
        {found.map.channel.name: [mpf(x) for x in momentum]}, previous=Rational(3, 4),
    )  # fmt: skip
    assert float(loss) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["nesterov", "lion", "lion-k"])
def test_there_is_no_running_form_without_geometric_memory(name: str) -> None:
    module = emitted(name, 1, "numpy")
    assert hasattr(module, "gradient_map_loss")
    assert not hasattr(module, "running_loss")
    assert not hasattr(emitted(name, 2, "numpy"), "gradient_map_loss")


def test_what_is_no_gradient_map_has_neither() -> None:
    module = emitted("adam", 1, "numpy")
    assert not hasattr(module, "gradient_map_loss")
    assert not hasattr(module, "running_loss")


def test_along_a_run_the_running_form_is_the_series() -> None:
    """Signum with a smooth sign, written here anew: the difference from the series of order 2 shrinks like h^3."""
    module = emitted("signum", 2, "numpy")

    def gap(rate: float) -> float:
        theta = np.array(probe.THETA64)
        gradient = lambda x, *v: np.asarray(probe.contraction(x, *v))  # noqa: E731
        mean, running = gradient(theta), probe.loss_value(theta)
        for _ in range(round(0.6 / rate)):
            mean = 0.6 * mean + 0.4 * gradient(theta)
            theta = theta - rate * mean / np.sqrt(mean**2 + 0.05)
            running = module.running_loss(running, probe.loss_value(theta), mean, lr=rate)
        series = module.gradient_map_loss(theta, probe.loss_value, gradient, gradient, gradient, lr=rate)
        return float(abs(running - series))

    gaps = [gap(rate) for rate in (0.01, 0.005, 0.0025)]
    slopes: Sequence[float] = np.log2(np.array(gaps[:-1]) / np.array(gaps[1:]))
    np.testing.assert_allclose(slopes, 3.0, atol=0.25)
