"""A model of many processes that each would train alone: an error, in the place of replicas that drift apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import distributed
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.nn.parallel import DistributedDataParallel


@contextmanager
def no_reduction_unseen() -> Iterator[None]:
    """One clear error where a model of many processes would be trained by each alone."""
    if not (distributed.is_available() and distributed.is_initialized()):
        yield
        return
    handle = register_module_forward_pre_hook(_refuse_parallel)
    try:
        yield
    finally:
        handle.remove()


def _refuse_parallel(module: Any, _inputs: Any) -> None:
    if isinstance(module, DistributedDataParallel):
        raise RuntimeError(
            "DistributedDataParallel does not reduce what torch.autograd.grad finds; give "
            "the optimizer module=model or process_group=model.process_group"
        )
    if type(module).__name__ == "FullyShardedDataParallel":
        raise RuntimeError("FullyShardedDataParallel is not supported; use fully_shard")
