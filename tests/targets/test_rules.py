"""The rule that stands for a sum over the past: values of hard functions against the sum itself, in NumPy and PyTorch.

The functions are those at the edge of what a reach allows: singular on the border of the sector, at every size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from symmem.targets.numpy import helpers as of_arrays
from symmem.training.standalone import helpers as of_tensors

Function = Callable[[Any, Any], Any]
FUNCTIONS: dict[str, tuple[float, float, Function]] = {
    "root": (2.0, 0.5, lambda c, size: (c + size) ** -0.5),
    "sign": (1.0, 1.0, lambda c, size: (c * c + size * size) ** -0.5),
    "steep": (1.0, 2.0, lambda c, size: (c * c + size * size) ** -1),
    "pole": (2.0, 2.0, lambda c, size: (c + size) ** -2),
    "narrow": (0.5, 2.0, lambda c, size: (c**4 + size**4) ** -0.5),
    "power": (2.0, 1.5, lambda c, size: (c + size) ** 1.5),
}
"""Sector and growth, and the function: a size of 0 is a power of c."""
PASTS = [
    (0.3, 60),
    (0.9, 100),
    (0.99, 40),
    (0.99, 1000),
    (0.99, 5000),
    (0.9999, 3000),
    (1 - 1e-7, 2000),
]


def by_numpy(weights: np.ndarray, numbers: np.ndarray, *reach: float) -> np.ndarray:
    return of_arrays._rule(weights, numbers, *reach)


def by_torch(weights: np.ndarray, numbers: np.ndarray, *reach: float) -> np.ndarray:
    return of_tensors._rule(torch.from_numpy(weights), torch.from_numpy(numbers), *reach).numpy()


def error(rows: np.ndarray, weights: np.ndarray, numbers: np.ndarray, function: Function) -> float:
    """The largest error over sizes, of the sum of the absolute values of the terms; with 11 bits more than a double."""
    worst = 0.0
    for size in np.array([0, 1e-8, 1e-3, 0.05, 0.6, 30.0], dtype=np.longdouble):
        few, many = (
            w.astype(np.longdouble) * function(c.astype(np.longdouble), size)
            for w, c in ((rows[:, 0], rows[:, 1]), (weights, numbers))
        )
        worst = max(worst, float(abs(few.sum() - many.sum()) / np.abs(many).sum()))
    return worst


@pytest.mark.parametrize("rule", [by_numpy, by_torch])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_of_hard_functions(name: str, rule: Callable[..., np.ndarray]) -> None:
    sector, growth, function = FUNCTIONS[name]
    for beta, n in PASTS:
        s = np.arange(n, dtype=float)
        numbers = -np.expm1((s + 1) * np.log(beta))
        weights = beta ** (n - s) * numbers
        rows = rule(weights, numbers, sector, growth)
        assert len(rows) <= min(n, 110)
        assert error(rows, weights, numbers, function) < 1e-13, (beta, n)


@pytest.mark.parametrize("rule", [by_numpy, by_torch])
def test_weights_of_both_signs(rule: Callable[..., np.ndarray]) -> None:
    """An odd decay: its weights change their sign with every step, and what cancels keeps the digits of the terms."""
    s = np.arange(300, dtype=float)
    numbers = -np.expm1((s + 1) * np.log(0.98))
    weights = (-0.95) ** (300 - s)
    rows = rule(weights, numbers, 2.0, 0.5)
    assert len(rows) < 60
    assert error(rows, weights, numbers, FUNCTIONS["root"][2]) < 1e-14


@pytest.mark.parametrize("rule", [by_numpy, by_torch])
def test_a_range_that_no_single_rule_spans(rule: Callable[..., np.ndarray]) -> None:
    """Numbers from 1e-60 to 1, and a first one of 0: the range is taken in parts."""
    numbers = np.concatenate([[0.0], np.logspace(-60, 0, 6000)])
    weights = np.full(6001, 1e-3)
    rows = rule(weights, numbers, 1.0, 1.0)
    assert len(rows) < 1500
    known = rows[:, 1] > 1e-100
    assert rows[~known, 0].sum() == 1e-3
    assert error(rows[known], weights[1:], numbers[1:], lambda c, size: c / np.hypot(c, size + 1)) < 1e-13


@pytest.mark.parametrize("rule", [by_numpy, by_torch])
def test_what_is_no_number_stays_none(rule: Callable[..., np.ndarray]) -> None:
    numbers = np.linspace(0.1, 1, 50)
    weights = np.ones(50)
    weights[7] = np.nan
    assert np.isnan(rule(weights, numbers, 1.0, 1.0)[:, 0].sum())
    assert len(rule(np.zeros(50), numbers, 1.0, 1.0)) == 0
