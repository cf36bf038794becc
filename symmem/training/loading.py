"""Optimizer -> formulas: derived, written as a module of Python, and loaded from memory.

The text is the program's own: a user's expressions reach it through the whitelisting parser and the printer alone.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from symmem.declaration.loading import load
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.targets.torch.formulas import formulas_module
from symmem.training.runtime.formulas import Formulas


def declared(optimizer: Optimizer | str | Path) -> Optimizer:
    """A declaration, from a name of the zoo or a path too."""
    if isinstance(optimizer, Optimizer):
        return optimizer
    if not isinstance(optimizer, str | Path):
        words = (
            "is no name of the zoo, no path of a file and no symmem.Optimizer; what is optimized comes second"
        )
        raise TypeError(f"optimizer: {type(optimizer).__name__} {words}")
    return load(str(optimizer))


@lru_cache(maxsize=64)
def formulas_of(optimizer: Optimizer, order: int = 1, *, flat: bool = False) -> Formulas:
    """The record that the runtime takes; it is derived once in a process.  ``flat``: all tensors as one vector."""
    name = f"symmem_formulas_{optimizer.name.replace('-', '_')}_{order}"
    module = loaded(name, formulas_module(derive(optimizer, order), flat=flat))
    found: Formulas = module.FORMULAS
    return found


class _FromMemory(InspectLoader):
    """The loader of one text; a traceback finds its lines here."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, fullname: str) -> str:  # noqa: ARG002  # there is one
        return self._text


def loaded(name: str, text: str) -> ModuleType:
    """A module from its text."""
    loader = _FromMemory(text)
    module = importlib.util.module_from_spec(ModuleSpec(name, loader, origin=f"<{name}>"))
    loader.exec_module(module)
    return module
