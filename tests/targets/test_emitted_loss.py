"""The emitted modified losses: a preconditioned gradient step on them is the memoryless step."""

from __future__ import annotations

from functools import cache
from types import ModuleType

import jax
import jax.numpy as jnp
import jax_probe
import numpy as np
import probe
import pytest
import torch
from sympy import Symbol
from truth import FIRST, LR, literal_of, load, number_of

from symmem.algebra.results import Bound
from symmem.targets.registry import TARGETS

RATE = float(LR)
EXACT = [("gd", 1), ("heavyball", 1), ("ema-momentum", 1), ("ema-momentum-debiased", 1), ("nesterov", 1)]
EXACT += [("heavyball", 2), ("ema-momentum", 2)]
LIMITS = ["rmsprop", "rmsprop-torch", "adam", "adam-torch", "adamw", "adamw-torch", "nadamw", "signum"]
LIMITS += ["lion", "lion-bc"]


@cache
def emitted(name: str, order: int, target: str) -> ModuleType:
    return probe.module(TARGETS[target].source(probe.derivation(name, order)))


def torch_loss(theta: torch.Tensor) -> torch.Tensor:
    """The probe loss as a differentiable function of a tensor."""
    total = torch.zeros((), dtype=theta.dtype)
    for ridge in probe.LOSS.ridges:
        x = torch.dot(torch.tensor([float(entry) for entry in ridge.inward], dtype=theta.dtype), theta)
        total = total + float(ridge.weight) * probe.profile_value(torch, ridge.profile, x)
    return total


def torch_gradient(theta: torch.Tensor) -> torch.Tensor:
    return torch.func.grad(torch_loss)(theta)


def torch_contraction(theta: torch.Tensor, *vectors: torch.Tensor) -> torch.Tensor:
    if not vectors:
        return torch_gradient(theta)
    *rest, last = vectors
    return torch.func.jvp(lambda x: torch_contraction(x, *rest), (theta,), (last,))[1]


def by_torch(name: str, order: int, values: dict[str, float]) -> np.ndarray:
    """``P grad Ltilde + decay theta``, the gradient by PyTorch."""
    module = emitted(name, order, "torch")
    higher = [torch_contraction] * order if order > 1 else []
    theta = torch.tensor(probe.THETA64, requires_grad=True)
    loss = module.modified_loss(theta, torch_loss, torch_gradient, *higher, lr=RATE, **values)
    slope = torch.autograd.grad(loss, theta)[0]
    factor = module.preconditioner(theta.detach(), torch_gradient, **values)
    decay = module.decay(lr=RATE, **values) if hasattr(module, "decay") else 0.0
    return (factor * slope + decay * theta).detach().numpy()


def by_jax(name: str, order: int, values: dict[str, float]) -> np.ndarray:
    module = emitted(name, order, "jax")
    gradient = jax.grad(jax_probe.loss)
    higher = [jax_probe.contraction] * order if order > 1 else []
    theta = jnp.asarray(probe.THETA64)
    slope = jax.grad(lambda x: module.modified_loss(x, jax_probe.loss, gradient, *higher, lr=RATE, **values))(
        theta
    )
    decay = module.decay(lr=RATE, **values) if hasattr(module, "decay") else 0.0
    return np.asarray(module.preconditioner(theta, gradient, **values) * slope + decay * theta)


def memoryless_step(name: str, order: int, values: dict[str, float]) -> np.ndarray:
    module = emitted(name, order, "numpy")
    higher = [probe.contraction] * order
    first = module.memoryless(probe.THETA64, probe.contraction, **values)
    return first + module.correction(probe.THETA64, probe.contraction, *higher, lr=RATE, **values)


@pytest.mark.parametrize("gradient_step", [by_torch, by_jax])
@pytest.mark.parametrize(("name", "order"), EXACT)
def test_exact_losses_give_the_memoryless_step(name: str, order: int, gradient_step: object) -> None:
    values = probe.parameters(name)
    assert emitted(name, order, "numpy").MODIFIED_LOSS == "exact"
    expected = memoryless_step(name, order, values)
    np.testing.assert_allclose(gradient_step(name, order, values), expected, rtol=1e-11)


@pytest.mark.parametrize("gradient_step", [by_torch, by_jax])
@pytest.mark.parametrize("name", LIMITS)
def test_losses_of_a_limit_are_approached_at_the_stated_rate(name: str, gradient_step: object) -> None:
    """The derivation states O(eps): ten times smaller an eps, ten times smaller a difference."""
    module = emitted(name, 1, "numpy")
    assert module.MODIFIED_LOSS == "eps -> 0"
    assert probe.derivation(name, 1).modified_loss.rate == Bound(Symbol("eps"))
    gaps = []
    sizes = [1e-4, 1e-5, 1e-6]
    for eps in sizes:
        values = {**probe.parameters(name), "eps": eps}
        difference = gradient_step(name, 1, values) - memoryless_step(name, 1, values)
        gaps.append(np.linalg.norm(difference))
    slopes = np.diff(np.log(gaps)) / np.diff(np.log(sizes))
    np.testing.assert_allclose(slopes, 1.0, atol=0.05)


@pytest.mark.parametrize("name", FIRST)
def test_numpy_values_and_absence(name: str) -> None:
    """The potential and P with 50 digits; where there is none, the module has neither."""
    found = probe.derivation(name, 1).modified_loss
    module = emitted(name, 1, "numpy")
    assert hasattr(module, "modified_loss") == hasattr(module, "preconditioner") == (found is not None)
    if found is None:
        return
    values, literal = probe.parameters(name), literal_of(load(name))
    loss = module.modified_loss(probe.THETA64, probe.loss_value, probe.contraction, lr=RATE, **values)
    assert loss == pytest.approx(float(number_of(found.potential, literal)[0]), rel=1e-13)
    factor = module.preconditioner(probe.THETA64, probe.contraction, **values)
    exact = [float(entry) for entry in number_of(found.preconditioner, literal)]
    np.testing.assert_allclose(factor, exact, rtol=1e-13)
