"""Mini-batches after 200 steps: the formulas against the mean over random draws, within its error bars."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import Expr, Function, Symbol, lambdify

import symmem
from symmem.derivation.noise.mean_over_batches import MeanOverBatches, mean_over_batches
from symmem.method.sampling import Sampling

STEPS = 201
GRADIENT, HESSIAN = np.array([0.7, -0.4]), np.array([[1.3, 0.4], [0.4, -0.6]])
NOISE = np.array([[0.31, -0.22], [-0.12, 0.27], [0.05, 0.19]])
SLOPES = np.array([[[0.2, 0.3], [0.3, -0.1]], [[-0.4, 0.1], [0.1, 0.2]], [[0.1, -0.3], [-0.3, 0.5]]])
BOTH_NOISE, BOTH_SLOPES = np.concatenate([NOISE, -NOISE]), np.concatenate([SLOPES, -SLOPES])
VALUES = {"beta": 0.6, "beta1": 0.5, "beta2": 0.7, "eps": 0.2, "lr": 1.0}


def number(expression: Expr, batches: int) -> np.ndarray:
    """The formula at one point, the averages over the batches written out."""
    heads = {
        "D2L": lambda v: HESSIAN @ (v * np.ones(2)),
        "variance_along": lambda v: 2 * np.mean(BOTH_NOISE * (BOTH_SLOPES @ (v * np.ones(2))), axis=0),
        "variance_gradient": lambda w: (
            2 * np.einsum("bij,bj->i", BOTH_SLOPES, w * BOTH_NOISE) / len(BOTH_NOISE)
        ),
        "noisy_hessian": lambda w: np.mean(BOTH_NOISE * ((w * BOTH_NOISE) @ HESSIAN.T), axis=0),
    }
    for name in heads:
        expression = expression.replace(Function(name), Function(f"own_{name}"))
    own = {f"own_{name}": function for name, function in heads.items()}
    vectors = {"grad": GRADIENT, "variance": np.mean(BOTH_NOISE**2, axis=0)}
    given = {**VALUES, **vectors, "batches": batches, "n": STEPS - 1}
    names = sorted(map(str, expression.free_symbols))
    made = lambdify([Symbol(name) for name in names], expression, [own, "numpy"])
    return made(*(given[name] for name in names)) * np.ones(2)


def weights(beta: float, factor: float) -> np.ndarray:
    """``c(n, k)`` for k = 0, 1, ...: rows are steps."""
    lag = np.arange(STEPS)[:, None] - np.arange(STEPS)[None, :]
    return np.where(lag >= 0, factor * beta ** np.maximum(lag, 0), 0.0)


def draws(count: int, replacement: bool) -> np.ndarray:
    """Which batch each step sees; without replacement from 204 batches, 34 of each kind."""
    random = np.random.default_rng(3)
    if replacement:
        return random.integers(0, len(BOTH_NOISE), (count, STEPS))
    epoch = np.repeat(np.arange(len(BOTH_NOISE)), 34)
    return np.array([random.permutation(epoch)[:STEPS] for _ in range(count)])


def heavy_ball(seen: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """M/h of every draw: ``sum_s c(n, n-s) H_s [sum_{s <= r < n} F^(r)]``."""
    weight = weights(VALUES["beta"], 1.0)
    updates = (weight @ seen)[:, :-1]
    path = np.flip(np.cumsum(np.flip(updates, 1), 1), 1)
    moved = (slopes[:, :-1] @ path[..., None])[..., 0]
    return np.einsum("s,dsi->di", weight[-1, :-1], moved)


def adam(seen: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """The same for Phi = m1/sqrt(m2 + eps), both memories normalised at every step."""
    first, second = weights(VALUES["beta1"], 1.0), weights(VALUES["beta2"], 1.0)
    first, second = (each / each.sum(axis=1, keepdims=True) for each in (first, second))
    m1 = first @ seen
    root = np.sqrt(second @ seen**2 + VALUES["eps"])
    path = np.flip(np.cumsum(np.flip((m1 / root)[:, :-1], 1), 1), 1)
    moved = (slopes[:, :-1] @ path[..., None])[..., 0]
    change1 = np.einsum("s,dsi->di", first[-1, :-1], moved)
    change2 = np.einsum("s,dsi->di", second[-1, :-1], 2 * seen[:, :-1] * moved)
    return change1 / root[:, -1] - m1[:, -1] * change2 / (2 * root[:, -1] ** 3)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(("name", "correction"), [("heavyball", heavy_ball), ("adam", adam)])
def test_the_mean_of_random_draws(name: str, correction: object, replacement: bool) -> None:
    """Every draw with its mirror image, so that what is of first order in the noise is gone."""
    sampling = Sampling(None) if replacement else Sampling()
    found = mean_over_batches(symmem.derive(name).method, sampling, "limit")
    assert isinstance(found, MeanOverBatches)
    # The limit of many steps: a batch of this epoch, of 204, is met again with -1/203 of its variance.
    expected = number(found.memory, 204)
    chosen, size = draws(1500, replacement), 0.05
    sums = []
    for sign in (1, -1):
        seen = GRADIENT + sign * size * BOTH_NOISE[chosen]
        sums.append(correction(seen, HESSIAN + sign * size * BOTH_SLOPES[chosen]))  # type: ignore[operator]
    plain = correction(GRADIENT * np.ones((1, STEPS, 2)), np.broadcast_to(HESSIAN, (1, STEPS, 2, 2)))  # type: ignore[operator]
    effect = ((sums[0] + sums[1]) / 2 - plain) / size**2
    error = effect.std(axis=0) / np.sqrt(len(effect))
    assert (np.abs(effect.mean(axis=0) - expected) < 4 * error + 0.01 * np.abs(expected)).all()
    assert (error < 0.2 * np.abs(expected).max()).all()
