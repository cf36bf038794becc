"""The emitted optimizer without memory: one process, order 1, groups that may differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from symmem.training.standalone.derivatives import _derivatives, _widened

__all__ = ["_Memoryless", "_constant", "_linear", "_settling"]


class _Memoryless(torch.optim.Optimizer):
    """One process, and groups that may differ; a subclass has the formulas."""

    _check: Callable[..., None]
    _values: Callable[..., list[float]]
    _scalars: Callable[..., list[float]]
    _plain: Callable[..., Tensor]
    _decays: Callable[..., list[float]]
    _corrected: Callable[..., Tensor]
    _past: Callable[..., Tensor]
    _table: Callable[..., Tensor]
    _has_paths: bool

    def __init__(
        self,
        params: Any,
        defaults: dict[str, Any],
        hvp: str | Callable[..., Any],
        functions: Sequence[Callable[..., Tensor]] = (),
    ) -> None:
        if not callable(hvp) and hvp not in ("double-backward", "central-difference"):
            known = "double-backward, central-difference"
            raise ValueError(f"hvp = {hvp!r} is neither a function nor one of {known}")
        self.hvp = hvp
        self.functions = functions
        super().__init__(params, {**defaults, "n": 0})

    def __getstate__(self) -> dict[str, Any]:
        mine = {"hvp": self.hvp, "functions": self.functions}
        return {**super().__getstate__(), **mine}

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """A group that joins has made no update: its parameters were constant."""
        super().add_param_group(param_group)
        try:
            self._check_group(self.param_groups[-1])
        except (TypeError, ValueError):
            self.param_groups.pop()
            raise

    def _check_group(self, group: dict[str, Any]) -> None:
        if not float(group["lr"]) >= 0:
            raise ValueError(f"lr = {group['lr']!r} is negative")
        self._check(None, *self._values(group))
        self._scalars(None if group["limit"] else 0, *self._values(group))
        for p in group["params"]:
            if not p.is_floating_point() or p.layout != torch.strided:
                raise TypeError("parameters have to be dense tensors of real numbers")
            if hasattr(p, "device_mesh"):
                raise TypeError("a parameter is sharded: this is for one process")

    @torch.no_grad()
    def step(self, closure: Callable[[], Tensor]) -> Tensor:  # type: ignore[override]
        """One update of every group; returns the loss before it."""
        if closure is None:
            raise ValueError("step needs a closure that returns the loss")
        groups = list(enumerate(self.param_groups))
        owned = [(k, p) for k, group in groups for p in group["params"] if p.requires_grad]
        signs = [-1 if self.param_groups[k]["maximize"] else 1 for k, _ in owned]
        rows, shares = self._planned()
        hvp = self.hvp if rows else None
        loss, slopes, product = _derivatives(closure, [p for _, p in owned], hvp)
        pairs = list(zip(signs, slopes, strict=True))
        gradients = [None if g is None else sign * g for sign, g in pairs]
        paths = [self._path(owned, gradients, row) for row in rows]
        products = [[sign * hv for sign, hv in zip(signs, product(path), strict=True)] for path in paths]
        for place, ((k, p), g) in enumerate(zip(owned, gradients, strict=True)):
            if g is not None:
                vectors = [products[row][place] for row, _ in shares[k]]
                vectors += [paths[row][place] for row, _ in shares[k] if self._has_paths]
                scales = [scale for _, scale in shares[k]]
                self._update(self.param_groups[k], p, g, vectors, scales)
        moved = {k for (k, _), g in zip(owned, gradients, strict=True) if g is not None}
        for k in moved:
            self.param_groups[k]["n"] += 1
        return loss

    def _update(
        self,
        group: dict[str, Any],
        p: Tensor,
        g: Tensor,
        vectors: list[Tensor],
        scales: list[float],
    ) -> None:
        """theta <- theta - lr (F + M) for one tensor."""
        values = self._values(group)
        scalars = self._scalars(None if group["limit"] else group["n"], *values)
        formula = self._corrected if scales else self._plain
        theta, *wide = _widened(p, g, *vectors)
        update = formula(theta, *wide, *self.functions, *scales, *scalars, *values)
        p.copy_(theta - float(group["lr"]) * update)

    def _path(
        self,
        owned: list[tuple[int, Tensor]],
        gradients: list[Tensor | None],
        row: list[Tensor],
    ) -> list[Tensor]:
        """lr times the sum of weight * F over the past steps, for each parameter."""
        found = []
        for (k, p), g in zip(owned, gradients, strict=True):
            group, total = self.param_groups[k], torch.zeros_like(p)
            for weight, *scalars in [] if g is None else row[k].tolist():
                given = (*self.functions, *scalars, *self._values(group))
                past = self._past(*_widened(p, g), *given)
                total += (float(group["lr"]) * weight * past).to(p.dtype)
            found.append(total)
        return found

    def _planned(self) -> tuple[list[list[Tensor]], list[list[tuple[int, float]]]]:
        """The products that a step needs, and for each memory of each group its own.

        A product is a row with a table for each group: weight, scalars of past steps.
        Memories whose rows are multiples of each other share a product.
        """
        rows: list[list[Tensor]] = []
        shares: list[list[tuple[int, float]]] = []
        for receiver in self.param_groups:
            decays = self._decays(*self._values(receiver))
            mine = [_placed(self._row(decay, receiver), rows) for decay in decays]
            shares.append(mine if any(scale for _, scale in mine) else [])
        return rows, shares

    def _row(self, decay: float, receiver: dict[str, Any]) -> list[Tensor]:
        """What the past steps of every group weigh in a memory of the receiver.

        w(s) = sum_{k=n_j-s..n_i} decay^k for a sender and a receiver that have made
        n_j and n_i updates; below 2**-60 of the newest a step is left out.
        """
        found = []
        rate = math.log(decay) if decay > 0 else -math.inf
        for sender in self.param_groups:
            n, own = (math.inf if x["limit"] else x["n"] for x in (sender, receiver))
            count = math.floor(min(n, own, -60 * math.log(2) / rate))
            ago = torch.arange(1, count + 1, dtype=torch.float64)
            weights = -torch.exp(rate * ago) * torch.expm1(rate * (own + 1 - ago))
            steps = None if math.isinf(n) else n - ago
            table = self._table(weights / (1 - decay), steps, self._values(sender))
            found.append(table if count else table[:0])
        return found


def _placed(row: list[Tensor], rows: list[list[Tensor]]) -> tuple[int, float]:
    """The place of a row among the rows, which it joins where it is new; its factor."""
    if all(len(table) == 0 for table in row):
        return 0, 0.0
    for place, other in enumerate(rows):
        if all(a.shape == b.shape for a, b in zip(row, other, strict=True)):
            mine, theirs = torch.cat(row), torch.cat(other).clone()
            scale = float(mine[0, 0] / theirs[0, 0])
            theirs[:, 0] *= scale
            if torch.allclose(mine, theirs, rtol=2.0**-44, atol=0.0):
                return place, scale
    rows.append(row)
    return len(rows) - 1, 1.0


def _constant(weights: Tensor) -> Tensor:
    """F does not depend on the step: one row stands for the whole sum."""
    return weights.sum()[None, None]


def _linear(weights: Tensor, scalars: list[Any]) -> Tensor:
    """F is linear in its scalars: one row stands for the whole sum."""
    sums = torch.stack([(weights * x).sum() for x in scalars])
    size = sums.abs().max()
    return torch.cat([size[None], sums / size])[None] if size else torch.empty(0, 1)


def _settling(weights: Tensor, scalars: list[Any], limit: list[Any]) -> Tensor:
    """The steps whose scalars have reached their limit are one row."""
    table = torch.stack([weights, *(x + torch.zeros_like(weights) for x in scalars)], dim=1)
    end = torch.tensor([0.0, *limit], dtype=torch.float64)
    early = ((table - end).abs() > 2.0**-53 * end.abs())[:, 1:].any(dim=1)
    end[0] = table[~early, 0].sum()
    return table if early.all() else torch.cat([end[None], table[early]])
