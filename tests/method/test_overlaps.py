"""What kernels have in common at shifted lags, against the sums that define it, over weights of literal memories."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from kernel_cases import KERNELS, fraction
from literal_memory import weights

from symmem.method.overlaps import (
    branch_overlap,
    earlier_overlap,
    lagged_branch_overlap,
    lagged_overlap,
    newer_overlap,
    weighted_overlap,
)

LONG = 60
"""Beyond, the weights of these kernels are below 1e-15."""
NAMES = ("geometric", "delay 3", "geometric of geometric", "nesterov")


def literal(name: str) -> list[float]:
    return [float(x) for x in weights(KERNELS[name][1], LONG)]


def shifted(left: list[float], right: list[float], i: int) -> float:
    """``X(i) = sum_j c(i+j) c'(j)``."""
    return sum(x * y for x, y in zip(left[i:], right, strict=False))


def near(found: Fraction, expected: float) -> bool:
    return abs(float(found) - expected) < 1e-11 * max(1.0, abs(expected))


@pytest.mark.parametrize(("one", "other"), list(product(NAMES, NAMES)))
def test_of_two(one: str, other: str) -> None:
    kernels, c, d = (KERNELS[one][0], KERNELS[other][0]), literal(one), literal(other)
    lagged = sum(k * x * y for k, (x, y) in enumerate(zip(c, d, strict=True)))
    assert near(fraction(lagged_overlap(*kernels)), lagged)
    earlier = sum(shifted(c, d, i) for i in range(1, LONG))
    assert near(fraction(earlier_overlap(*kernels)), earlier)


@pytest.mark.parametrize(("first", "one", "other"), [NAMES[:3], NAMES[1:], (*NAMES[2:], NAMES[0])])
def test_of_three(first: str, one: str, other: str) -> None:
    kernels = tuple(KERNELS[name][0] for name in (first, one, other))
    c = literal(first)
    meetings = [shifted(literal(one), literal(other), i) for i in range(LONG)]
    tails = [sum(c[i:]) for i in range(LONG + 1)]
    sums = {
        weighted_overlap: sum(tails[i] * meetings[i] for i in range(1, LONG)),
        newer_overlap: sum(tails[i + 1] * meetings[i] for i in range(LONG)),
        branch_overlap: sum(c[i] * meetings[i] for i in range(LONG)),
        lagged_branch_overlap: sum(i * c[i] * meetings[i] for i in range(LONG)),
    }
    for question, expected in sums.items():
        assert near(fraction(question(*kernels)), expected), question.__name__
