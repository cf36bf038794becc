"""Who computes a step: this process alone, and what it means for others to take part.

The optimizer owns the parameters; the closure computes with the points; what this process updates is local.
:mod:`.replicas` and :mod:`.shards` say the same for several processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from .unreduced import no_reduction_unseen
from .vectors import Vectors


class OneProcess:
    """This process, which has the whole batch."""

    def __init__(self) -> None:
        self._owned: list[Any] = []
        self._points: list[Tensor] = []

    @contextmanager
    def opened(self, owned: list[Any]) -> Iterator[list[Tensor]]:
        """The points, for as long as derivatives are taken."""
        self._owned = self._points = owned
        with no_reduction_unseen():
            yield owned

    def differentiated(self, loss: Tensor, points: list[Tensor], create_graph: bool) -> Vectors:
        """The gradient of the loss that this process has."""
        found = torch.autograd.grad(loss, points, create_graph=create_graph, allow_unused=True)
        return list(found)

    def joint(self, loss: Tensor, gradients: Vectors) -> tuple[Tensor, Vectors]:
        """The loss and the gradient of the batch that the processes have together."""
        return loss, gradients

    def averaged(self, vectors: Vectors) -> Vectors:
        """Vectors at the points, averaged over the processes, as local vectors."""
        return vectors

    def whole(self, vectors: Vectors) -> Vectors:
        """Local vectors as vectors at the points."""
        return vectors

    def total(self, numbers: Sequence[float]) -> float:
        """The sum of numbers that are sums over a parameter's entries, local ones."""
        return sum(numbers, 0.0)

    def dot(self, left: Vectors, right: Vectors) -> float:
        """The inner product of local vectors, over all that the processes hold."""
        numbers = []
        for x, y in zip(left, right, strict=True):
            numbers.append(0.0 if x is None or y is None else float((x.double() * y.double()).sum()))
        return self.total(numbers)

    def norm(self, vectors: Vectors) -> float:
        """The Euclidean norm over all parameters and all processes."""
        lengths = [
            0.0 if x is None else float(torch.linalg.vector_norm(x, dtype=torch.float64)) for x in vectors
        ]
        return float(self.total([length**2 for length in lengths]) ** 0.5)

    def length(self, vectors: Vectors) -> float:
        """The norm to a few digits, ten times as fast: in the type of the vectors, where their squares fit into it."""
        lengths = [0.0 if x is None else float(torch.linalg.vector_norm(x)) for x in vectors]
        found = float(self.total([length**2 for length in lengths]) ** 0.5)
        return found if 1e-12 < found < 1e12 else self.norm(vectors)

    def functions(self, place: int, given: list[Any]) -> list[Any]:
        """Functions of a whole tensor, as functions of what is local of it."""
        return given
