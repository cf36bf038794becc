"""The Python runtime of built kernels by itself: copies, places and checks, over a library that is not there."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from symmem.targets.c.runtime.calls import CheckedCall, address, array, pointer
from symmem.targets.c.runtime.kernels import Kernels
from symmem.targets.c.runtime.operators import torch_operators

REAL = {"f32": ctypes.c_float, "f64": ctypes.c_double}


class Imitated(Kernels):
    """Two directions, 2g and theta + g; correction = lr (theta + w hv_1 - hv_2); step = theta - lr g - correction."""

    def __init__(self) -> None:
        names = ("imitated", "symmem_imitated", "nowhere", ["w"], __file__)
        super().__init__(*names, declaration="none", checked=CheckedCall)
        self.calls: list[str] = []

    def symbol(self, name: str) -> Any:
        if name == "directions":
            return lambda n: 2
        if name == "message":
            return lambda status: f"status {status}".encode()
        role, _, suffix = name.partition("_")

        def run(*given: Any) -> int:
            self.calls.append(name)
            return self._run(role, lambda address, count: view(address, count, REAL[suffix]), *given)

        return run

    def _run(self, role: str, at: Callable[[int, int], np.ndarray], *given: Any) -> int:
        late = role in ("correction", "step")
        *vectors, count, n, lr, reference = given if late else (*given[:-1], 0.0, given[-1])
        w = reference._obj.w
        if w < 0:
            return 3
        theta, g = at(vectors[0], count), at(vectors[1], count)
        if role == "memoryless":
            at(vectors[2], count)[:] = w * g + (n if n >= 0 else 100)
        elif role == "direction":
            at(vectors[2], 2 * count)[:] = np.concatenate([2 * g, theta + g])
        else:
            first, second = at(vectors[2], 2 * count).reshape(2, count)
            change = lr * (theta + w * first - second)
            target = theta if role == "step" else at(vectors[3], count)
            target[:] = theta - lr * g - change if role == "step" else change
        return 0


def view(place: Any, count: int, kind: Any) -> np.ndarray:
    at = place if isinstance(place, int) else ctypes.addressof(place)
    return np.ctypeslib.as_array(ctypes.cast(at, ctypes.POINTER(kind)), (count,))


THETA, G = np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.25, -1.0])
HESSIAN = np.diag([2.0, 3.0, 5.0])
W, LR = 0.7, 0.1
CHANGE = LR * (THETA + W * HESSIAN @ (2 * G) - HESSIAN @ (THETA + G))
STEP = THETA - LR * G - CHANGE


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("made", [np.asarray, torch.tensor], ids=["array", "tensor"])
def test_the_functions_of_the_caller_are_called_between_the_kernels(made: Any, dtype: type) -> None:
    kernels = Imitated()
    theta, g, hessian = (made(each.astype(dtype)) for each in (THETA, G, HESSIAN))
    call = kernels.call(theta, 4, W)
    close = {"rtol": 1e-5 if dtype == np.float32 else 1e-14}
    np.testing.assert_allclose(array(call.memoryless(lambda x: g, None)), W * G + 4, **close)
    np.testing.assert_allclose(
        array(call.correction(lambda x: g, lambda x, v: hessian @ v, LR, None)), CHANGE, **close
    )
    stepped = call.step(lambda x: g, lambda x, v: hessian @ v, LR, None)
    np.testing.assert_allclose(array(stepped), STEP, **close)
    assert array(stepped).dtype == dtype
    assert type(stepped) is type(theta)
    np.testing.assert_array_equal(array(theta), THETA.astype(dtype))  # not changed by the way
    suffix = "f64" if dtype == np.float64 else "f32"
    assert {name.rpartition("_")[2] for name in kernels.calls} == {suffix}


def test_the_limit_and_whole_numbers() -> None:
    np.testing.assert_allclose(Imitated().call(THETA, None, W).memoryless(lambda x: G, None), W * G + 100)
    found = Imitated().call(np.array([1, 2]), 0, W).memoryless(lambda x: x, None)
    assert found.dtype == np.float64


def test_results_are_written_where_the_caller_says() -> None:
    call = Imitated().call(THETA, 0, W)
    products = np.stack([HESSIAN @ (2 * G), HESSIAN @ (THETA + G)])
    for out in (np.empty(3), np.empty(6)[::2]):
        assert call.correction_from(G, products, LR, out) is out
        np.testing.assert_allclose(out, CHANGE)
    theta = THETA.copy()
    assert Imitated().call(theta, 0, W).step_from(G, products, LR, theta) is theta
    np.testing.assert_allclose(theta, STEP)
    room = np.concatenate([THETA, [0.0]])  # a result that overlaps its input, one entry on
    np.testing.assert_allclose(Imitated().call(room[:-1], 0, W).step_from(G, products, LR, room[1:]), STEP)
    alias = G.copy()
    np.testing.assert_allclose(Imitated().call(THETA, 0, W).step_from(alias, products, LR, alias), STEP)


@pytest.mark.parametrize(
    ("error", "words", "theta", "n", "w"),
    [
        (ValueError, "steps count from 0", THETA, -1, W),
        (ValueError, "status 3", THETA, 0, -1.0),
        (TypeError, "longdouble|float128", THETA.astype(np.longdouble), 0, W),
        (ValueError, "returned", np.ones(4), 0, W),
    ],
)
def test_what_is_wrong_is_said(error: type, words: str, theta: np.ndarray, n: int, w: float) -> None:
    with pytest.raises(error, match=words):
        Imitated().call(theta, n, w).memoryless(lambda x: G, None)


def test_places() -> None:
    room = np.arange(6.0)
    assert address(room[1:]) == address(room) + 8 == ctypes.addressof(pointer(room[1:]))
    frozen = np.frombuffer(bytes(16))
    assert pointer(frozen[1:]) == pointer(frozen) + 8
    tensor = torch.arange(3.0)
    assert address(array(tensor)) == address(tensor) == pointer(tensor)


def test_operators() -> None:
    operators = torch_operators(Imitated())
    theta, g = torch.tensor(THETA), torch.tensor(G)
    directions = operators.direction(theta, g, -1, [W])
    np.testing.assert_allclose(directions.numpy(), [2 * G, THETA + G])
    products = directions @ torch.tensor(HESSIAN)
    np.testing.assert_allclose(operators.correction(theta, g, products, 3, LR, [W]).numpy(), CHANGE)
    assert operators.step_(theta, g, products, 3, LR, [W]) is None
    np.testing.assert_allclose(theta.numpy(), STEP)
    assert operators.directions(5) == 2
    torch.library.opcheck(operators.correction, (theta, g, products, 3, LR, [W]))
