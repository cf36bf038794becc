"""Numbers in emitted modules of which Python makes an exception: zeros below a line, roots of plain numbers."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from probe import module

import symmem
from symmem import Momentum, Optimizer
from symmem.targets.registry import TARGETS

BETA = {"default": 0.9, "range": "[0, 1)"}
POLES = Optimizer(
    "poles",
    "m1/(nu - 1)",
    [Momentum("grad", "beta", "1/(n - nu + 1/2)")],
    {"beta": BETA, "nu": {"default": 2}},
)
ROOTS = Optimizer(
    "roots",
    "m1/sqrt(eps) + m1*exp(eps)/sqrt(1 + nu**2)",
    [Momentum("grad/sqrt(eps + nu)", "beta", "1/sqrt(1 - beta**(n + 1))")],
    {"beta": BETA, "eps": {"default": 0.01, "range": "(0, inf)"}, "nu": {"default": 2, "range": "[0, inf)"}},
)
ONES: dict[str, Any] = {
    "numpy": np.ones(2),
    "torch": torch.ones(2, dtype=torch.float64),
    "jax": jnp.ones(2),
}


def emitted(optimizer: Optimizer, target: str) -> ModuleType:
    return module(TARGETS[target].source(symmem.derive(optimizer)))


def called(made: ModuleType, name: str, one: Any, **settings: Any) -> Any:
    products = {} if name == "memoryless" else {"hvp": lambda theta, v: v, "lr": 0.1}
    return getattr(made, name)(one, lambda theta: theta, **products, **settings)


@pytest.mark.parametrize("target", ONES)
def test_a_pole_is_a_value_error_in_words(target: str) -> None:
    made, one = emitted(POLES, target), ONES[target]
    for name in ("memoryless", "correction", "step"):
        with pytest.raises(ValueError, match="nu - 1 = 0, and a formula divides by it"):
            called(made, name, one, n=3, nu=1.0)
        with pytest.raises(ValueError, match=r"2 \* n \+ 1 - 2 \* nu = 0"):
            called(made, name, one, n=2, nu=2.5)
        assert np.isfinite(np.asarray(called(made, name, one, n=3, nu=2.0))).all()


@pytest.mark.parametrize("name", ["memoryless", "correction"])
@pytest.mark.parametrize("n", [3, None])
def test_roots_of_plain_numbers(name: str, n: int | None) -> None:
    """Also in numbers for many past steps at once, and in the optimizer class."""
    values = [
        np.asarray(called(emitted(ROOTS, target), name, ONES[target], n=n)) for target in ("numpy", "torch")
    ]
    np.testing.assert_allclose(values[1], values[0], rtol=1e-13)


def test_roots_in_the_optimizer_class() -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    optimizer = emitted(ROOTS, "torch").Memorylessroots([parameter])
    for _ in range(3):
        optimizer.step(lambda: torch.square(parameter).sum())
    assert torch.isfinite(parameter).all()
    assert (parameter < 1).all()
