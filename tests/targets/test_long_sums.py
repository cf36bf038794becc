"""Sums over the past that stay: a rule of few nodes stands for it, to the last digits."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import numpy as np
import past_sums
import probe
import pytest
import torch
from past_sums import GRAD, HESSIAN, NAMES, RATE, STEPS, THETA, VALUES
from triton_probe import MACHINES, interpreted, tensor

import symmem

TOLERANCE = 2e-14


@cache
def truth(name: str, n: int) -> np.ndarray:
    return past_sums.correction(name, n)


@cache
def emitted(name: str, target: str) -> Any:
    return probe.module(symmem.emit(probe.derivation(name, 1), target))


def counted(calls: list[int], function: Callable[..., Any]) -> Callable[..., Any]:
    def inner(*given: Any) -> Any:
        calls.append(1)
        return function(*given)

    return inner


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("target", "array"), [("numpy", np.asarray), ("torch", torch.from_numpy)])
def test_values(name: str, target: str, array: Callable[..., Any]) -> None:
    module, given = emitted(name, target), tuple(array(each.copy()) for each in (THETA, GRAD, HESSIAN))
    for n in STEPS:
        found = module.correction(
            given[0], lambda _: given[1], lambda _, v: given[2] * v, n=n, lr=RATE, **VALUES[name]
        )
        np.testing.assert_allclose(found, truth(name, n), rtol=TOLERANCE, err_msg=str(n))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("target", "array"), [("numpy", np.asarray), ("torch", torch.from_numpy), ("jax", np.float32)]
)
def test_the_last_step_that_is_taken_is_the_limit(name: str, target: str, array: Callable[..., Any]) -> None:
    """Far beyond memory the numbers are those of the limit; behind 2**53 a float does not know its neighbours.

    There the ages of past steps were wrong, and M with them: by a factor of 40 at 10**30.  JAX counts in 32 bits here.
    """
    module, given = emitted(name, target), tuple(array(each.copy()) for each in (THETA, GRAD, HESSIAN))
    values = {key: value for key, value in VALUES[name].items() if not key.startswith("beta")}
    most, unit = (2**30, 1e-4) if target == "jax" else (2**53, 1e-12)

    def value(n: int | None) -> Any:
        return module.correction(
            given[0], lambda _: given[1], lambda _, v: given[2] * v, n=n, lr=RATE, **values
        )

    with jax.enable_x64(False):  # whatever other tests have set
        np.testing.assert_allclose(value(most), value(None), rtol=unit)
        for n in (most + 1, 2**62, 2**64, 10**30):
            with pytest.raises(ValueError, match=r"count from 0 to .*; n=None is the limit"):
                value(n)


@pytest.mark.parametrize(("target", "array"), [("numpy", np.asarray), ("torch", torch.from_numpy)])
def test_more_steps_than_memory_holds_are_refused(target: str, array: Callable[..., Any]) -> None:
    """Before anything is laid out: a decay of 1 - 1e-8 remembers 4e9 steps, 34 gigabytes in each column."""
    correction, one = emitted("rmsprop", target).correction, array(np.ones(1))

    def value(n: int) -> Any:
        return correction(one, lambda x: x, lambda x, v: v, n=n, lr=RATE, beta=1 - 1e-8)

    with pytest.raises(ValueError, match=r"past steps are remembered.* smaller decays"):
        value(10**10)
    assert np.isfinite(float(value(10**4)[0]))


def test_float32_stays_and_is_right() -> None:
    module = emitted("rmsprop", "numpy")
    theta, grad, hessian = (each.astype(np.float32) for each in (THETA, GRAD, HESSIAN))
    found = module.correction(theta, lambda _: grad, lambda _, v: hessian * v, n=1000, lr=RATE)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, truth("rmsprop", 1000), rtol=2e-6)


@pytest.mark.parametrize(
    "name", ["rmsprop", *(pytest.param(each, marks=pytest.mark.prove) for each in NAMES[1:])]
)
def test_jax_with_a_traced_step(name: str) -> None:
    """One compilation for all n."""
    import jax  # noqa: PLC0415
    import jax_probe  # noqa: F401, PLC0415  # 64 bits

    module = emitted(name, "jax")
    traced: list[int] = []
    grad = counted(traced, lambda _: jax.numpy.asarray(GRAD))
    compiled = jax.jit(
        lambda theta, n: module.correction(
            theta, grad, lambda _, v: jax.numpy.asarray(HESSIAN) * v, n=n, lr=RATE, **VALUES[name]
        )
    )
    for n in STEPS:
        np.testing.assert_allclose(compiled(THETA, n), truth(name, n), rtol=TOLERANCE, err_msg=str(n))
    assert len(traced) == 1


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["rmsprop", pytest.param("lion", marks=pytest.mark.prove)])
def test_triton(name: str, machine: str) -> None:
    module, values = interpreted(probe.derivation(name, 1), machine), VALUES[name]
    theta, grad = tensor(THETA), tensor(GRAD)
    for n in STEPS:
        products = [tensor(HESSIAN) * each for each in module.direction(theta, grad, n=n, **values)]
        found = module.correction(theta, grad, products, n=n, lr=RATE, **values)
        np.testing.assert_allclose(found, truth(name, n), rtol=TOLERANCE, err_msg=str(n))


@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_the_cost_does_not_grow_with_the_step(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many steps there were, and with a memory of 400,000 of them; past the memory one node is the limit."""
    module, rows = emitted("rmsprop", target), list[int]()
    rule = module._rule
    monkeypatch.setattr(module, "_rule", lambda *given: rows.append(len(found := rule(*given))) or found)
    theta = np.ones(2) if target == "numpy" else torch.ones(2)
    for n, beta in ((100, 0.99), (1000, 0.99), (3 * 10**4, 0.9999), (10**6, 0.9999), (10**5, 0.99)):
        module.correction(theta, lambda x: x, lambda _, v: v, n=n, lr=RATE, beta=beta)
    assert max(rows) <= 30
    assert rows[-2:] == [1, 1]
