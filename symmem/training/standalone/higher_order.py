"""The emitted optimizer of an order above 1: one process, groups that differ in lr alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from symmem.training.standalone.derivatives import _Hvp
from symmem.training.standalone.example import (
    _HAS_FINITE,
    _HAS_LIMIT,
    _JOINS,
    _ORDER,
    _check,
    _rated_step,
    _values,
)

__all__ = ["_HigherMemoryless", "_each_tensor", "_flat", "_tensorwise"]


class _HigherMemoryless(torch.optim.Optimizer):
    """One process; groups may differ in lr alone. Vectors are flat: all parameters."""

    def __init__(
        self,
        params: Any,
        defaults: dict[str, Any],
        hvp: _Hvp,
        *functions: Callable[..., Tensor],
    ) -> None:
        if hvp != "double-backward":
            raise ValueError('above order 1 there is hvp="double-backward" alone')
        self.hvp, self.functions = hvp, functions
        super().__init__(params, {**defaults, "n": 0})

    def __getstate__(self) -> dict[str, Any]:
        mine = {"hvp": self.hvp, "functions": self.functions}
        return {**super().__getstate__(), **mine}

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """A group that differs from the first in more than lr is refused."""
        super().add_param_group(param_group)
        first, group = self.param_groups[0], self.param_groups[-1]
        try:
            if not float(group["lr"]) >= 0:
                raise ValueError(f"lr = {group['lr']!r} is negative")
            _check(None, *_values(group))
            if not (_HAS_LIMIT if group["limit"] else _HAS_FINITE):
                raise ValueError(f"not known; use limit={not group['limit']}")
            for name in first.keys() - {"params", "lr", "initial_lr"}:
                if group[name] != first[name]:
                    raise ValueError(f"groups may differ in lr alone, not in {name}")
        except ValueError:
            self.param_groups.pop()
            raise

    @torch.no_grad()
    def step(self, closure: Callable[[], Tensor]) -> Tensor:  # type: ignore[override]
        """One update of every group; returns the loss before it."""
        first, groups = self.param_groups[0], self.param_groups
        with torch.enable_grad():
            loss = closure()
            goal = -loss if first["maximize"] else loss
            owned = [(g, p) for g in groups for p in g["params"] if p.requires_grad]
            options: Any = {"create_graph": True, "allow_unused": True}
            slopes = torch.autograd.grad(goal, [p for _, p in owned], **options)
        pairs = zip(owned, slopes, strict=True)
        used = [(group, p, slope) for (group, p), slope in pairs if slope is not None]
        points = [p for _, p, _ in used]
        rates = _flat([torch.full_like(p, float(group["lr"])) for group, p, _ in used])

        def split(vector: Tensor) -> list[Tensor]:
            pieces = vector.split([p.numel() for p in points])
            pairs = zip(pieces, points, strict=True)
            return [x.view_as(p).to(p.dtype) for x, p in pairs]

        def contraction(_theta: Tensor, *vectors: Tensor) -> Tensor:
            """D^(k+1) L [v_1, ..., v_k] at the parameters."""
            found = [slope for _, _, slope in used]
            for vector in vectors:
                pairs = list(zip(found, split(vector), strict=True))
                outputs = [x for x, _ in pairs if x.requires_grad]
                along = [v for x, v in pairs if x.requires_grad]
                with torch.enable_grad():
                    options: Any = {"create_graph": True, "materialize_grads": True}
                    found = list(torch.autograd.grad(outputs, points, along, **options))
            return _flat(found)

        moved = _rated_step(
            _flat(points),
            contraction(rates),
            *[contraction] * _ORDER,
            *(_tensorwise(split, each) for each in self.functions),
            *([_each_tensor(split)] if _JOINS else []),
            rates,
            None if first["limit"] else first["n"],
            *_values(first),
        )
        for p, value in zip(points, split(moved), strict=True):
            p.copy_(value)
        for group in groups:
            group["n"] += 1
        return loss.detach()


def _tensorwise(split: Any, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function of tensors, on flat vectors."""

    def applied(*vectors: Tensor) -> Tensor:
        together = zip(*map(split, vectors), strict=True)
        return _flat([function(*tensors) for tensors in together])

    return applied


def _each_tensor(split: Any) -> Callable[..., Tensor]:
    """A function of each tensor by itself; a number stands in all its entries."""

    def applied(function: Any, vectors: Any, numbers: Any) -> Tensor:
        def one(*x: Tensor) -> Tensor:
            return function(torch, x, numbers).expand(x[0].shape)

        return _tensorwise(split, one)(*vectors)

    return applied


def _flat(tensors: list[Tensor]) -> Tensor:
    """One vector of all entries; half precision becomes float32."""
    wide = [x.float() if x.dtype.itemsize < 4 else x for x in tensors]
    return torch.cat([x.detach().reshape(-1) for x in wide])
