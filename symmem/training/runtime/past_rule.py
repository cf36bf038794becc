"""A few past steps that stand for all of them, where F of a past step is not linear in its numbers.

The weighted sum of ``f(s)`` over the past steps s is taken block by block, from one power of 2 of ``s + 1`` to the
next; a block has the Gauss rule of its own weights, NODES places with positive weights, exact for polynomials in s of
degree ``2 NODES - 1``.  The numbers of F are functions such as ``1 - beta^(s+1)``, and f has its singularities at ``s
<= -1``, three half-widths from the centre of a block, so that the error falls like ``(3 + sqrt(8))^(-2 NODES)``, 7e-10
of the block. In this way n steps cost ``NODES log2(n)`` evaluations of F at most, and those that no memory sees cost
none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

NODES = 6
"""Places in a block; blocks of no more steps are taken as they are."""
CHECKED = 2.0**-30
"""To this part of itself a rule has to give the sum of the numbers of F; else the block is taken as it is."""


def shortened(weights: Tensor, steps: Tensor, numbers: Callable[[Tensor], Sequence[Any]]) -> list[Tensor]:
    """The columns of a table, weights and numbers of F, with few rows: from the weights of all past steps."""
    places, shares = [], []
    blocks = torch.log2(steps + 1).floor()
    for block in blocks.unique():
        mine = (blocks == block) & (weights != 0)
        s, w = steps[mine], weights[mine]
        nodes = (s, w)
        if len(s) > NODES and bool((w > 0).all()):
            rule = gauss_rule(s, w)
            if _agrees(rule, nodes, numbers):
                nodes = rule
        places.append(nodes[0])
        shares.append(nodes[1])
    at = torch.cat(places)
    return [torch.cat(shares), *_spread(numbers(at), at)]


def _spread(numbers: Sequence[Any], steps: Tensor) -> list[Tensor]:
    """Numbers at steps, also those that are the same at all."""
    return [x + torch.zeros_like(steps) for x in numbers]


def gauss_rule(points: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """The Gauss rule of a discrete measure: its nodes are the eigenvalues of the Jacobi matrix, by Lanczos."""
    middle, half = (points.max() + points.min()) / 2, (points.max() - points.min()) / 2
    x, total = (points - middle) / half, weights.sum()
    basis = [(weights / total).sqrt()]
    matrix = torch.zeros(NODES, NODES, dtype=torch.float64)
    for k in range(NODES):
        moved = x * basis[k]
        matrix[k, k] = moved @ basis[k]
        for _ in range(2):  # once more takes away what rounding left
            for each in basis:
                moved = moved - (moved @ each) * each
        size = float(moved.norm())
        if k + 1 < NODES:
            matrix[k, k + 1] = matrix[k + 1, k] = size
            basis.append(moved / size if size else moved)
    values, vectors = torch.linalg.eigh(matrix)
    return middle + half * values, total * vectors[0].square()


def _agrees(
    rule: tuple[Tensor, Tensor], all_steps: tuple[Tensor, Tensor], numbers: Callable[[Tensor], Sequence[Any]]
) -> bool:
    """Whether the rule gives the weighted sums of the numbers of F, of their squares and of their inverses."""
    pairs = [_spread(numbers(steps), steps) for steps, _ in (rule, all_steps)]
    for few, many in zip(*pairs, strict=True):
        for power in (1, 2, -1):
            found, truth = ((w * x**power).sum() for w, x in ((rule[1], few), (all_steps[1], many)))
            if not bool((found - truth).abs() <= CHECKED * truth.abs()):
                return False
    return True
