"""The Python module of built kernels: NumPy arrays and tensors of any kind, no copies, custom operators."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch
from compiled import KERNELS, built, formulas, module

RATE = 0.01


@pytest.fixture
def adamw(shared_folder: Path) -> object:
    return module(built(shared_folder, KERNELS, "quick"), "adamw")


def quadratic(dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    matrix = random.normal(size=(12, 12))
    return (matrix @ matrix.T).astype(dtype), random.normal(size=12).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [None, 0, 4])
@pytest.mark.parametrize("name", ["adamw", "rmsprop", "heavyball", "gd"])
def test_tensors_and_arrays_agree(shared_folder: Path, name: str, n: int | None, dtype: type) -> None:
    """The same bits, and the values of the NumPy module that is laid out beside it."""
    found = module(built(shared_folder, KERNELS, "quick"), name)
    exact_module = formulas(found)
    matrix, theta = quadratic(dtype)
    tensor, operator = torch.tensor(theta), torch.tensor(matrix)
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-11}
    for function in ("memoryless", "correction", "step"):
        rate = {} if function == "memoryless" else {"lr": RATE}
        higher = 0 if function == "memoryless" else 1
        arrays = [lambda x: matrix @ x, lambda x, v: matrix @ v][: 1 + higher]
        tensors = [lambda x: operator @ x, lambda x, v: operator @ v][: 1 + higher]
        value = getattr(found, function)(theta, *arrays, n=n, **rate)
        other = getattr(found, function)(tensor, *tensors, n=n, **rate)
        assert isinstance(other, torch.Tensor)
        assert other.dtype == tensor.dtype
        np.testing.assert_allclose(other.numpy(), value, **tolerance)
        np.testing.assert_allclose(
            value, getattr(exact_module, function)(theta, *arrays, n=n, **rate), **tolerance
        )
    assert name == found.NAME


def test_the_modified_loss_is_that_of_the_formulas(adamw: object) -> None:
    matrix, theta = quadratic()
    tensor, operator = torch.tensor(theta), torch.tensor(matrix)
    given = (lambda x: 0.5 * x @ operator @ x, lambda x: operator @ x)
    exact = formulas(adamw).modified_loss(
        theta, lambda x: 0.5 * x @ matrix @ x, lambda x: matrix @ x, lr=RATE
    )
    assert adamw.modified_loss(tensor, *given, lr=RATE) == pytest.approx(exact, rel=1e-12)
    assert np.allclose(adamw.preconditioner(tensor, given[1]), 1 / np.abs(matrix @ theta))
    assert adamw.decay(lr=RATE) == 0.01
    assert adamw.MODIFIED_LOSS == "eps -> 0"


def test_nothing_is_copied(adamw: object) -> None:
    """Contiguous vectors are read and written where they are."""
    size = 1_000_000
    theta, grad, hv = np.ones(size), np.full(size, 0.5), np.ones((1, size))
    adamw.step_from(theta, grad, hv, lr=RATE, out=theta)
    tracemalloc.start()
    adamw.step_from(theta, grad, hv, lr=RATE, out=theta)
    adamw.correction_from(theta, grad, hv, lr=RATE, out=grad)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * size / 100
    tensor = torch.ones(size, requires_grad=True)
    place = tensor.data_ptr()
    gradient, product = torch.full((size,), 0.5), torch.ones(1, size)
    result = adamw.step_from(tensor, gradient, product, lr=RATE, out=tensor)
    assert result is tensor
    assert tensor.data_ptr() == place
    expected = adamw.step_from(
        np.ones(1, np.float32), np.full(1, 0.5, np.float32), np.ones((1, 1), np.float32), lr=RATE
    )
    assert (tensor.detach().numpy() == expected[0]).all()


def test_out_may_be_anything_like_theta(adamw: object) -> None:
    matrix, theta = quadratic()
    grad, hv = matrix @ theta, theta[None].copy()
    step = adamw.step_from(theta, grad, hv, lr=RATE)
    change = adamw.correction_from(theta, grad, hv, lr=RATE)
    for out in (np.empty(24)[::2], grad.copy(), np.empty(12)):
        assert adamw.correction_from(theta, grad, hv, lr=RATE, out=out) is out
        assert (out == change).all()
    alias = grad.copy()
    assert (adamw.step_from(theta, alias, hv, lr=RATE, out=alias) == step).all()
    room = np.concatenate([theta, [0.0]])
    assert (adamw.step_from(room[:-1], grad, hv, lr=RATE, out=room[1:]) == step).all()
    for shifted in (theta, grad):
        room = np.concatenate([shifted, [0.0]])
        given = [room[:-1] if vector is shifted else vector for vector in (theta, grad)]
        assert (adamw.correction_from(*given, hv, lr=RATE, out=room[1:]) == change).all()
    turned = [vector.reshape(3, 4).T for vector in (theta, grad)]
    product = hv.reshape(1, 3, 4).transpose(0, 2, 1)
    assert (adamw.step_from(*turned, product, lr=RATE) == step.reshape(3, 4).T).all()
    whole = adamw.memoryless(np.arange(3), lambda x: x)
    assert whole.dtype == np.float64


@pytest.mark.parametrize(
    ("error", "words", "change"),
    [
        (ValueError, "steps count from 0", {"n": -1}),
        (ValueError, "steps count from 0", {"n": 1.5}),
        (ValueError, "beta1 in", {"beta1": 1.0}),
        (ValueError, "not like theta", {"out": np.empty(4)}),
        (TypeError, "longdouble|float128", {"theta": np.ones(3, np.longdouble)}),
        (TypeError, "complex64", {"theta": torch.ones(3, dtype=torch.complex64)}),
        (TypeError, "a ndarray, not a tensor", {"theta": torch.ones(3)}),
        (ValueError, "returned", {"theta": np.ones(4)}),
        (TypeError, "out is a", {"out": torch.ones(3, dtype=torch.float64)}),
    ],
)
def test_bad_arguments(adamw: object, error: type, words: str, change: dict[str, object]) -> None:
    arguments = {"theta": np.ones(3), "g": np.ones(3), "hv": np.ones((1, 3)), "lr": RATE} | change
    with pytest.raises(error, match=words):
        adamw.correction_from(**arguments)


@pytest.mark.parametrize("name", ["adamw", "rmsprop"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_custom_operators(shared_folder: Path, name: str, dtype: torch.dtype) -> None:
    found = module(built(shared_folder, KERNELS, "quick"), name)
    operators = found.torch_operators()
    assert found.torch_operators() is operators
    parameters = [formulas(found).correction.__kwdefaults__[key] for key in found.PARAMETERS]
    theta, grad = torch.linspace(-1, 1, 12, dtype=dtype), torch.linspace(2, -3, 12, dtype=dtype)
    for n in (-1, 3):
        step = None if n < 0 else n
        directions = operators.direction(theta, grad, n, parameters)
        assert torch.equal(directions, found.direction(theta, grad, n=step))
        products = directions * 2
        correction = operators.correction(theta, grad, products, n, RATE, parameters)
        assert torch.equal(correction, found.correction_from(theta, grad, products, n=step, lr=RATE))
        moved = theta.clone()
        assert operators.step_(moved, grad, products, n, RATE, parameters) is None
        assert torch.equal(moved, found.step_from(theta, grad, products, n=step, lr=RATE))
        torch.library.opcheck(operators.direction, (theta, grad, n, parameters))
        torch.library.opcheck(operators.correction, (theta, grad, products, n, RATE, parameters))
        torch.library.opcheck(operators.step_, (theta.clone(), grad, products, n, RATE, parameters))
    moved, memory = theta.clone(), found.initial_memory(theta)
    assert operators.update_(moved, grad, memory, 0, RATE, parameters) is None
    expected, kept = theta.clone(), found.initial_memory(theta)
    assert torch.equal(moved, found.update(expected, grad, kept, n=0, lr=RATE))
    assert torch.equal(memory, kept)
    torch.library.opcheck(operators.update_, (moved, grad, memory, 1, RATE, parameters))


def test_operators_inside_a_compiled_function(adamw: object) -> None:
    operators = adamw.torch_operators()
    parameters = [0.9, 0.999, 1e-8, 0.01]

    @torch.compile(backend="aot_eager", fullgraph=True)
    def change(theta: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
        directions = operators.direction(theta, grad, -1, parameters)
        return 2 * operators.correction(theta, grad, directions, -1, RATE, parameters)

    theta, grad = torch.linspace(-1, 1, 9), torch.linspace(1, 3, 9)
    directions = adamw.direction(theta, grad)
    assert torch.equal(change(theta, grad), 2 * adamw.correction_from(theta, grad, directions, lr=RATE))
