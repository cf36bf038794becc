"""Methods linear in the gradient, on a quadratic loss: their characteristic equations and exact series."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from truth import load

import symmem

TWO_BETAS = symmem.Optimizer(
    name="two-betas",
    phi="m1 / 3 + m2",
    momentum=[
        {"g": "grad", "beta": "beta1", "b": "1 - beta1"},
        {"g": "grad", "beta": "beta2", "b": "1 - beta2"},
    ],
    parameters={"beta1": {"default": Fraction(1, 2)}, "beta2": {"default": Fraction(1, 4)}},
)

Equation = Callable[[Fraction, Fraction], list[list[Fraction | int]]]
"""(beta1, beta2) -> coefficients ``c[i][j]`` of ``mu^i x^j``, x = h a: typed from ``1 - mu = x W(1/mu)``."""


def _ema(p: Fraction, _q: Fraction) -> list[list[Fraction | int]]:
    """``mu^2 - (1 + p - (1 - p) x) mu + p = 0``."""
    return [[p, 0], [-1 - p, 1 - p], [1, 0]]


LINEAR: dict[str, Equation] = {
    # mu - 1 + x = 0
    "gd": lambda p, q: [[-1, 1], [1, 0]],
    # mu^2 - (1 + p - x) mu + p = 0
    "heavyball": lambda p, q: [[p, 0], [-1 - p, 1], [1, 0]],
    "ema-momentum": _ema,
    "ema-momentum-debiased": _ema,
    # (mu - 1)(mu - p) + x ((1 + p) mu - p) = 0
    "nesterov": lambda p, q: [[p, -p], [-1 - p, 1 + p], [1, 0]],
    # (mu - 1)(mu - p)(mu - q) + x mu [(1 - p)(mu - q)/3 + (1 - q)(mu - p)] = 0
    "two-betas": lambda p, q: [
        [-p * q, 0],
        [p * q + p + q, -(1 - p) * q / 3 - (1 - q) * p],
        [-1 - p - q, (1 - p) / 3 + (1 - q)],
        [1, 0],
    ],
}

BETAS = [
    (Fraction(2, 5), Fraction(3, 7)),
    (Fraction(9, 10), Fraction(1, 7)),
    (Fraction(3, 11), Fraction(4, 5)),
]

PowerSeries = list[Fraction]


def times(left: PowerSeries, right: PowerSeries) -> PowerSeries:
    return [sum((left[i] * right[j - i] for i in range(j + 1)), Fraction(0)) for j in range(len(left))]


def over(left: PowerSeries, right: PowerSeries) -> PowerSeries:
    found: PowerSeries = []
    for j in range(len(left)):
        found.append((left[j] - sum(found[i] * right[j - i] for i in range(j))) / right[0])
    return found


def root_series(equation: list[list[Fraction | int]], terms: int) -> PowerSeries:
    """The root that is 1 at x = 0, by Newton's iteration on truncated power series."""
    rows = [[Fraction(c) for c in row] + [Fraction(0)] * (terms - len(row)) for row in equation]
    slopes = [[i * c for c in row] for i, row in enumerate(rows)][1:]

    def value(polynomial: list[PowerSeries], at: PowerSeries) -> PowerSeries:
        total = [Fraction(0)] * terms
        for row in reversed(polynomial):
            total = [x + y for x, y in zip(times(total, at), row, strict=True)]
        return total

    root = [Fraction(1)] + [Fraction(0)] * (terms - 1)
    for _ in range(terms.bit_length() + 1):
        change = over(value(rows, root), value(slopes, root))
        root = [x - y for x, y in zip(root, change, strict=True)]
    assert not any(value(rows, root))
    return root


def log_series(series: PowerSeries) -> PowerSeries:
    """``log(1 + y) = y - y^2/2 + ...``, term by term."""
    y = [Fraction(0), *series[1:]]
    power, total = y, [Fraction(0)] * len(y)
    for j in range(1, len(y)):
        total = [t + (-1) ** (j + 1) * p / j for t, p in zip(total, power, strict=True)]
        power = times(power, y)
    return total


def linear_method(name: str) -> symmem.Optimizer:
    return TWO_BETAS if name == "two-betas" else load(name)


def values_of(betas: tuple[Fraction, Fraction]) -> dict[str, Fraction]:
    return {"beta": betas[0], "beta1": betas[0], "beta2": betas[1]}
