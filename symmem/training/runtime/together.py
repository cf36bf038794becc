"""Who computes a step together, by the arguments of an optimizer."""

from __future__ import annotations

from typing import Any

from torch.distributed import ProcessGroup
from torch.nn.parallel import DistributedDataParallel

from .processes import OneProcess
from .products import Hvp, is_difference
from .replicas import Replicas
from .sharding import sharded_modules
from .shards import PassingShards, Shards


def processes_of(process_group: Any, module: Any, hvp: Hvp) -> OneProcess:
    """This process, those of a process group, or those of a model after DistributedDataParallel or fully_shard."""
    if module is None and process_group is None:
        return OneProcess()
    if module is None:
        if not isinstance(process_group, ProcessGroup):
            raise TypeError(f"process_group = {process_group!r} is no process group of torch.distributed")
        return Replicas([process_group])
    if process_group is not None:
        raise ValueError("module has its own processes; leave process_group out")
    if isinstance(module, DistributedDataParallel):
        return Replicas([module.process_group])
    if not sharded_modules(module):
        words = "is neither DistributedDataParallel nor a module after fully_shard"
        raise ValueError(f"module = {type(module).__name__} {words}")
    if hvp == "forward-over-reverse":
        words = 'FSDP2 has no forward derivatives; use hvp="double-backward"'
        raise ValueError(f'{words} or "central-difference"')
    if is_difference(hvp):
        return PassingShards(module)
    return Shards(module)
