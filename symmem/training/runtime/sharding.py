"""DTensors and the flags of FSDP2: what is read and set of them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def is_sharded(tensor: Any) -> bool:
    """Whether it is a DTensor."""
    return hasattr(tensor, "device_mesh")


def local(tensor: Any) -> Tensor:
    """What this process has of a tensor, in the same memory."""
    found: Tensor = tensor.to_local() if is_sharded(tensor) else tensor
    return found


def gathered(owner: Any, shard: Tensor) -> Tensor:
    """A shard made whole, with the shards of the other processes."""
    from torch.distributed.tensor import DTensor  # noqa: PLC0415  # a second of import that one process does not need

    place = owner.device_mesh, owner.placements
    shape = {"shape": owner.shape, "stride": owner.stride()}
    return DTensor.from_local(shard, *place, **shape).full_tensor()


def sharded_modules(module: Any) -> list[Any]:
    """The modules to which fully_shard was applied."""
    from torch.distributed.fsdp import FSDPModule  # noqa: PLC0415  # the same

    return [each for each in module.modules() if isinstance(each, FSDPModule)]


def flag_holders(module: Any) -> list[Any]:
    """The objects of FSDP2 that hold the flags of a module, ready for a forward pass."""
    state = module._get_fsdp_state()
    try:
        state._lazy_init()  # sets flags too, and would do so in the first forward pass
        holders: list[Any] = state._fsdp_param_groups
    except AttributeError as error:
        words = f"the flags of FSDP2 were not found in PyTorch {torch.__version__}"
        raise RuntimeError(f"{words}; this module knows those of 2.13") from error
    return holders


def flags(holder: Any, names: list[str]) -> dict[str, Any]:
    """The values that these attributes have now."""
    return {name: getattr(holder, name) for name in names}


def set_flags(holder: Any, values: dict[str, Any]) -> None:
    """Gives these attributes these values."""
    for name, value in values.items():
        setattr(holder, name, value)


class OnShard:
    """A function of whole tensors, on the shards of a parameter."""

    def __init__(self, owner: Any, function: Any) -> None:
        self._owner = owner
        self._function = function

    def __call__(self, *shards: Tensor) -> Tensor:
        from torch.distributed.tensor import distribute_tensor  # noqa: PLC0415  # the same

        owner = self._owner
        value = self._function(*(gathered(owner, shard) for shard in shards))
        place = owner.device_mesh, owner.placements
        return distribute_tensor(value, *place, src_data_rank=None).to_local()
