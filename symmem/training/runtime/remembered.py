"""Which products with the Hessian a step needs, and who has a share of them (mathematics.md section 5).

In its memory with decay beta a group i that has made n_i updates has the displacement S, which on group j is

    sum_s w(s) lr_j(s) F_j^(s),     w(s) = sum_{k = n_j - s .. n_i} beta^k,     max(0, n_j - n_i) <= s < n_j,

with the rates lr_j(s) that the group had, in units of the present one (:mod:`.rates`).

Example: beta = 1/2, n_i = n_j = 2: the newest step s = 1 weighs 1/2 + 1/4, the oldest s = 0 weighs 1/4.  A table has
one row for each past step, with the columns weight, scalars of F; steps of the same F are one row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from .formulas import Memory
from .groups import Part, Share, step_of
from .rates import counted, past_rates

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
        for decay in decays:
            if (decay, part.n) not in known:
                row = [remembered(decay, part.n, sender) for sender in senders]
                known[decay, part.n] = placed(row, rows)
        shares.append([known[decay, part.n] for decay in decays])
    return rows, shares


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


def remembered(decay: float, receiver: float, sender: Part) -> Tensor:
    """What the past steps of a sender weigh in a memory of a receiver that has made so many updates: a table."""
    memory = sender.formulas.memory
    assert memory is not None
    count = counted(decay, min(receiver, sender.n))
    if count == 0:
        return _table([])
    ago = torch.arange(1, count + 1, dtype=torch.float64)
    rest = receiver + 1 - ago
    fallen = -torch.expm1(rest * math.log(decay)) if decay > 0 else 1 - decay**rest
    weights = decay**ago * fallen / (1 - decay) * past_rates(sender.group, ago)
    if not weights.any():
        return _table([])
    if memory.past_scalars is None:
        # F does not depend on the step: one row stands for the whole sum.
        return _table([weights.sum()[None]])
    step = None if math.isinf(sender.n) else sender.n - ago
    scalars = [x + torch.zeros_like(ago) for x in memory.past_scalars(step, *sender.values)]
    if memory.is_linear:
        return _summed(weights, scalars)
    return _settled(_table([weights, *scalars]), memory, sender)


def _table(columns: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(columns), dim=1) if columns else torch.empty(0, 1, dtype=torch.float64)


def _summed(weights: Tensor, scalars: Sequence[Tensor]) -> Tensor:
    """F is linear in its scalars: one row stands for the whole sum, its weight the size of the largest scalar."""
    sums = torch.stack([(weights * x).sum() for x in scalars])
    size = sums.abs().max()
    return _table([]) if size == 0 else torch.cat([size[None], sums / size])[None]


def _settled(table: Tensor, memory: Memory, sender: Part) -> Tensor:
    """The steps whose scalars have reached their limit are one row."""
    if not sender.formulas.has_limit or memory.past_scalars is None:
        return table
    limit = [float(x) for x in memory.past_scalars(step_of(math.inf), *sender.values)]
    end = torch.tensor([0.0, *limit], dtype=torch.float64)
    early = ((table - end).abs() > 2.0**-53 * end.abs())[:, 1:].any(dim=1)
    if bool(early.all()):
        return table
    end[0] = table[~early, 0].sum()
    return torch.cat([end[None], table[early]])
