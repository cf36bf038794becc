"""Every target, every optimizer, orders 1 and 2, finite n and limit, both precisions: one set of 50-digit values."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from types import ModuleType

import jax
import jax.numpy as jnp
import jax_probe
import numpy as np
import probe
import pytest
import torch
from sympy import Sum
from truth import FIRST, LR

from symmem.targets.registry import TARGETS

TOLERANCE = {np.float64: 3e-13, np.float32: 2e-5}


@cache
def emitted(name: str, order: int, target: str) -> ModuleType:
    return probe.module(TARGETS[target].source(probe.derivation(name, order)))


def keywords(name: str, function: str, n: int | None) -> dict[str, object]:
    rate = {} if function == "memoryless" else {"lr": float(LR)}
    return {"n": n, **rate, **probe.parameters(name)}


Values = dict[str, np.ndarray]


def numpy_values(name: str, order: int, theta: np.ndarray, n: int | None) -> Values:
    module = emitted(name, order, "numpy")
    return {
        function: getattr(module, function)(
            theta, *probe.calls(name, order, function), **keywords(name, function, n)
        )
        for function in probe.functions(order)
    }


def torch_values(name: str, order: int, theta: np.ndarray, n: int | None) -> Values:
    def as_tensors(given: Callable[..., np.ndarray]) -> Callable[..., torch.Tensor]:
        return lambda *vectors: torch.from_numpy(given(*(vector.numpy() for vector in vectors)))

    module = emitted(name, order, "torch")
    point = torch.from_numpy(theta)
    return {
        function: getattr(module, function)(
            point, *map(as_tensors, probe.calls(name, order, function)), **keywords(name, function, n)
        ).numpy()
        for function in probe.functions(order)
    }


def jax_functions(
    name: str, order: int, point: jax.Array, step: jax.Array | int | None
) -> dict[str, jax.Array]:
    module = emitted(name, order, "jax")
    return {
        function: getattr(module, function)(
            point, *jax_probe.calls(name, order, function), **keywords(name, function, step)
        )
        for function in probe.functions(order)
    }


@cache
def compiled(name: str, order: int) -> Callable[..., dict[str, jax.Array]]:
    """All functions in one compiled one; the step is traced."""
    return jax.jit(partial(jax_functions, name, order))


def jax_values(name: str, order: int, theta: np.ndarray, n: int | None) -> Values:
    """Compiled in double precision, call by call in single where no sum over the past would be compiled each time.

    Half the compilations, and both ways are seen.
    """
    derived = probe.derivation(name, order)
    loops = n is not None and (derived.F + derived.M).has(Sum)
    is_compiled = loops or theta.dtype == np.float64
    functions = compiled(name, order) if is_compiled else partial(jax_functions, name, order)
    return {key: np.asarray(value) for key, value in functions(jnp.asarray(theta), n).items()}


@pytest.mark.parametrize("values", [numpy_values, torch_values, jax_values])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", FIRST)
def test_values(name: str, order: int, values: Callable[..., Values]) -> None:
    for n in probe.STEPS:
        exact = probe.truth(name, order, n)
        for dtype, tolerance in TOLERANCE.items():
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = values(name, order, probe.THETA64.astype(dtype), n)
            for function, value in found.items():
                assert value.dtype == dtype
                assert exact[function].error(value) < tolerance, (function, n, dtype)
