"""The sums of past rates, carried on from step to step (mathematics.md section 2).

A memory with decay beta sees the step s of a group that has made n updates with the weight
``w(s) = beta^(n-s) (1 - beta^(s+1))/(1 - beta)``.  After one more update, of the rate lr(n), every weight is beta times
what it was, so that the sum ``S_n = sum_{s<n} w(s) lr(s) x(s)`` needs no list of rates:

    S_{n+1} = beta S_n + beta (1 - beta^(n+1))/(1 - beta) lr(n) x(n)

Example: beta = 1/2, rates 1 and 3, x = 1: S_1 = 1/2, S_2 = 1/4 + 9/4 = 5/2; the weights of n = 2 are 1/4 and 3/4.
A decay that changes acts from then on.  A memory that comes in later, a new group or target, finds all steps before it
at the oldest rate that is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch

from .groups import Part
from .rates import PastRates, counted, written
from .remembered import fallen, memory_key, own_numbers, summed_rates


def note_steps(parts: Sequence[Part]) -> None:
    """The groups that have a gradient made an update: n counts it, and its rate joins the past ones."""
    note_rates(parts, parts)
    for part in filter(is_updated, parts):
        part.group["n"] += 1


def is_updated(part: Part) -> bool:
    """Whether a parameter of the part has a gradient in this step."""
    return any(g is not None for g in part.gradients)


def note_rates(parts: Sequence[Part], receivers: Sequence[Part]) -> None:
    """The rates of a step join the past ones of what is updated in it, as all the receivers remember them.

    Parameters that are updated in other steps have pasts of their own; what is not updated or trained keeps its past.
    """
    seen = {memory_key(part, k): decay for part in receivers for k, decay in enumerate(part.decays)}
    for place in {part.place for part in filter(is_updated, parts)}:
        here = [part for part in (*parts, *receivers) if part.place == place and not part.target]
        group = here[0].group
        if not group.get("_rates") or group["_rates"] == [here[0].lr]:
            group["_rates"] = [here[0].lr]
            continue
        records = []
        for part in dict.fromkeys(here):
            updated = updated_members(part)
            if updated:
                younger = [other.n + 1 for other in (*parts, *receivers) if other.n < part.n]
                records.append((updated, _after(part, seen, max(younger, default=1))))
            if resting := [member for member in part.members if member not in updated]:
                records.append((resting, PastRates.of(group, part.member)))
        group["_rates"] = written(records)


def updated_members(part: Part) -> list[int]:
    """Those that have a gradient in this step; a group without memory counts its updates as a whole."""
    if not part.keeps_state:
        return part.members if is_updated(part) else []
    pairs = zip(part.members, part.gradients or [None] * len(part.members), strict=True)
    return [member for member, g in pairs if g is not None]


def _after(part: Part, seen: Mapping[str, float], listed: float) -> PastRates:
    """With the step of this part; the newest rates stay listed as far as they are asked for."""
    past, memory = PastRates.of(part.group, part.member), part.formulas.memory
    longest = max((counted(decay, math.inf) for decay in seen.values()), default=1)
    if memory is None or memory.is_one_line:
        return PastRates((part.lr,))
    if not memory.has_sums:
        return PastRates((*past.newest, part.lr)[-max(longest, 1) :])
    now = [part.lr * float(x) for x in own_numbers(part, torch.tensor([part.n], dtype=torch.float64))]
    sums = {
        key: _carried_on(decay, part.n, past.sums.get(key) or summed_rates(decay, part), now)
        for key, decay in seen.items()
    }
    total = tuple(a + b for a, b in zip(past.total or _total(part, past), now, strict=True))
    keep = int(min(listed, max(longest, 1)))
    return PastRates((*past.newest, part.lr)[-keep:], total, sums)


def _carried_on(decay: float, n: float, sums: Sequence[float], now: Sequence[float]) -> tuple[float, ...]:
    """The sums after one more step, which has these numbers times its rate."""
    newest = decay * fallen(decay, n + 1) / (1 - decay) if decay else 0.0
    return tuple(decay * old + newest * new for old, new in zip(sums, now, strict=True))


def _total(part: Part, past: PastRates) -> tuple[float, ...]:
    """``sum_s lr(s) x(s)`` over all steps so far, from the listed rates; those before them had the first."""
    if math.isinf(part.n):
        return (0.0,) * len(own_numbers(part, None))  # nobody has made more updates, and asks for it
    steps = torch.arange(int(part.n), dtype=torch.float64)
    rates = torch.tensor(past.newest, dtype=torch.float64)
    listed = rates[(len(past.newest) - int(part.n) + steps.long()).clamp(min=0)]
    return tuple(float((listed * x).sum()) for x in own_numbers(part, steps))
