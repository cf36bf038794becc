"""Every target, every optimizer, orders 1 and 2, finite n and limit, both precisions: one set of 50-digit values."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import cache, partial
from types import ModuleType

import jax
import jax.numpy as jnp
import jax_probe
import numpy as np
import probe
import pytest
import torch
from truth import FIRST, LR, SHOWN, shown_first

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
    """Compiled, but for the limit in single precision, which is called as it stands: both ways are seen.

    At a step there are loops, and each would be compiled by itself.
    """
    is_compiled = n is not None or theta.dtype == np.float64
    functions = compiled(name, order) if is_compiled else partial(jax_functions, name, order)
    return {key: np.asarray(value) for key, value in functions(jnp.asarray(theta), n).items()}


def assert_true(
    values: Callable[..., Values], name: str, order: int, dtypes: Iterable[type] = TOLERANCE
) -> None:
    """Every function at every step, in these precisions."""
    for n in probe.STEPS:
        exact = probe.truth(name, order, n)
        for dtype in dtypes:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = values(name, order, probe.THETA64.astype(dtype), n)
            for function, value in found.items():
                assert value.dtype == dtype
                assert exact[function].error(value) < TOLERANCE[dtype], (function, n, dtype)


@pytest.mark.parametrize("values", [numpy_values, torch_values])
@pytest.mark.parametrize(("name", "order"), [*((name, 1) for name in FIRST), *shown_first(FIRST, 2)])
def test_values(name: str, order: int, values: Callable[..., Values]) -> None:
    assert_true(values, name, order)


SINGLE = ("adamw", "lion-k")
"""In single precision and at order 2 in JAX: an average of squares, a map that is given."""


@pytest.mark.parametrize("name", SHOWN)
def test_values_of_jax(name: str) -> None:
    """The Program is the same as for NumPy: what JAX adds is compiled; for all entries under make prove."""
    assert_true(jax_values, name, 1, TOLERANCE if name in SINGLE else [np.float64])


@pytest.mark.parametrize("name", SINGLE)
def test_values_of_jax_at_order_two(name: str) -> None:
    assert_true(jax_values, name, 2, [np.float64])


@pytest.mark.prove
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", FIRST)
def test_all_values_of_jax(name: str, order: int) -> None:
    assert_true(jax_values, name, order)
