"""The past steps of a group in a memory, as a table with the columns weight, scalars of F: one way is emitted."""

from __future__ import annotations

import torch
from torch import Tensor

from symmem.training.standalone.example import _past_scalars

__all__ = ["_constant", "_linear", "_listed", "_settling"]


def _constant(weights: Tensor, steps: Tensor | None, values: list[float]) -> Tensor:
    """F does not depend on the step: one row stands for the whole sum."""
    return weights.sum()[None, None]


def _linear(weights: Tensor, steps: Tensor | None, values: list[float]) -> Tensor:
    """F is linear in its scalars: one row stands for the whole sum."""
    sums = torch.stack([(weights * x).sum() for x in _past_scalars(steps, *values)])
    size = sums.abs().max()
    return torch.cat([size[None], sums / size])[None] if size else torch.empty(0, 1)


def _listed(weights: Tensor, steps: Tensor | None, values: list[float]) -> Tensor:
    """A row for each step."""
    zero = torch.zeros_like(weights)
    scalars = [zero + x for x in _past_scalars(steps, *values)]
    return torch.stack([weights, *scalars], dim=1)


def _settling(weights: Tensor, steps: Tensor | None, values: list[float]) -> Tensor:
    """The steps whose scalars have reached their limit are one row."""
    table = _listed(weights, steps, values)
    limit = [float(x) for x in _past_scalars(None, *values)]
    end = torch.tensor([0.0, *limit], dtype=torch.float64)
    early = ((table - end).abs() > 2.0**-53 * end.abs())[:, 1:].any(dim=1)
    end[0] = table[~early, 0].sum()
    return table if early.all() else torch.cat([end[None], table[early]])
