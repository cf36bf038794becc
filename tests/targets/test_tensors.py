"""Functions of whole tensors in emitted code: values against 30 digits, on one matrix and on several."""

from __future__ import annotations

import types
from functools import cache
from typing import Any

import numpy as np
import pytest
from probe import profile_value
from tensor_optimizers import LAYOUTS, OPTIMIZERS, VALUES

import symmem
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import coupled_loss, probe_point

POINT = probe_point(6)
THETA = np.array([float(x) for x in POINT])
LR = 0.01


@cache
def emitted(name: str, target: str, order: int = 1) -> Any:
    module = types.ModuleType(name.replace("-", "_"))
    source = symmem.emit(symmem.derive(OPTIMIZERS[name], order), target)
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)
    return module


def settings(name: str) -> dict[str, float]:
    fractions = {each: VALUES[each].split("/") for each in OPTIMIZERS[name].defaults}
    return {each: int(above) / int(below) for each, (above, below) in fractions.items()}


@cache
def truth(
    name: str, n: int | None, layout: tuple[tuple[int, ...], ...], order: int = 1
) -> dict[str, np.ndarray]:
    found = symmem.derive(OPTIMIZERS[name], order)
    pair = (found.F, found.M) if n is not None else (found.limit.F, found.limit.M)
    values = {**{each: VALUES[each] for each in OPTIMIZERS[name].defaults}, "n": n or 0, "lr": "1/100"}
    layouts = {"theta": layout, "grad": layout}
    numbers = [
        evaluate(each, values, {"theta": POINT}, coupled_loss(6), layouts=layouts, digits=20) for each in pair
    ]
    update, change = (np.array([float(x) for x in number]) for number in numbers)
    return {"memoryless": update, "correction": change, "step": THETA - LR * (update + change)}


def derivative_of_loss(theta: np.ndarray, *directions: np.ndarray) -> np.ndarray:
    """``D^(k+1) L [directions]`` in the shape of theta."""
    flat = [np.asarray(each, dtype=float).reshape(-1).tolist() for each in (theta, *directions)]
    return np.array([float(x) for x in coupled_loss(6).contraction(*flat)]).reshape(theta.shape)


@pytest.mark.parametrize("n", [2, None])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_numpy_takes_theta_for_one_tensor(name: str, n: int | None) -> None:
    module, theta = emitted(name, "numpy"), THETA.reshape(2, 3)
    given = (theta, derivative_of_loss, derivative_of_loss)
    expected = truth(name, n, LAYOUTS[0])
    update = module.memoryless(theta, derivative_of_loss, n=n, **settings(name))
    np.testing.assert_allclose(update.reshape(-1), expected["memoryless"], rtol=1e-11)
    for routine in ("correction", "step"):
        found = getattr(module, routine)(*given, n=n, lr=LR, **settings(name))
        np.testing.assert_allclose(found.reshape(-1), expected[routine], rtol=1e-9)


@pytest.mark.parametrize("name", ["nsgd", "muon", "muon-shipped"])
def test_second_order_in_numpy(name: str) -> None:
    module, theta = emitted(name, "numpy", 2), THETA.reshape(2, 3)
    given = (derivative_of_loss,) * 3
    found = module.correction(theta, *given, n=None, lr=LR, **settings(name))
    np.testing.assert_allclose(found.reshape(-1), truth(name, None, LAYOUTS[0], 2)["correction"], rtol=1e-8)


def test_float32_stays_float32() -> None:
    theta = THETA.reshape(2, 3).astype(np.float32)
    for name in ("nsgd", "muon", "adam-mini"):
        assert emitted(name, "numpy").memoryless(theta, derivative_of_loss, n=3).dtype == np.float32


def test_matrix_functions_refuse_what_is_no_matrix() -> None:
    with pytest.raises(ValueError, match=r"polar takes matrices, not \[\(6,\)\]"):
        emitted("muon", "numpy").memoryless(THETA, derivative_of_loss)


def _jax_loss(theta: Any) -> Any:
    jax = pytest.importorskip("jax")
    flat = jax.numpy.concatenate([theta[key].reshape(-1) for key in "ab"])
    ridges = coupled_loss(6).ridges
    rows = [jax.numpy.array([float(x) for x in ridge.inward]) for ridge in ridges]
    return sum(
        float(ridge.weight) * profile_value(jax.numpy, ridge.profile, row @ flat)
        for ridge, row in zip(ridges, rows, strict=True)
    )


def _along(theta: Any, *directions: Any) -> Any:
    jax = pytest.importorskip("jax")
    if not directions:
        return jax.grad(_jax_loss)(theta)
    *rest, last = directions
    return jax.jvp(lambda at: _along(at, *rest), (theta,), (last,))[1]


def _tree(jax: Any) -> Any:
    return {"a": jax.numpy.array(THETA[:4].reshape(2, 2)), "b": jax.numpy.array(THETA[4:].reshape(1, 2))}


@pytest.mark.parametrize("n", [2, None])
@pytest.mark.parametrize("name", ["nsgd", "global-clip", "lamb", "novograd", "muon", "shampoo"])
def test_jax_takes_every_leaf_for_a_tensor(name: str, n: int | None) -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        module, given = emitted(name, "jax"), settings(name)
        found = jax.jit(lambda theta: module.correction(theta, _along, _along, n=n, lr=LR, **given))(
            _tree(jax)
        )
        flat = np.concatenate([np.asarray(found[key]).reshape(-1) for key in "ab"])
    np.testing.assert_allclose(flat, truth(name, n, LAYOUTS[1])["correction"], rtol=1e-8)


def test_jax_maps_over_points() -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        module = emitted("nsgd", "jax")
        points = jax.tree.map(lambda leaf: jax.numpy.stack([leaf, leaf + 0.1]), _tree(jax))
        mapped = jax.vmap(lambda theta: module.memoryless(theta, _along))(points)
        for k in range(2):
            alone = module.memoryless(jax.tree.map(lambda leaf, k=k: leaf[k], points), _along)
            np.testing.assert_allclose(mapped["a"][k], alone["a"], rtol=1e-9)


@pytest.mark.parametrize("name", ["nsgd", "muon", "shampoo"])
def test_straight_line_in_numpy(name: str) -> None:
    module, theta = emitted(name, "numpy"), THETA.reshape(2, 3)
    given = settings(name)
    straight = symmem.derive(OPTIMIZERS[name]).straight
    values = {**{each: VALUES[each] for each in OPTIMIZERS[name].defaults}, "n": 2, "lr": "1/100"}
    layouts = {"theta": LAYOUTS[0], "grad": LAYOUTS[0]}
    expected = evaluate(straight, values, {"theta": POINT}, coupled_loss(6), layouts=layouts, digits=20)
    found = module.straight(theta, derivative_of_loss, derivative_of_loss, n=2, lr=LR, **given)
    np.testing.assert_allclose(found.reshape(-1), [float(x) for x in expected], rtol=1e-9)
