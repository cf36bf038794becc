"""The PyTorch target: one module for one process, or with ``--runtime`` one beside the whole runtime."""

from __future__ import annotations

from symmem.derivation.derivation import Derivation
from symmem.errors import SymmemError
from symmem.targets.registry import Options
from symmem.targets.torch.module import torch_module
from symmem.targets.torch.with_runtime import write_with_runtime

__all__ = ["emit", "torch_module"]


def emit(derivation: Derivation, output: str | None, options: Options) -> str:
    """The module and the runtime beside it; the names of what was written."""
    if output is None:
        raise SymmemError("--runtime writes a package beside the module; add -o X.py")
    return write_with_runtime(derivation, output, minibatch=options.minibatch)
