"""Processes with shards of the parameters: FSDP2 (fully_shard)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, distributed

from .replicas import Replicas
from .sharding import OnShard, flag_holders, flags, gathered, is_sharded, local, set_flags, sharded_modules
from .vectors import Vectors


class Shards(Replicas):
    """The processes of FSDP2, each with its shard of the parameters.

    The parameters are unsharded once in a step and stay so between the passes. The
    derivatives are reduced to the shards here, and not by FSDP2.
    """

    flags: Mapping[str, Any] = MappingProxyType(
        {"post_forward_mesh_info": None, "reshard_after_backward": False, "reduce_grads": False}
    )
    """The flags of FSDP2 in a step. It has functions to set them, but none to read them."""

    def __init__(self, module: Any) -> None:
        meshes = {p.device_mesh for p in module.parameters() if is_sharded(p)}
        if len(meshes) > 1:
            raise ValueError("the parameters of module are on different device meshes")
        super().__init__([group for mesh in meshes for group in mesh.get_all_groups()])
        self._module = module

    @contextmanager
    def opened(self, owned: list[Any]) -> Iterator[list[Tensor]]:
        """The gathered parameters, for as long as the block runs; the modules are left as they were."""
        self._owned = owned
        sharded = sharded_modules(self._module)
        for each in sharded:
            each.reshard()
        homes = self._homes()
        holders = [holder for each in sharded for holder in flag_holders(each)]
        before = [flags(holder, list(self.flags)) for holder in holders]
        try:
            for holder in holders:
                set_flags(holder, dict(self.flags))
            self._points = self._found_points(sharded, homes)
            yield self._points
        except BaseException:
            for each in sharded:
                if each._get_fsdp_state()._is_root:
                    each.reset_iter_state()
            raise
        finally:
            for holder, values in zip(holders, before, strict=True):
                set_flags(holder, values)
            for each in sharded:
                each.reshard()

    def _homes(self) -> list[tuple[Any, str]]:
        """Where the parameters are found: a module and a name for each."""
        homes = {}
        for each in self._module.modules():
            for name, p in each.named_parameters(recurse=False):
                homes[p] = each, name
        if not all(p in homes for p in self._owned):
            raise ValueError("the optimizer has a parameter that module does not have")
        return [homes[p] for p in self._owned]

    def _found_points(self, sharded: list[Any], homes: list[tuple[Any, str]]) -> list[Tensor]:
        """The unsharded parameters, which come to stand where the shards stood."""
        for each in sharded:
            each.unshard()
        points = [getattr(*home) for home in homes]
        if any(is_sharded(point) for point in points):
            raise ValueError("tensor parallel parameters are not supported")
        return points

    def averaged(self, vectors: Vectors) -> Vectors:
        """The means over the processes, each of its own shard."""
        from torch.distributed.tensor import (  # noqa: PLC0415  # a second of import that one process does not need
            DTensor,
            Partial,
        )

        found: list[Any] = list(self._filled(vectors))
        for place, (p, x) in enumerate(zip(self._owned, found, strict=True)):
            if is_sharded(p):
                summands = p.device_mesh, [Partial()] * p.device_mesh.ndim
                total = DTensor.from_local(x.to(p.dtype), *summands)
                found[place] = total.redistribute(p.device_mesh, p.placements)
        summed = [local(x) / self._count if is_sharded(x) else x for x in found]
        return self._with_means(summed)

    def _with_means(self, vectors: list[Tensor]) -> Vectors:
        """Where a parameter is not sharded, the mean in the place of the vector."""
        plain = [place for place, p in enumerate(self._owned) if not is_sharded(p)]
        found: Vectors = list(vectors)
        for place, x in zip(plain, self._means([vectors[i] for i in plain]), strict=True):
            found[place] = x
        return found

    def whole(self, vectors: Vectors) -> Vectors:
        """Shards gathered to whole tensors, in the type in which the points are computed with."""
        found = list(vectors)
        for place, (p, x) in enumerate(zip(self._owned, vectors, strict=True)):
            if x is not None and is_sharded(p):
                found[place] = gathered(p, x).to(self._points[place].dtype)
        return found

    def total(self, numbers: Sequence[float]) -> float:
        """The shards are added up; what is not sharded counts once."""
        pairs = list(zip(self._owned, numbers, strict=True))
        alike = sum((x for p, x in pairs if not is_sharded(p)), 0.0)
        sharded = [(p, x) for p, x in pairs if is_sharded(p)]
        if not sharded:
            return alike
        owner, _ = sharded[0]
        apart = sum(x for _, x in sharded)
        value = torch.tensor(apart, dtype=torch.float64, device=local(owner).device)
        for dimension, placement in enumerate(owner.placements):
            if placement.is_shard():
                group = owner.device_mesh.get_group(dimension)
                distributed.all_reduce(value, group=group)
        return alike + float(value)

    def functions(self, place: int, given: list[Any]) -> list[Any]:
        """The user's functions of a whole tensor, as functions of this process's shard."""
        owner = self._owned[place]
        return [OnShard(owner, each) if is_sharded(owner) else each for each in given]


class PassingShards(Shards):
    """FSDP2 left to itself: a gradient is an ordinary backward pass, which it reduces.

    No pass needs the graph of another, so that the parameters are whole only while
    FSDP2 wants them so. The points are the shards.
    """

    flags = MappingProxyType(
        {
            "reshard_after_backward": True,
            "reduce_grads": True,
            "all_reduce_grads": True,
            "gradient_divide_factor": None,
        }
    )

    def _found_points(self, sharded: list[Any], homes: list[tuple[Any, str]]) -> list[Tensor]:
        self._held = list(self._module.parameters())
        return [local(p) for p in self._owned]

    def differentiated(self, loss: Tensor, points: list[Tensor], create_graph: bool) -> Vectors:
        """The gradient by ``backward``, whose hooks reduce over the processes; ``.grad`` stays as it was."""
        before = [p.grad for p in self._held]
        try:
            for p in self._held:
                p.grad = None
            loss.backward()
            return [None if p.grad is None else local(p.grad) for p in self._owned]
        finally:
            for p, grad in zip(self._held, before, strict=True):
                p.grad = grad

    def averaged(self, vectors: Vectors) -> Vectors:
        """The means of what is replicated; shards were reduced by the hooks of ``backward``."""
        return self._with_means(self._filled(vectors))

    def whole(self, vectors: Vectors) -> Vectors:
        """The shards themselves: the model gathers them when it runs."""
        return vectors
