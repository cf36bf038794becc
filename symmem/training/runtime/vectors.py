"""Tensors by parameter, and sums into them, block by block where they are large."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._utils import _flatten_dense_tensors

Closure = Callable[[], Tensor]
"""Returns the loss with its graph, and does not call backward."""
Vectors = list[Tensor | None]
"""A tensor for each parameter; None stands for zero."""

BLOCK = 2**18
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


@dataclass(frozen=True)
class Target:
    """``out += factor * value``, or ``out = factor * value`` where it ``is_new`` and holds nothing yet."""

    out: Tensor
    factor: float
    is_new: bool = False

    def take(self, block: Tensor, value: Any) -> None:
        """The same for a block of it; a formula may give a number."""
        if not self.is_new:
            block.add_(value, alpha=self.factor)
        elif isinstance(value, Tensor) and value.dtype == block.dtype and value.shape == block.shape:
            torch.mul(value, self.factor, out=block)
        else:
            block.zero_().add_(value, alpha=self.factor)


def accumulate(
    target: Target,
    formula: Callable[..., Tensor],
    tensors: Sequence[Tensor],
    given: Sequence[Any],
    *,
    is_entrywise: bool,
) -> None:
    """``out += factor * formula(*tensors, *given)``."""
    for block, *others in blocks(target.out, *tensors, is_entrywise=is_entrywise):
        target.take(block, formula(*others, *given))


def widened(*tensors: Tensor) -> list[Tensor]:
    """The tensors in the type to compute in: half precision becomes float32."""
    return [x.float() if x.dtype.itemsize < 4 else x for x in tensors]


def entry(vectors: Vectors, place: int, like: Tensor) -> Tensor:
    """The tensor at a place; zero where there is none."""
    found = vectors[place] if vectors else None
    return torch.zeros_like(like) if found is None else found


def joined(tensors: Sequence[Tensor]) -> Tensor:
    """The entries of the tensors one after the other; one tensor is itself."""
    return _flatten_dense_tensors(tensors) if len(tensors) > 1 else tensors[0]
