"""Tensors by parameter, and sums into them, block by block where they are large."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

Closure = Callable[[], Tensor]
"""Returns the loss with its graph, and does not call backward."""
Vectors = list[Tensor | None]
"""A tensor for each parameter; None stands for zero."""

BLOCK = 2**17
"""Entries updated at a time on a CPU: they stay in the cache, and the memory of one block serves the next."""
LARGE_BLOCK = 2**24
"""The same elsewhere, where every operation is a launch: it bounds the memory of what stands between."""


def blocks(*tensors: Tensor, is_entrywise: bool) -> Iterator[list[Tensor]]:
    """The tensors in blocks, where they are large and lie in memory alike; whole where a function mixes entries."""
    size, most = tensors[0].numel(), BLOCK if tensors[0].device.type == "cpu" else LARGE_BLOCK
    if not is_entrywise or size <= most or not all(x.is_contiguous() for x in tensors):
        yield list(tensors)
        return
    flat = [x.view(-1) for x in tensors]
    for start in range(0, size, most):
        yield [x[start : start + most] for x in flat]


def accumulate(
    out: Tensor,
    factor: float,
    formula: Callable[..., Tensor],
    tensors: Sequence[Tensor],
    given: Sequence[Any],
    *,
    is_entrywise: bool,
) -> None:
    """``out += factor * formula(*tensors, *given)``."""
    for target, *block in blocks(out, *tensors, is_entrywise=is_entrywise):
        target.add_(formula(*block, *given), alpha=factor)


def widened(*tensors: Tensor) -> list[Tensor]:
    """The tensors in the type to compute in: half precision becomes float32."""
    return [x.float() if x.dtype.itemsize < 4 else x for x in tensors]


def entry(vectors: Vectors, place: int, like: Tensor) -> Tensor:
    """The tensor at a place; zero where there is none."""
    found = vectors[place] if vectors else None
    return torch.zeros_like(like) if found is None else found


def joined(tensors: Sequence[Tensor]) -> Tensor:
    """The entries of the tensors one after the other; one tensor is itself."""
    return torch.cat([x.reshape(-1) for x in tensors]) if len(tensors) > 1 else tensors[0]
