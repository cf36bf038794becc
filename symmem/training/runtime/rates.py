"""The past learning rates of a group, as its scheduler set them: what its memory weighs its past steps with.

``group["_rates"]`` lists them, the newest last; steps before the first of them had that first rate.  A rate that never
changed is one number, and steps that no memory sees any more (:mod:`.remembered`) are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

TOLERANCE_BITS = 60
"""Steps that weigh less than 2^-60 of the newest are left out."""


def counted(decay: float, n: float) -> int:
    """How many past steps count in a memory, of the n that were made."""
    return math.floor(min(n, -TOLERANCE_BITS * math.log(2) / math.log(abs(decay)))) if decay else 0


def note_rate(group: dict[str, Any], decays: Sequence[float]) -> None:
    """The rate of a step that was made joins the past ones."""
    past, now = list(group.get("_rates", ())), float(group["lr"])
    if past == [now]:
        return
    most = max((counted(decay, math.inf) for decay in decays), default=1)
    group["_rates"] = [*past, now][-max(most, 1) :]


def unit_of(group: dict[str, Any]) -> float:
    """The rate in which past ones are counted: the present one; where that is 0, the largest."""
    return float(group["lr"]) or max(group.get("_rates", ()), default=0.0)


def past_rates(group: dict[str, Any], ago: Tensor) -> Tensor | float:
    """The rates of the steps so many steps ago, in units of ``unit_of``; 1 where there was but one rate."""
    past, unit = group.get("_rates") or [float(group["lr"])], unit_of(group)
    if unit == 0 or past == [unit]:
        return 1.0
    known = torch.tensor(past, dtype=torch.float64)
    found: Tensor = known[(len(past) - ago.long()).clamp(min=0)] / unit
    return found
