"""Which products with the Hessian a step needs, and who has a share of them (mathematics.md section 5).

In its memory with decay beta a group i that has made n_i updates has the displacement S, which on group j is

    sum_s w(s) lr_j(s) F_j^(s),     w(s) = sum_{k = n_j - s .. n_i} beta^k,     max(0, n_j - n_i) <= s < n_j,

with the rates lr_j(s) that the group had, in units of the present one (:mod:`.rates`).  Where the rates changed and F
is linear in its numbers, the sum was carried on from step to step (:mod:`.noted`).

Example: beta = 1/2, n_i = n_j = 2: the newest step s = 1 weighs 1/2 + 1/4, the oldest s = 0 weighs 1/4.  A table has
one row for each past step, with the columns weight, scalars of F; steps of the same F are one row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .groups import Part, Share, step_of
from .past_rule import shortened
from .rates import PastRates, counted, past_rates

Row = list[Tensor]
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


def last_step(sender: Part, receiver: float) -> Tensor:
    """The table of a line through the past: the last step of the sender; nothing before the first step of either."""
    if min(sender.n, receiver) == 0:
        return _table([])
    return _table([past_rates(sender.group, torch.ones(1)) * torch.ones(1, dtype=torch.float64)])


def placed(row: Row, rows: list[Row]) -> Share:
    """The place of a row among the rows, which it joins where it is new; its factor."""
    if all(table.numel() == 0 for table in row):
        return None
    for place, other in enumerate(rows):
        if all(a.shape == b.shape for a, b in zip(row, other, strict=True)):
            mine, theirs = _joined(row), _joined(other)
            scale = mine[0, 0] / theirs[0, 0]
            same = torch.cat([scale * theirs[:, :1], theirs[:, 1:]], dim=1)
            if torch.allclose(mine, same, rtol=2.0**-44, atol=0.0):
                return place, float(scale)
    rows.append(row)
    return len(rows) - 1, 1.0


def _joined(row: Row) -> Tensor:
    """All tables below each other; those without a row have no columns either."""
    return torch.cat([table for table in row if table.numel()])


def remembered(decay: float, receiver: float, sender: Part, key: str = "") -> Tensor:
    """What the past steps of a sender weigh in a memory of a receiver that has made so many updates: a table."""
    memory = sender.formulas.memory
    assert memory is not None
    carried = _carried(decay, receiver, sender, key)
    if carried is not None:
        return carried
    ago, weights = _weights(decay, receiver, sender)
    if not weights.any():
        return _table([])
    if memory.past_scalars is None:
        # F does not depend on the step: one row stands for the whole sum.
        return _table([weights.sum()[None]])
    steps = None if math.isinf(sender.n) else sender.n - ago
    scalars = own_numbers(sender, steps)
    if memory.is_linear:
        return _summed(torch.stack([(weights * x).sum() for x in scalars]))
    table = _table([weights, *(x + torch.zeros_like(ago) for x in scalars)])
    settled, early = _settled(table, sender)
    if steps is None or not memory.is_smooth or not early.any():
        return torch.cat([settled, table[early]])
    return torch.cat([settled, _table(shortened(weights[early], steps[early], partial(own_numbers, sender)))])


def _weights(decay: float, receiver: float, sender: Part) -> tuple[Tensor, Tensor]:
    """How many steps ago a step was, and its weight times its rate, in units of the present one."""
    ago = torch.arange(1, counted(decay, min(receiver, sender.n)) + 1, dtype=torch.float64)
    if not len(ago):
        return ago, ago
    rest = receiver + 1 - ago
    left = -torch.expm1(rest * math.log(decay)) if decay > 0 else 1 - decay**rest
    return ago, decay**ago * left / (1 - decay) * past_rates(sender.group, ago)


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


def _carried(decay: float, receiver: float, sender: Part, key: str) -> Tensor | None:
    """The table from the sums that were carried on; None where the rates are counted one by one.

    A receiver of more updates has ``(beta^(n_j+1) - beta^(n_i+1))/(1 - beta)`` more of every step.
    """
    past, memory = PastRates.of(sender.group), sender.formulas.memory
    if memory is None or key not in past.sums or not sender.n == sender.oldest <= receiver:
        return None
    found = torch.tensor(past.sums[key], dtype=torch.float64)
    if receiver > sender.n:
        more = decay ** (sender.n + 1) * fallen(decay, receiver - sender.n) / (1 - decay)
        found += more * torch.tensor(past.total, dtype=torch.float64)
    found /= sender.unit
    if memory.past_scalars is None:
        return _table([found]) if found.any() else _table([])
    return _summed(found)


def _table(columns: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(columns), dim=1) if columns else torch.empty(0, 1, dtype=torch.float64)


def _summed(sums: Tensor) -> Tensor:
    """F is linear in its scalars: one row stands for the whole sum, its weight the size of the largest scalar."""
    size = sums.abs().max()
    return _table([]) if size == 0 else torch.cat([size[None], sums / size])[None]


def _settled(table: Tensor, sender: Part) -> tuple[Tensor, Tensor]:
    """The steps whose scalars have reached their limit as one row, or none; which steps have not."""
    memory = sender.formulas.memory
    if not sender.formulas.has_limit or memory is None or memory.past_scalars is None:
        return table[:0], torch.ones(len(table), dtype=torch.bool)
    limit = [float(x) for x in memory.past_scalars(step_of(math.inf), *sender.values)]
    end = torch.tensor([0.0, *limit], dtype=torch.float64)
    early = ((table - end).abs() > 2.0**-53 * end.abs())[:, 1:].any(dim=1)
    end[0] = table[~early, 0].sum()
    return table[:0] if bool(early.all()) else end[None], early
