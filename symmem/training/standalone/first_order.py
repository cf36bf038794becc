"""The emitted optimizer without memory: one process, order 1, groups that may differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from symmem.training.standalone.derivatives import _derivatives
from symmem.training.standalone.example import (
    _HAS_PATHS,
    _LINES,
    _UPDATES,
    _check,
    _decays,
    _past,
    _scalars,
    _values,
)
from symmem.training.standalone.tables import _linear as _table

__all__ = ["_Memoryless", "_count", "_factor", "_numbers", "_planned", "_remembered", "_widened"]

_Group = dict[str, Any]
_Row = dict[int, Tensor]


class _Memoryless(torch.optim.Optimizer):
    def __init__(self, params: Any, given: _Group, hvp: Any, *functions: Any) -> None:
        if not callable(hvp) and hvp not in ("double-backward", "central-difference"):
            raise ValueError(f"hvp = {hvp!r}: double-backward or central-difference")
        self.hvp, self.functions = hvp, functions
        super().__init__(params, {**given, "n": 0, "_rates": []})

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"hvp": self.hvp, "functions": self.functions}

    def add_param_group(self, param_group: _Group) -> None:
        """A group that joins has made no update: its parameters were constant."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        try:
            if not float(group["lr"]) >= 0:
                raise ValueError(f"lr = {group['lr']!r} is negative")
            if not all(p.is_floating_point() for p in group["params"]):
                raise TypeError("parameters have to be real numbers")
            if group["history"] not in _UPDATES:
                raise ValueError(f"history is one of: {', '.join(_UPDATES)}")
            _check(None, *_values(group))
            _scalars(None if group["limit"] else 0, *_values(group))
        except (TypeError, ValueError):
            self.param_groups.pop()
            raise

    @torch.no_grad()
    def step(self, closure: Callable[[], Tensor]) -> Tensor:  # type: ignore[override]
        """One update of every group; returns the loss before it."""
        groups = self.param_groups
        owned = [(g, p) for g in groups for p in g["params"] if p.requires_grad]
        signs = [-1 if group["maximize"] else 1 for group, _ in owned]
        rows, shares = _planned(groups)
        hvp = self.hvp if rows else None
        loss, slopes, product = _derivatives(closure, [p for _, p in owned], hvp)
        grads = [g if g is None else s * g for s, g in zip(signs, slopes, strict=True)]
        points = [(*owner, g) for owner, g in zip(owned, grads, strict=True)]
        paths = [[self._path(*point, row) for point in points] for row in rows]
        products = [product(path) for path in paths]
        numbers = {id(group): (*self.functions, *_numbers(group)) for group in groups}
        for place, (group, p, g) in enumerate(points):
            if g is not None:
                taken, zero, s = shares[id(group)], torch.zeros_like(p), signs[place]
                vectors = [s * a * products[k][place] if a else zero for k, a in taken]
                if _HAS_PATHS:
                    vectors += [a * paths[k][place] if a else zero for k, a in taken]
                given = (*_widened(p, g, *vectors), *numbers[id(group)])
                p.copy_(p - float(group["lr"]) * _UPDATES[group["history"]](*given))
        for group in {id(x): x for x, _, g in points if g is not None}.values():
            past, lr = group["_rates"], float(group["lr"])
            group["_rates"] = past if past == [lr] else [*past, lr][-(2**19) :]
            group["n"] += 1
        return loss

    def _path(self, group: _Group, p: Tensor, g: Any, row: _Row) -> Tensor:
        """The sum of weight * F over the past steps of one tensor, in units of lr."""
        total, values = torch.zeros_like(p), _values(group)
        for weight, *scalars in [] if g is None else row[id(group)].tolist():
            past = _past(*_widened(p, g), *self.functions, *scalars, *values)
            total += ((float(group["lr"]) or 1.0) * weight * past).to(p.dtype)
        return total


def _numbers(group: _Group) -> list[float]:
    """Those of the memories as lines (m_p / m_1^p, m_p = sum k^p decay^k), of n, of F."""
    n, values = math.inf if group["limit"] else group["n"], _values(group)
    found: list[float] = []
    for decay, (power, summed) in zip(_decays(*values), _LINES, strict=True):
        ago = torch.arange(1, _count(decay, n) + 1, dtype=torch.float64)
        sums = [float((ago**p * decay**ago).sum()) for p in range(1, power + 1)]
        first = sums[0] or math.inf
        found += [each / first**p for p, each in enumerate(sums[1:], start=2)]
        found += [1 / first, len(ago)] if summed else []
    return [*found, *_scalars(None if group["limit"] else int(n), *values), *values]


def _count(decay: float, n: float) -> int:
    """How many past steps count: those that weigh 2**-60 of the newest, or more."""
    return int(min(n, -60 / math.log2(abs(decay)))) if decay else 0


def _planned(groups: list[_Group]) -> tuple[list[_Row], dict[int, list[Any]]]:
    """Rows of tables, one for each Hessian product; row and factor of each memory."""
    rows: list[_Row] = []
    shares: dict[int, list[Any]] = {id(group): [] for group in groups}
    for group in groups:
        for decay in _decays(*_values(group)):
            row = {id(each): _remembered(decay, group, each) for each in groups}
            factors = [_factor(row, other) for other in rows]
            if any(len(table) for table in row.values()) and not any(factors):
                rows.append(row)
                factors.append(1.0)
            known = [(place, factor) for place, factor in enumerate(factors) if factor]
            shares[id(group)].append(known[0] if known else (0, 0.0))
    return rows, shares


def _factor(row: _Row, other: _Row) -> float:
    """The number by which the weights of the other row have to be multiplied, or 0."""
    if [len(x) for x in row.values()] != [len(x) for x in other.values()]:
        return 0.0
    mine, theirs = (torch.cat([t for t in x.values() if len(t)]) for x in (row, other))
    factor = float(mine[0, 0] / theirs[0, 0])
    theirs[:, 0] *= factor
    return factor if torch.allclose(mine, theirs, rtol=2.0**-44, atol=0.0) else 0.0


def _remembered(decay: float, group: _Group, sender: _Group) -> Tensor:
    """Weights lr_s/lr sum_{k=n_j-s..n_i} decay^k of a sender's past steps, cut at 2**-60."""
    updates, n = (math.inf if g["limit"] else g["n"] for g in (group, sender))
    count, rate = _count(decay, min(n, updates)), math.log(abs(decay) or 0.5)
    ago = torch.arange(1, max(count, 1) + 1, dtype=torch.float64)
    k = updates + 1 - ago
    weights = decay**ago * (1 - decay**k if decay < 0 else -torch.expm1(rate * k))
    past = torch.tensor(sender["_rates"] or [float(sender["lr"])], dtype=torch.float64)
    past = past[(len(past) - ago.long()).clamp(min=0)]
    weights *= past / ((float(sender["lr"]) or 1.0) * (1 - decay))
    steps = None if math.isinf(n) else n - ago
    return _table(weights, steps, _values(sender))[:count]


def _widened(*tensors: Tensor) -> list[Tensor]:
    """The tensors in the type to compute in: half precision becomes float32."""
    return [x.float() if x.dtype.itemsize < 4 else x for x in tensors]
