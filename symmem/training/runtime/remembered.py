"""Which products with the Hessian a step needs, and who has a share of them (mathematics.md section 5).

In its memory with decay beta a group i that has made n_i updates has the displacement S, which on group j is

    sum_s w(s) lr_j(s) F_j^(s),     w(s) = sum_{k = n_j - s .. n_i} beta^k,     max(0, n_j - n_i) <= s < n_j,

with the rates lr_j(s) that the group had, in units of the present one (:mod:`.rates`).  Where the rates changed and F
is linear in its numbers, the sum was carried on from step to step (:mod:`.noted`).

Example: beta = 1/2, n_i = n_j = 2: the newest step s = 1 weighs 1/2 + 1/4, the oldest s = 0 weighs 1/4.  A table has
one row for each past step, its weight and the scalars of F; steps of the same F are one row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from .groups import Part, Share, step_of
from .past_rule import shortened
from .power_sums import power_sums
from .rates import PastRates, counted, has_one_rate, past_rates

Table = list[list[float]]
"""A row for each past step of a group: weight, scalars of F."""
Row = list[Table]
"""What each group puts into the displacement of one product: a table for each."""


def planned(receivers: Sequence[Part], senders: Sequence[Part]) -> tuple[list[Row], list[list[Share]]]:
    """The rows, one for each product, and the receivers' shares of the products, one for each memory.

    ``shares[i][l] = (r, scale)``: in its memory l group i has scale times the product r.  Displacements that are
    multiples of each other share a product.
    """
    rows: list[Row] = []
    known: dict[tuple[float, float], Share] = {}
    shares: list[list[Share]] = []
    for part in receivers:
        memory = part.formulas.memory
        if memory is not None and memory.is_one_line:
            shares.append([placed([last_step(sender, part.n) for sender in senders], rows)])
            continue
        decays = [] if memory is None else memory.decays(*part.values)
        for k, decay in enumerate(decays):
            if (decay, part.n) not in known:
                row = [remembered(decay, part.n, sender, memory_key(part, k)) for sender in senders]
                known[decay, part.n] = placed(row, rows)
        shares.append([known[decay, part.n] for decay in decays])
    return rows, shares


def memory_key(part: Part, memory: int) -> str:
    """By what a group knows the memory of another one: its group, its place, whether it is that of a target."""
    return f"{part.place}.{memory}{'t' if part.target else ''}{'l' if math.isinf(part.n) else ''}"


def last_step(sender: Part, receiver: float) -> Table:
    """The table of a line through the past: the last step of the sender; nothing before the first step of either."""
    return (
        []
        if min(sender.n, receiver) == 0
        else [[float(past_rates(sender.group, torch.ones(1), sender.member))]]
    )


def placed(row: Row, rows: list[Row]) -> Share:
    """The place of a row among the rows, which it joins where it is new; its factor.  Steps of rate 0 weigh nothing."""
    if not any(weight for table in row for weight, *_ in table):
        return None
    for place, other in enumerate(rows):
        scale = scale_between(row, other)
        if scale is not None:
            return place, scale
    rows.append(row)
    return len(rows) - 1, 1.0


def scale_between(row: Row, other: Row) -> float | None:
    """How many times the other row a row is: the weights in proportion, the scalars the same, to rounding."""
    if [*map(len, row)] != [*map(len, other)]:
        return None
    steps = [*zip(chain(*row), chain(*other), strict=True)]
    scale = next(mine[0] / theirs[0] for mine, theirs in steps if theirs[0])
    same = all(_close(mine, [scale * theirs[0], *theirs[1:]]) for mine, theirs in steps)
    return scale if same else None


def _close(first: Sequence[float], second: Sequence[float]) -> bool:
    return all(math.isclose(x, y, rel_tol=2.0**-44) for x, y in zip(first, second, strict=True))


def remembered(decay: float, receiver: float, sender: Part, key: str = "") -> Table:
    """What the past steps of a sender weigh in a memory of a receiver that has made so many updates: a table."""
    memory = sender.formulas.memory
    assert memory is not None
    carried = _carried(decay, receiver, sender, key)
    if carried is not None:
        return carried
    if memory.past_scalars is None:
        # F does not depend on the step: one row stands for the whole sum.
        weight = whole_weight(decay, receiver, sender)
        return [[weight]] if weight else []
    ago, weights = _weights(decay, receiver, sender)
    if not weights.any():
        return []
    steps = None if math.isinf(sender.n) else sender.n - ago
    scalars = own_numbers(sender, steps)
    if memory.is_linear:
        return _summed([float((weights * x).sum()) for x in scalars])
    table = torch.stack([weights, *(x + torch.zeros_like(ago) for x in scalars)], dim=1)
    settled, early = _settled(table, sender)
    if steps is None or not memory.is_smooth or not early.any():
        return settled + table[early].tolist()
    columns = shortened(weights[early], steps[early], partial(own_numbers, sender))
    return settled + torch.stack(columns, dim=1).tolist()


def whole_weight(decay: float, receiver: float, sender: Part) -> float:
    """``sum_s w(s) lr_j(s)``; with one rate ``sum_k k beta^k`` to n_j, or n_i if less, and n_j times what follows."""
    if not has_one_rate(sender.group, sender.member):
        return float(_weights(decay, receiver, sender)[1].sum())
    near = power_sums(decay, counted(decay, min(receiver, sender.n)), 1)[1]
    if receiver <= sender.n:
        return near
    return near + sender.n * decay**sender.n * power_sums(decay, counted(decay, receiver - sender.n), 0)[0]


def _weights(decay: float, receiver: float, sender: Part) -> tuple[Tensor, Tensor]:
    """How many steps ago a step was, and its weight times its rate, in units of the present one."""
    ago = torch.arange(1, counted(decay, min(receiver, sender.n)) + 1, dtype=torch.float64)
    if not len(ago):
        return ago, ago
    rest = receiver + 1 - ago
    left = -torch.expm1(rest * math.log(decay)) if decay > 0 else 1 - decay**rest
    return ago, decay**ago * left / (1 - decay) * past_rates(sender.group, ago, sender.member)


def fallen(decay: float, steps: float) -> float:
    """``1 - decay^steps``."""
    return -math.expm1(steps * math.log(decay)) if decay > 0 else 1 - decay**steps


def own_numbers(sender: Part, steps: Tensor | None) -> list[Any]:
    """The numbers of F at past steps of a sender, or in the limit; 1 where F does not depend on the step."""
    memory = sender.formulas.memory
    assert memory is not None
    if memory.past_scalars is None:
        return [1.0]
    return list(memory.past_scalars(None if math.isinf(sender.n) else steps, *sender.values))


def summed_rates(decay: float, sender: Part) -> tuple[float, ...]:
    """``sum_s w(s) lr(s) x(s)`` at the present step of a sender, from the rates that it has listed."""
    ago, weights = _weights(decay, sender.n, sender)
    numbers = own_numbers(sender, sender.n - ago) if len(ago) else [0.0]
    return tuple(sender.unit * float((weights * x).sum()) for x in numbers)


def _carried(decay: float, receiver: float, sender: Part, key: str) -> Table | None:
    """The table from the sums that were carried on; None where the rates are counted one by one.

    A receiver of more updates has ``(beta^(n_j+1) - beta^(n_i+1))/(1 - beta)`` more of every step.
    """
    past, memory = PastRates.of(sender.group, sender.member), sender.formulas.memory
    if memory is None or key not in past.sums or not sender.n <= receiver:
        return None
    more = 0.0
    if receiver > sender.n:
        more = decay ** (sender.n + 1) * fallen(decay, receiver - sender.n) / (1 - decay)
    total = past.total if more else (0.0,) * len(past.sums[key])
    found = [(x + more * y) / sender.unit for x, y in zip(past.sums[key], total, strict=True)]
    if memory.past_scalars is None:
        return [found] if any(found) else []
    return _summed(found)


def _summed(sums: Sequence[float]) -> Table:
    """F is linear in its scalars: one row stands for the whole sum, its weight the size of the largest scalar."""
    size = max(map(abs, sums))
    return [[size, *(x / size for x in sums)]] if size else []


def _settled(table: Tensor, sender: Part) -> tuple[Table, Tensor]:
    """The steps whose scalars have reached their limit as one row, or none; which steps have not."""
    memory = sender.formulas.memory
    if not sender.formulas.has_limit or memory is None or memory.past_scalars is None:
        return [], torch.ones(len(table), dtype=torch.bool)
    limit = [float(x) for x in memory.past_scalars(step_of(math.inf), *sender.values)]
    end = torch.tensor([0.0, *limit], dtype=torch.float64)
    early = ((table - end).abs() > 2.0**-53 * end.abs())[:, 1:].any(dim=1)
    weight = float(table[~early, 0].sum())
    return [] if bool(early.all()) else [[weight, *limit]], early
