"""The past learning rates of a group, as its scheduler set them: what its memory weighs its past steps with.

``group["_rates"]`` is ``[lr]`` as long as the rate never changed, else a record, three lists, plain for a checkpoint:

    newest    the newest rates, the newest last; a step before the first of them had that first rate
    total     sum over all steps s of lr(s) x(s), for each number x of F that depends on the step; 1 where none does
    sums      ``[key, S, ...]``: the same sums with the weights of one memory, which :mod:`.noted` carries on

Where F is linear in its numbers, nothing but the sums is needed, and ``newest`` is the last rate alone.  Rates are
listed one by one for parameters that have made fewer updates than others, and where F is not linear, as far back as a
memory sees.  Parameters that were updated in other steps, for want of gradients, have records of their own:
``["members", [places, newest, total, sums], ...]``, with their places in the group.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

TOLERANCE_BITS = 60
"""Steps that weigh less than 2^-60 of the newest are left out."""
MEMBERS = "members"
"""What several records begin with."""


@dataclass(frozen=True)
class PastRates:
    """What is kept of the past rates of parameters; ``sums`` by the key of a memory."""

    newest: tuple[float, ...]
    total: tuple[float, ...] = ()
    sums: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, group: dict[str, Any], member: int = 0) -> PastRates:
        """As the group has it for the parameter at a place; a plain list of numbers is that of the newest rates."""
        kept = group.get("_rates") or [float(group["lr"])]
        if kept[0] == MEMBERS:
            kept = kept[records_of(group).get(member, 1)][1:]
        if not isinstance(kept[0], list):
            return cls(tuple(kept))
        newest, total, sums = kept
        return cls(tuple(newest), tuple(total), {key: tuple(values) for key, *values in sums})

    def written(self) -> list[Any]:
        """As a group keeps it where it is that of all its parameters."""
        return list(self.newest) if self.is_one else self.record()

    @property
    def is_one(self) -> bool:
        """Whether there was but one rate."""
        return not self.sums and len(self.newest) == 1 and not self.total

    def record(self) -> list[Any]:
        """The three lists."""
        return [list(self.newest), list(self.total), [[key, *row] for key, row in self.sums.items()]]


def records_of(group: dict[str, Any]) -> dict[int, int]:
    """Which record is that of each parameter, by its place in the group; nothing where there is one for all."""
    kept = group.get("_rates") or [0.0]
    if kept[0] != MEMBERS:
        return {}
    return {member: k for k, (places, *_) in enumerate(kept[1:], start=1) for member in places}


def written(records: Sequence[tuple[Sequence[int], PastRates]]) -> list[Any]:
    """As a group keeps the records of its parameters, by their places: equal ones are one."""
    found: list[tuple[list[int], PastRates]] = []
    for places, record in records:
        mine = next((known for known, other in found if other == record), None)
        if mine is None:
            found.append((list(places), record))
        else:
            mine += places
    if len(found) == 1:
        return found[0][1].written()
    return [MEMBERS, *([sorted(places), *record.record()] for places, record in found)]


def counted(decay: float, n: float) -> int:
    """How many past steps count in a memory, of the n that were made."""
    return math.floor(min(n, -TOLERANCE_BITS * math.log(2) / math.log(abs(decay)))) if decay else 0


def unit_of(group: dict[str, Any], member: int = 0) -> float:
    """The rate in which past ones are counted: the present one; where that is 0, the largest that is known, or 1."""
    past = PastRates.of(group, member)
    return float(group["lr"]) or max(past.newest) or float(bool(past.sums))


def has_one_rate(group: dict[str, Any], member: int = 0) -> bool:
    """Whether all past steps that are listed had the rate in which they are counted."""
    unit = unit_of(group, member)
    return unit == 0 or PastRates.of(group, member).newest == (unit,)


def past_rates(group: dict[str, Any], ago: Tensor, member: int = 0) -> Tensor | float:
    """The rates of the steps so many steps ago, in units of ``unit_of``; 1 where there was but one rate."""
    if has_one_rate(group, member):
        return 1.0
    past, unit = PastRates.of(group, member).newest, unit_of(group, member)
    known = torch.tensor(past, dtype=torch.float64)
    found: Tensor = known[(len(past) - ago.long()).clamp(min=0)] / unit
    return found
