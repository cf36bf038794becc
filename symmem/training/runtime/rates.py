"""The past learning rates of a group, as its scheduler set them: what its memory weighs its past steps with.

``group["_rates"]`` is ``[lr]`` as long as the rate never changed, else three lists, plain for a checkpoint:

    newest    the newest rates, the newest last; a step before the first of them had that first rate
    total     sum over all steps s of lr(s) x(s), for each number x of F that depends on the step; 1 where none does
    sums      ``[key, S, ...]``: the same sums with the weights of one memory, which :mod:`.noted` carries on

Where F is linear in its numbers, nothing but the sums is needed, and ``newest`` is the last rate alone.  Rates are
listed one by one for parameters that have made fewer updates than others, and where F is not linear, as far back as a
memory sees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

TOLERANCE_BITS = 60
"""Steps that weigh less than 2^-60 of the newest are left out."""


@dataclass(frozen=True)
class PastRates:
    """What a group keeps of its past rates; ``sums`` by the key of a memory."""

    newest: tuple[float, ...]
    total: tuple[float, ...] = ()
    sums: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, group: dict[str, Any]) -> PastRates:
        """As the group has it; a plain list of numbers is that of the newest rates."""
        kept = group.get("_rates") or [float(group["lr"])]
        if not isinstance(kept[0], list):
            return cls(tuple(kept))
        newest, total, sums = kept
        return cls(tuple(newest), tuple(total), {key: tuple(values) for key, *values in sums})

    def written(self) -> list[Any]:
        """As a group keeps it."""
        if not self.sums and len(self.newest) == 1 and not self.total:
            return list(self.newest)
        return [list(self.newest), list(self.total), [[key, *row] for key, row in self.sums.items()]]


def counted(decay: float, n: float) -> int:
    """How many past steps count in a memory, of the n that were made."""
    return math.floor(min(n, -TOLERANCE_BITS * math.log(2) / math.log(abs(decay)))) if decay else 0


def unit_of(group: dict[str, Any]) -> float:
    """The rate in which past ones are counted: the present one; where that is 0, the largest that is known, or 1."""
    past = PastRates.of(group)
    return float(group["lr"]) or max(past.newest) or float(bool(past.sums))


def has_one_rate(group: dict[str, Any]) -> bool:
    """Whether all past steps that are listed had the rate in which they are counted."""
    unit = unit_of(group)
    return unit == 0 or PastRates.of(group).newest == (unit,)


def past_rates(group: dict[str, Any], ago: Tensor) -> Tensor | float:
    """The rates of the steps so many steps ago, in units of ``unit_of``; 1 where there was but one rate."""
    if has_one_rate(group):
        return 1.0
    past, unit = PastRates.of(group).newest, unit_of(group)
    known = torch.tensor(past, dtype=torch.float64)
    found: Tensor = known[(len(past) - ago.long()).clamp(min=0)] / unit
    return found
