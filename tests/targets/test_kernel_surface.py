"""The Python module of a built library has the functions of the emitted NumPy module: names, signatures, values.

The NumPy module is emitted here, not the copy that lies beside the library.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import probe
import pytest
import torch
from compiled import KERNELS, built
from compiled import module as built_module

import symmem
from symmem import Momentum, Optimizer
from symmem.targets.c.build import build
from symmem.targets.registry import TARGETS

OWN = {"direction", "correction_from", "step_from", "straight_from", "version", "torch_operators"} | {
    *("initial_memory", "update", "corrected_update", "straight_update")
}
"""What the module of a library has beyond the other."""
MATRIX = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.25], [0.0, -0.25, 1.5]])
THETA = np.array([0.75, -1.25, 0.5])
BETA = {"default": 0.6, "range": "[0, 1)"}
NAMED = Optimizer(
    "named",
    "m*float*hv*m1 + g*m2",
    [Momentum("grad", "beta", "1 - beta"), Momentum("theta", "0", "1")],
    {"beta": BETA, "m": 1, "float": 2, "g": 0.25, "hv": 1},
)
"""Parameters with the names of arguments and of a built-in function."""
DELAYED = Optimizer(
    "delayed", "m2", [Momentum("grad", delay=1), Momentum("grad - m1", "beta", "1")], {"beta": BETA}
)
"""A cascade."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("surface")
    return build([symmem.derive(NAMED), symmem.derive(DELAYED)], str(folder / "own"))


@cache
def emitted(optimizer: Optimizer) -> ModuleType:
    return probe.module(TARGETS["numpy"].source(symmem.derive(optimizer)))


def public(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """The functions without an underscore that were defined there."""
    found = {name: value for name, value in vars(module).items() if inspect.isfunction(value) or name in OWN}
    return {name: value for name, value in found.items() if not name.startswith("_")}


def as_numbers(library: Any, name: str) -> list[Any]:
    """What is given by position, as vectors of the library."""

    def vector(values: Any) -> Any:
        return library.as_tensor(np.asarray(values)) if library is torch else np.asarray(values)

    matrix, theta, m = vector(MATRIX), vector(THETA), vector([0.25, -0.5, 1.0])
    given = {
        "memoryless": [theta, lambda x: matrix @ x],
        "modified_loss": [theta, lambda x: 0.5 * x @ matrix @ x, lambda x: matrix @ x],
        "preconditioner": [theta, lambda x: matrix @ x],
        "decay": [],
        "gradient_map_loss": [theta, lambda x: 0.5 * x @ matrix @ x, lambda x: matrix @ x],
        "running_loss": [vector(1.5), vector(0.75), m],
    }
    return given.get(name, [theta, lambda x: matrix @ x, lambda x, v: matrix @ v])


def check(made: ModuleType, expected: ModuleType) -> set[str]:
    functions, others = public(made), public(expected)
    assert set(functions) - OWN == set(others)
    assert getattr(made, "MODIFIED_LOSS", None) == getattr(expected, "MODIFIED_LOSS", None)
    for name, function in others.items():
        assert inspect.signature(functions[name]) == inspect.signature(function)
        assert functions[name].__doc__ == function.__doc__
        accepted = inspect.signature(function).parameters
        rate = {"lr": 0.01} if "lr" in accepted else {}
        for step in [{"n": 0}, {"n": 3}, {}] if "n" in accepted else [{}]:
            exact = function(*as_numbers(np, name), **rate, **step)
            for library in (np, torch):
                found = functions[name](*as_numbers(library, name), **rate, **step)
                np.testing.assert_allclose(np.asarray(found), exact, rtol=1e-12, atol=1e-14)
    return set(others)


@pytest.mark.parametrize("name", ["gd", "heavyball", "nesterov", "rmsprop", "adamw", "signum", "lion"])
def test_the_zoo(shared_folder: Path, name: str) -> None:
    check(built_module(built(shared_folder, KERNELS, "quick"), name), emitted(symmem.load(name)))


def test_hard_names_and_a_cascade(own: Path) -> None:
    found = check(built_module(own, "named"), emitted(NAMED))
    assert {"gradient_map_loss", "running_loss", "modified_loss", "decay", "straight"} <= found
    check(built_module(own, "delayed"), emitted(DELAYED))
