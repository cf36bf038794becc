"""What an update is where the gradient is 0: a pixel that is always black, a word that no batch has."""

from __future__ import annotations

import torch

from .formulas import FirstOrder, Formulas, Group


def has_no_value_at_zero(formulas: Formulas, group: Group) -> bool:
    """Whether an entry whose gradient has always been 0 has no finite first update, as ``m1/sqrt(m2)`` has 0/0.

    Asked of updates that act entry by entry and read no chain; of others nothing is said.
    """
    if not isinstance(formulas, FirstOrder) or not formulas.is_entrywise or formulas.opaque:
        return False
    running, values = formulas.running, formulas.values(group)
    if running.chain:
        return False
    one, zero = torch.ones(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    sums = [zero.clone() for _ in running.states]
    update = running.update(one, zero, *sums, *running.scalars(0, *values), *values)
    return not bool(torch.isfinite(update).all())
