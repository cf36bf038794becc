"""symmem: what the memory of an optimizer does to the loss, derived symbolically.

    >>> import symmem
    >>> d = symmem.derive(symmem.load("heavyball"))
    >>> d.limit.M
    beta*lr*D2L(grad)/(1 - beta)**3

The names below are loaded on first use, so that ``import symmem`` does not import SymPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symmem.declaration.loading import load
    from symmem.declaration.optimizer import Momentum, Optimizer, Parameter, VectorFunction
    from symmem.derivation.derivation import Derivation, derive
    from symmem.errors import DeclarationError, DerivationError, SymmemError

__version__ = "0.1.0"

__all__ = [
    "DeclarationError",
    "Derivation",
    "DerivationError",
    "Momentum",
    "Optimizer",
    "Parameter",
    "SymmemError",
    "VectorFunction",
    "derive",
    "load",
]

_HOMES = {
    "DeclarationError": "symmem.errors",
    "Derivation": "symmem.derivation.derivation",
    "DerivationError": "symmem.errors",
    "Momentum": "symmem.declaration.optimizer",
    "Optimizer": "symmem.declaration.optimizer",
    "Parameter": "symmem.declaration.optimizer",
    "SymmemError": "symmem.errors",
    "VectorFunction": "symmem.declaration.optimizer",
    "derive": "symmem.derivation.derivation",
    "load": "symmem.declaration.loading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'symmem' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
