"""The matrix functions of emitted Python with two derivatives, against mpmath: tall, wide and degenerate matrices."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from symmem.targets.python import matrices

STEP = "1e-15"
RANDOM = np.random.default_rng(12)
TURN = np.linalg.qr(RANDOM.normal(size=(3, 3)))[0]
POINTS = {
    "wide": RANDOM.normal(size=(2, 3)),
    "tall": RANDOM.normal(size=(3, 2)),
    "all singular values equal": 1.5 * TURN,
    "two singular values equal": TURN @ np.diag([2.0, 2.0, 0.5]),
    "wide, singular values equal": 0.7 * TURN[:2],
}
SYMMETRIC = {
    "two eigenvalues equal": TURN @ np.diag([2.0, 2.0, 0.5]) @ TURN.T,
    "all eigenvalues equal": 3.0 * np.eye(3),
    "apart": TURN @ np.diag([2.0, 1.0, 0.5]) @ TURN.T,
}


def polar(x: mpmath.matrix) -> mpmath.matrix:
    """(X X^T)^(-1/2) X, of the smaller of the two squares."""
    if x.rows > x.cols:
        return polar(x.T).T
    return inverse_root(x * x.T, 2) * x


def inverse_root(x: mpmath.matrix, p: int) -> mpmath.matrix:
    values, basis = mpmath.eigsy((x + x.T) / 2)
    return basis * mpmath.diag([value ** (mpf(-1) / p) for value in values]) * basis.T


def newton_schulz(x: mpmath.matrix) -> mpmath.matrix:
    if x.rows > x.cols:
        return newton_schulz(x.T).T
    x = x / mpmath.sqrt(sum(entry**2 for entry in x))
    for _ in range(5):
        square = x * x.T
        x = mpf("3.4445") * x + (mpf("-4.7750") * square + mpf("2.0315") * square * square) * x
    return x


def derivative(
    function: Callable[[mpmath.matrix], mpmath.matrix], x: np.ndarray, *along: np.ndarray
) -> np.ndarray:
    """By central differences, in 70 digits."""
    with mpmath.workdps(70):
        h = mpf(STEP)

        def at(point: mpmath.matrix, ways: list[mpmath.matrix]) -> mpmath.matrix:
            if not ways:
                return function(point)
            way, *rest = ways
            return (at(point + h * way, rest) - at(point - h * way, rest)) / (2 * h)

        found = at(mpmath.matrix(x.tolist()), [mpmath.matrix(v.tolist()) for v in along])
        return np.array(found.tolist(), dtype=float)


def library(name: str) -> tuple[Any, Any]:
    """The array library, and a context in which it has doubles."""
    if name == "numpy":
        return np, nullcontext()
    jax = pytest.importorskip("jax")
    return jax.numpy, jax.enable_x64(True)


def held(name: str, spelled: Any, truth: Any, point: list[np.ndarray], numbers: Any) -> None:
    x, *ways = point
    module, doubles = library(name)
    for count in range(3):
        with doubles if count == 0 else library(name)[1]:
            found = np.asarray(spelled(module, [module.asarray(v) for v in (x, *ways[:count])], numbers))
        exact = derivative(truth, x, *ways[:count])
        np.testing.assert_allclose(found, exact, rtol=1e-11, atol=1e-11 * abs(exact).max())


@pytest.mark.parametrize("target", ["numpy", "jax"])
@pytest.mark.parametrize("case", POINTS)
def test_polar_and_newton_schulz(target: str, case: str) -> None:
    x = POINTS[case]
    ways = [np.random.default_rng(k).normal(size=x.shape) for k in (1, 2)]
    held(target, matrices._polar, polar, [x, *ways], ())
    held(target, matrices._newton_schulz, newton_schulz, [x, *ways], ())


@pytest.mark.parametrize("target", ["numpy", "jax"])
@pytest.mark.parametrize("p", [1, 2, 4])
@pytest.mark.parametrize("case", SYMMETRIC)
def test_inverse_root(target: str, case: str, p: int) -> None:
    """Along symmetric directions, as the square of a gradient moves; eps stands beside x."""
    x = SYMMETRIC[case]
    ways = [way + way.T for way in (np.random.default_rng(k).normal(size=(3, 3)) for k in (1, 2))]
    held(target, matrices._inverse_root, lambda m: inverse_root(m, p), [x, *ways], (p,))
    shifted = lambda m: inverse_root(m + mpf(0.25) * mpmath.eye(3), p)  # noqa: E731  # it stands beside x alone
    held(target, matrices._inverse_root, shifted, [x, *ways], (p, 0.25))


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (3, 3)])
def test_what_has_no_polar_factor_is_refused(shape: tuple[int, int]) -> None:
    """A matrix of rank one, whatever its shape."""
    with pytest.raises(ValueError, match="rank-deficient"):
        matrices._polar(np, [np.outer(np.arange(1.0, 1 + shape[0]), np.arange(2.0, 2 + shape[1]))], ())
    with pytest.raises(ValueError, match="rank-deficient"):
        matrices._inverse_root(np, [np.diag([1.0, 0.0, 2.0])], (2,))
