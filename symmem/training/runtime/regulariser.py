"""R with M = P grad R, where memory adds a gradient times the preconditioner (mathematics.md section 5).

R = sum over products r of weights[r] A[S_r], grad A[S] = D2L[S]: S_r on a part is lr times the sum over its past steps
of weight * F, and A of one of these F is the sum of a density, minus a share of the loss.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from .formulas import Regulariser
from .groups import Part
from .processes import OneProcess
from .remembered import Table, planned
from .vectors import Vectors, entry, widened

Past = list[Table]
"""For each product the past steps of a part."""


def regulariser(
    formulas: Regulariser, parts: Sequence[Part], loss: float, processes: OneProcess
) -> tuple[float, Vectors]:
    """R, and its gradient, None where the loss has none; nan where the groups differ in their memory."""
    rows, _ = planned(parts, parts)
    past = {part: [row[j] for row in rows] for j, part in enumerate(parts)}
    used = [part for part in parts if any(g is not None for g in part.gradients)]
    if not used:
        return 0.0, [None for part in parts for _ in part.gradients]
    signs = {-1.0 if part.group["maximize"] else 1.0 for part in used}
    weights = [product_weights(formulas, part) for part in used]
    exists = len(signs) == 1 and all(_close(each, weights[0]) for each in weights)
    shares = {part: _share_of_loss(formulas, part, past[part], weights[0]) for part in used}
    first = shares[used[0]]
    one_share = all(math.isclose(share, first) for share in shares.values())
    totals: list[float] = []
    gradient: Vectors = []
    for part in parts:
        for place, g in enumerate(part.gradients):
            if g is None:
                totals.append(0.0)
                gradient.append(None)
                continue
            theta, g = widened(part.parameters[place], g)
            totals.append(_total(formulas, part, (theta, g), past[part], weights[0]))
            slope = torch.zeros_like(g) if one_share else shares[part] * g
            _add_products(slope, part, place, weights[0])
            gradient.append(slope if exists else torch.full_like(g, math.nan))
    value = processes.total(totals) - (first * signs.pop() * loss if one_share else 0.0)
    return value if exists else math.nan, gradient


def _total(
    formulas: Regulariser,
    part: Part,
    point: tuple[Tensor, Tensor],
    past: Past,
    weights: Mapping[int, float],
) -> float:
    """The densities of one tensor, added up over its entries and the past."""
    found = 0.0
    for row, weight in weights.items():
        for number, *scalars in past[row]:
            density = formulas.density(*point, *scalars, *part.values)
            found += weight * part.unit * number * float(density.sum(dtype=torch.float64))
    return found


def _add_products(slope: Tensor, part: Part, place: int, weights: Mapping[int, float]) -> None:
    products = {memory.row: memory.product for memory in part.memories}
    for row, weight in weights.items():
        slope.add_(entry(products.get(row, []), place, slope), alpha=weight)


def _share_of_loss(formulas: Regulariser, part: Part, past: Past, weights: Mapping[int, float]) -> float:
    """How often R has the loss itself, with a minus."""
    total = 0.0
    for row, weight in weights.items():
        for number, *scalars in past[row]:
            total += weight * part.unit * number * formulas.share_of_loss(*scalars, *part.values)
    return total


def product_weights(formulas: Regulariser, part: Part) -> dict[int, float]:
    """What stands before each product in grad R."""
    strengths = formulas.strengths(*part.scalars, *part.values)
    found: dict[int, float] = {}
    for strength, memory in zip(strengths, part.memories, strict=False):
        if memory.scale:
            found[memory.row] = found.get(memory.row, 0.0) + strength * memory.scale
    return found


def _close(first: Mapping[int, float], second: Mapping[int, float]) -> bool:
    same = first.keys() == second.keys()
    return same and all(math.isclose(first[row], second[row]) for row in first)
