"""Numbers that are known at one step at a time, where b has branches or products over steps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch

from .formulas import Numbers

MOST_KEPT = 2**17
"""Steps whose numbers are kept: a memory asks for those of its past in every step."""


def step_by_step(scalars: Numbers) -> Numbers:
    """The numbers of many steps at once, n a tensor, from a function of one step."""
    known = lru_cache(maxsize=MOST_KEPT)(lambda *given: tuple(map(float, scalars(*given))))

    def at(n: Any, *values: float) -> Sequence[Any]:
        if n is None:
            return scalars(None, *values)
        rows = [known(int(k), *values) for k in n.tolist()]
        return list(torch.tensor(rows, dtype=torch.float64).T)

    return at
