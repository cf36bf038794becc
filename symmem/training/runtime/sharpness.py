"""The preconditioned sharpness of a running optimizer beside its threshold: is it at the edge of stability?

The sharpness is the largest eigenvalue of ``P^(1/2) (H + shift) P^(1/2)``: H the Hessian of the loss here, P the
preconditioner of the update that the optimizer would make now, held as it is.  It is found by power iteration, of which
every product counts: the largest eigenvalue of H on the span of all of them (Lanczos), a lower bound that grows to it.

The threshold is that of the method's kernels on a quadratic with this preconditioner after many steps
(:mod:`.roots`).  Where groups differ, P has their rates in it, in units of the largest, and the threshold is the least.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from .chains import split
from .formulas import Stability
from .processes import OneProcess
from .roots import threshold
from .running import RunningPart
from .step import Multiply
from .vectors import Vectors, widened

GOOD_ENOUGH = 1e-3
"""A change by less of the eigenvalue ends the iteration."""


def sharpness(
    found: Stability,
    parts: Sequence[RunningPart],
    sums: Sequence[Sequence[Tensor] | None],
    multiply: Multiply,
    *,
    processes: OneProcess,
    iterations: int,
) -> dict[str, float]:
    """The numbers of a probe; ``sums`` are those after this step, for each tensor that has a gradient."""
    unit = max((part.lr for part in parts), default=0.0)
    bounds = [
        threshold(found.free(part.lr, *part.values), found.forced(part.lr, *part.values)) for part in parts
    ]
    roots = _roots_of_preconditioner(found, parts, sums, unit)
    shifts = [found.shift(*part.values) for part in parts for _ in part.gradients]
    kinds = [p.dtype for part in parts for p in part.parameters]

    def product(vectors: Vectors) -> Vectors:
        scaled = _times(roots, vectors)
        whole = multiply([None if x is None else x.to(kind) for x, kind in zip(scaled, kinds, strict=True)])
        moved = [x for part in parts for x in part.signed(whole[part.span])]
        return _times(roots, [_added(x, v, shift) for x, v, shift in zip(moved, scaled, shifts, strict=True)])

    value = largest_eigenvalue(product, roots, processes, iterations)
    return {
        "preconditioned_sharpness": value,
        "sharpness_threshold": min(bounds, default=math.inf) / unit if unit else math.inf,
    }


def _roots_of_preconditioner(
    found: Stability,
    parts: Sequence[RunningPart],
    sums: Sequence[Sequence[Tensor] | None],
    unit: float,
) -> Vectors:
    """``sqrt(P lr/unit)`` of every tensor; not a number where P is negative."""
    roots: Vectors = []
    for part in parts:
        for place, g in enumerate(part.gradients):
            mine = sums[len(roots)]
            if g is None or mine is None:
                roots.append(None)
                continue
            chain = part.formulas.running.chain
            point = [each[-1] for each in split(mine, chain)] if chain else mine
            theta, slope, *wide = widened(part.parameters[place], g, *point)
            value = found.preconditioner(theta, slope, *wide, *part.running_numbers)
            whole = value + torch.zeros_like(theta)
            roots.append((whole * (part.lr / unit if unit else 1.0)).sqrt())
    return roots


def largest_eigenvalue(
    product: Callable[[Vectors], Vectors], like: Vectors, processes: OneProcess, iterations: int
) -> float:
    """Of a symmetric product, by Lanczos from a random vector: only its three newest vectors are kept."""
    vector = [None if x is None else _noise(place, x) for place, x in enumerate(like)]
    before: Vectors = [None] * len(vector)
    length = processes.norm(vector)
    if length == 0:
        return 0.0
    diagonal: list[float] = []
    beside: list[float] = []
    value = 0.0
    vector = _times_number(vector, 1 / length)
    for k in range(iterations):
        moved = product(vector)
        diagonal.append(processes.dot(moved, vector))
        moved = [
            _added(_added(x, v, -diagonal[-1]), old, -(beside[-1] if beside else 0.0))
            for x, v, old in zip(moved, vector, before, strict=True)
        ]
        last, value = value, _largest(diagonal, beside)
        length = processes.norm(moved)
        if not math.isfinite(value) or length <= 1e-9 * abs(value) or length == 0:
            break
        if k > 2 and abs(value - last) <= GOOD_ENOUGH * abs(value):
            break
        beside.append(length)
        before, vector = vector, _times_number(moved, 1 / length)
    return value


def _largest(diagonal: Sequence[float], beside: Sequence[float]) -> float:
    if not all(map(math.isfinite, diagonal)):
        return math.nan
    main = torch.diag(torch.tensor(diagonal, dtype=torch.float64))
    side = torch.diag(torch.tensor(list(beside[: len(diagonal) - 1]), dtype=torch.float64), 1)
    return float(torch.linalg.eigvalsh(main + side + side.T)[-1])


def _noise(place: int, like: Tensor) -> Tensor:
    """Random numbers of its own, the same in every process."""
    generator = torch.Generator().manual_seed(place)
    return torch.randn(like.shape, generator=generator, dtype=torch.float32).to(like)


def _times(left: Vectors, right: Vectors) -> Vectors:
    return [None if x is None or y is None else x * y for x, y in zip(left, right, strict=True)]


def _times_number(vectors: Vectors, factor: float) -> Vectors:
    return [None if x is None else x * factor for x in vectors]


def _added(x: Tensor | None, y: Tensor | None, factor: float) -> Tensor | None:
    """x + factor y, where None is zero."""
    if y is None or factor == 0:
        return x
    return y * factor if x is None else torch.add(x, y, alpha=factor)
