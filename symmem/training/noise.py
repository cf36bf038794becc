"""The functions of noise of an optimizer by its name, for :mod:`symmem.training.runtime.noise`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from torch import Tensor

from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.targets.torch.module import torch_module
from symmem.training.loading import loaded


@lru_cache(maxsize=16)
def noise_functions(optimizer: Optimizer) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    """noise_memoryless and noise_correction of the emitted module; it is derived once in a process."""
    name = f"symmem_noise_{optimizer.name.replace('-', '_')}"
    module = loaded(name, torch_module(derive(optimizer), minibatch=True))
    return module.noise_memoryless, module.noise_correction
