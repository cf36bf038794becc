"""Optimizers with and without their memory in PyTorch, for any optimizer that symmem knows or is told.

    from symmem.training import Memoryless, WithMemory, probe

    optimizer = Memoryless("adamw", model.parameters(), lr=1e-3, betas=(0.9, 0.95))
    optimizer = WithMemory("adamw", model.parameters(), strength=-1, every=10)
    numbers = probe(model, torch.optim.AdamW(model.parameters()), closure)

:mod:`.runtime` is the part that does not know SymPy.  The names here derive and write formulas first, and are loaded on
first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symmem.training.by_name import Memoryless, WithMemory, probe

__all__ = ["Memoryless", "WithMemory", "probe"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'symmem.training' has no attribute {name!r}")
    return getattr(import_module("symmem.training.by_name"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
