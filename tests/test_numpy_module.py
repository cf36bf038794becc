"""The emitted NumPy modules: their values, what they call, and how they treat arrays."""

from __future__ import annotations

import warnings
from functools import cache
from types import ModuleType

import numpy as np
import probe
import pytest
from truth import LR, ZOO

from symmem.emission.numpy_module import numpy_module

TOLERANCE = {np.float64: 2e-13, np.float32: 2e-5}


@cache
def emitted(name: str, order: int = 1) -> ModuleType:
    return probe.module(numpy_module(probe.derivation(name, order)))


def run(name: str, order: int, function: str, theta: np.ndarray, **more: object) -> np.ndarray:
    rate = {} if function == "memoryless" else {"lr": float(LR)}
    given = probe.calls(name, order, function)
    return getattr(emitted(name, order), function)(theta, *given, **rate, **probe.parameters(name), **more)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n", probe.STEPS)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", ZOO)
def test_values(name: str, order: int, n: int | None, dtype: type) -> None:
    exact = probe.truth(name, order, n)
    for function in ("memoryless", "correction", "step"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = run(name, order, function, probe.THETA64.astype(dtype), n=n)
        assert found.dtype == dtype
        assert exact[function].error(found) < TOLERANCE[dtype], function
