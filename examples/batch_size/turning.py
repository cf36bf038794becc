"""At which batch size does the effect of Adam's beta2, and of beta1, on the implicit regularisation turn?

One parameter, the loss ``theta^2/2 + theta^4/4``, and samples whose gradients have the noise ``zeta s(theta)``, zeta
Gaussian: a batch of B has the variance ``V = s^2/B``.  What memory does to the mean update is ``M + M_xi``, and the
question is the sign of its slope in a beta:

    slope(B) = dM/dbeta + dM_xi/dbeta / B,     zero at B = -(dM_xi/dbeta at B = 1) / (dM/dbeta)

by the second order in the noise, which has to be small at that B.  Else, for a long m2, the slope in beta2 is zero
where the mean that m2 holds stands still, ``D(g^2 + V)[F] = 0``, whatever the noise.

A simulated run needs no formula: Adam runs with its memory, and the effect of memory is its last update less that on a
constant history with the same batches, over lr.

    python turning.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sympy import Expr, Function, Symbol, diff, lambdify

import symmem
from symmem.derivation.noise.long_memory import long_memories
from symmem.derivation.noise.mean_over_batches import MeanOverBatches, mean_over_batches
from symmem.method.sampling import Sampling

START, LR, STEPS, EPS = 1.0, 1e-9, 120, 1e-12
GRADIENT, HESSIAN = 2.0, 4.0
"""Of the loss at the start; the run is so short that it stays there."""


@dataclass(frozen=True)
class Noise:
    """``s = 1 + slope (theta - 1)``; the variance moves by the factor ``steepness = dln V / dln grad^2``."""

    steepness: float

    @property
    def slope(self) -> float:
        """``s'``: ``steepness = (s'/s) grad/H`` at the start."""
        return self.steepness * HESSIAN / GRADIENT

    def __call__(self, theta: np.ndarray) -> np.ndarray:
        """``s(theta)``."""
        return 1 + self.slope * (theta - START)


def predicted(noise: Noise, beta1: float, beta2: float, parameter: str) -> float:
    """The batch size at which the slope in the parameter is zero, by the second order in the noise; < 0: nowhere."""
    derivation = symmem.derive("adam")
    found = mean_over_batches(derivation.method, Sampling(None), "limit")
    assert isinstance(found, MeanOverBatches)
    full, noisy = (
        _slope(part, noise, beta1, beta2, parameter) for part in (derivation.limit.M, found.memory)
    )
    return -noisy / full


def standing_still(noise: Noise) -> float:
    """The batch size at which a long m2 stands still along the step: there the effect of beta2 turns; < 0: nowhere.

    ``D(grad^2 + V)[F]`` over F is affine in 1/B.
    """
    (long,) = long_memories(symmem.derive("adam").method)

    def change(share: float) -> float:
        """At a batch of 1/share samples."""
        return _value(long.change, noise, share) / _value(long.update, noise, share)

    return (change(0.0) - change(1.0)) / change(0.0)


def long_effect(noise: Noise, batch: float) -> float:
    """What the lag of a long m2 adds, over that of the full batch."""
    (long,) = long_memories(symmem.derive("adam").method)
    return _value(long.correction, noise, 1 / batch) / _value(long.correction, noise, 0.0)


def _value(formula: Expr, noise: Noise, share: float) -> float:
    """For one parameter and a batch of 1/share samples; betas of a half."""
    values = {"grad": GRADIENT, "variance": share, "eps": EPS, "lr": 1.0, "beta1": 0.5, "beta2": 0.5}
    return float(
        lambdify([Symbol(name) for name in values], _factored(formula, noise, share))(*values.values())
    )


def _slope(formula: Expr, noise: Noise, beta1: float, beta2: float, parameter: str) -> float:
    """``d formula / d parameter`` for one parameter and batches of one sample."""
    values = {"grad": GRADIENT, "variance": 1.0, "eps": EPS, "lr": 1.0, "beta1": beta1, "beta2": beta2}
    names = [Symbol(name) for name in values]
    return float(lambdify(names, diff(_factored(formula, noise, 1.0), Symbol(parameter)))(*values.values()))


def _factored(formula: Expr, noise: Noise, share: float) -> Expr:
    """All functions of vectors are factors."""
    change = 2 * noise.slope * share
    factors = {
        "D2L": HESSIAN,
        "noisy_hessian": HESSIAN * share,
        "variance_along": change,
        "variance_gradient": change,
    }
    for name, factor in factors.items():
        formula = formula.replace(Function(name), lambda v, factor=factor: factor * v)
    return formula


def effect(zeta: np.ndarray, noise: Noise, batch: float, beta1: float, beta2: float) -> np.ndarray:
    """What memory has made of the last update of every run, over lr; ``zeta`` has a row for each run."""
    scale = zeta / np.sqrt(batch)
    theta, path = np.full(len(zeta), START), []
    m1 = m2 = np.zeros(len(zeta))
    for step in range(zeta.shape[1]):
        path.append(theta)
        gradient = theta + theta**3 + noise(theta) * scale[:, step]
        m1, m2 = beta1 * m1 + (1 - beta1) * gradient, beta2 * m2 + (1 - beta2) * gradient**2
        update = _update(m1, m2, step, beta1, beta2)
        theta = theta - LR * update
    last = path[-1]
    still = (last + last**3)[:, None] + noise(last)[:, None] * scale
    ages = np.arange(zeta.shape[1])[::-1]
    frozen = _update(
        still @ ((1 - beta1) * beta1**ages), still**2 @ ((1 - beta2) * beta2**ages), step, beta1, beta2
    )
    return (update - frozen) / LR


def _update(m1: np.ndarray, m2: np.ndarray, step: int, beta1: float, beta2: float) -> np.ndarray:
    return m1 / (1 - beta1 ** (step + 1)) / np.sqrt(m2 / (1 - beta2 ** (step + 1)) + EPS)


def slopes(
    zeta: np.ndarray, noise: Noise, batch: float, betas: tuple[float, float], parameter: str
) -> np.ndarray:
    """The slope in the parameter by a central difference, one for each run and its mirror image."""
    width = 1e-3
    shift = (width, 0.0) if parameter == "beta1" else (0.0, width)

    def both(sign: int) -> np.ndarray:
        moved = [beta + sign * by for beta, by in zip(betas, shift, strict=True)]
        return (effect(zeta, noise, batch, *moved) + effect(-zeta, noise, batch, *moved)) / 2

    return (both(1) - both(-1)) / (2 * width)


def measured(
    noise: Noise, betas: tuple[float, float], parameter: str, *, near: float, runs: int, steps: int = STEPS
) -> tuple[float, float]:
    """The batch size at which the mean slope is zero, on a line in 1/B through two batch sizes, and its error."""
    zeta = np.random.default_rng(0).standard_normal((runs, steps))
    sizes = (near / 1.05, near * 1.05)
    low, high = (slopes(zeta, noise, size, betas, parameter) for size in sizes)
    x, y = (1 / size for size in sizes)

    def root(first: float, second: float) -> float:
        return (second - first) / (second * x - first * y)

    a, b = low.mean(), high.mean()
    da, db = (root(a * 1.0001, b) - root(a, b)) / (a * 1e-4), (root(a, b * 1.0001) - root(a, b)) / (b * 1e-4)
    spread = np.cov(low, high)
    variance = da**2 * spread[0, 0] + 2 * da * db * spread[0, 1] + db**2 * spread[1, 1]
    return root(a, b), float(np.sqrt(variance / runs))


CASES = (("beta2", (0.5, 0.8), -1000.0), ("beta1", (0.2, 0.5), 15000.0))


def main() -> None:
    """The turns, where the variance moves; and the slope in beta2 where it does not."""
    for parameter, betas, steepness in CASES:
        noise = Noise(steepness)
        expected = predicted(noise, *betas, parameter)
        found, error = measured(noise, betas, parameter, near=expected, runs=20000)
        print(
            f"{parameter}, betas {betas}, dln V/dln g^2 = {steepness:g}: predicted {expected:.2f}, ", end=""
        )
        print(f"measured {found:.2f} +- {error:.2f}; V/g^2 = {1 / expected / GRADIENT**2:.4f} there")
    for steepness in (-1.0, -3.0):
        noise, betas = Noise(steepness), (0.5, 0.99)
        still = standing_still(noise)
        found, error = measured(noise, betas, "beta2", near=still, runs=4000, steps=1200)
        print(
            f"beta2, betas {betas}, dln V/dln g^2 = {steepness:g}: g^2 + V stands still at {still:.3f}, ",
            end="",
        )
        print(f"measured {found:.3f} +- {error:.3f}; second order {predicted(noise, *betas, 'beta2'):.3f}")
    constant, betas = Noise(0.0), (0.5, 0.9)
    print(f"a variance that does not move, betas {betas}: slope in beta2 over that of the full batch")
    full = slopes(np.zeros((1, STEPS)), constant, 1.0, betas, "beta2")[0]
    zeta = np.random.default_rng(1).standard_normal((20000, STEPS))
    for ratio in (0.1, 0.5, 1.0, 2.0):
        batch = 1 / (ratio * GRADIENT**2)
        found = slopes(zeta, constant, batch, betas, "beta2") / full
        second = 1 - predicted(constant, *betas, "beta2") / batch
        print(f"  V/g^2 = {ratio:g}: {found.mean():.3f} +- {found.std() / np.sqrt(len(found)):.3f}; ", end="")
        print(f"second order {second:.3f}, a long memory {long_effect(constant, batch):.3f}")


if __name__ == "__main__":
    main()
