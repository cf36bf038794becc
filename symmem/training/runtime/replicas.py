"""Processes with the same parameters, each with its part of the batch: DistributedDataParallel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, distributed

from .processes import OneProcess
from .vectors import Vectors


class Replicas(OneProcess):
    """The loss of the joint batch is the mean of theirs, and so are its derivatives."""

    def __init__(self, groups: list[Any]) -> None:
        super().__init__()
        self._groups = groups
        self._count = 1
        for group in groups:
            self._count *= distributed.get_world_size(group)

    @contextmanager
    def opened(self, owned: list[Any]) -> Iterator[list[Tensor]]:
        """Every process has the parameters whole: the points are the parameters themselves."""
        self._owned = self._points = owned
        yield owned

    def joint(self, loss: Tensor, gradients: Vectors) -> tuple[Tensor, Vectors]:
        """The means; a parameter that some of the processes do not use has 0 there."""
        facts = [float(loss), *(float(g is not None) for g in gradients)]
        known = torch.tensor(facts, dtype=torch.float64, device=loss.device)
        mean, *used = self._mean(known).tolist()
        pairs = zip(used, self.averaged(gradients), strict=True)
        return torch.full_like(loss, mean), [g if share else None for share, g in pairs]

    def averaged(self, vectors: Vectors) -> Vectors:
        """The means over the processes; None counts as zero, so that all send the same tensors."""
        return list(self._means(self._filled(vectors)))

    def _filled(self, vectors: Vectors) -> list[Tensor]:
        pairs = zip(self._points, vectors, strict=True)
        return [torch.zeros_like(p) if x is None else x for p, x in pairs]

    def _means(self, tensors: list[Tensor]) -> list[Tensor]:
        """The means, by one reduction for all tensors of a kind."""
        kinds: dict[Any, list[int]] = {}
        for place, x in enumerate(tensors):
            kinds.setdefault((x.device, x.dtype), []).append(place)
        found = list(tensors)
        for places in kinds.values():
            flat = self._mean(torch.cat([tensors[i].reshape(-1) for i in places]))
            pieces = flat.split([tensors[i].numel() for i in places])
            for place, piece in zip(places, pieces, strict=True):
                found[place] = piece.view(tensors[place].shape)
        return found

    def _mean(self, values: Tensor) -> Tensor:
        """The mean over the processes, in place; a sum first, for gloo has no mean."""
        for group in self._groups:
            distributed.all_reduce(values, group=group)
        return values.div_(self._count)
