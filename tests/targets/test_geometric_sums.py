"""The helpers that add products of decays for many steps, against the sums that define them: near 0 and 1 too."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import prod
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from mpmath import mpf

from symmem.targets.numpy import helpers as of_numpy
from symmem.training.standalone import helpers as of_torch

DECAYS = (0.0, 5e-324, 1e-8, 0.5, 0.999, 1 - 1e-8, 1 - 2.0**-53)
ORDERS = (-3, -1, 0, 1, 2, 7)


def summed(order: int, nodes: tuple[float, ...]) -> mpf:
    with mpmath.workdps(60):
        products = combinations_with_replacement(map(mpf, nodes), order) if order >= 0 else ()
        return mpmath.fsum(map(prod, products))


@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("others", [(1,), (1, 0.25), (0.25,)], ids=str)
def test_values(others: tuple[float, ...], decay: float) -> None:
    true = [float(summed(order, (*others, decay))) for order in ORDERS]
    found: Any = of_numpy._completes(np.array(ORDERS, dtype=float), *others, decay)
    np.testing.assert_allclose(found, true, rtol=4e-15)
    found = of_torch._completes(torch.tensor(ORDERS, dtype=torch.float64), *others, decay)
    np.testing.assert_allclose(found.numpy(), true, rtol=4e-15)


@pytest.mark.parametrize("decay", DECAYS)
def test_many_steps(decay: float) -> None:
    orders = np.array([10.0, 1e3, 1e7])
    with mpmath.workdps(60):
        true = [float((1 - mpf(decay) ** int(m + 1)) / (1 - mpf(decay))) for m in orders]
    np.testing.assert_allclose(of_numpy._completes(orders, 1, decay), true, rtol=4e-15)
    found = of_torch._completes(torch.from_numpy(orders), 1, decay)
    np.testing.assert_allclose(found.numpy(), true, rtol=4e-15)
