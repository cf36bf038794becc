"""symmem: what the memory of an optimizer does to the loss, derived symbolically.

    >>> import symmem
    >>> d = symmem.derive("heavyball")
    >>> d.limit.M
    beta*lr*D2L(grad)/(1 - beta)**3

``print(d)`` is what the command line shows; ``D2L``, ``total``, ``grad``, ``theta``, ``lr`` and ``n`` are the atoms of
every formula.  The names below are loaded on first use, so that ``import symmem`` does not import SymPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symmem.declaration.optimizer import Momentum, Parameter, VectorFunction
    from symmem.documents.language import D2L, grad, lr, n, theta, total
    from symmem.documents.public import Comparison, Derivation, Optimizer, compare, derive, load, zoo
    from symmem.errors import BudgetError, DeclarationError, DerivationError, SymmemError
    from symmem.targets.registry import emit
    from symmem.work import budget

__version__ = "0.1.0"

__all__ = [
    "D2L",
    "BudgetError",
    "Comparison",
    "DeclarationError",
    "Derivation",
    "DerivationError",
    "Momentum",
    "Optimizer",
    "Parameter",
    "SymmemError",
    "VectorFunction",
    "budget",
    "compare",
    "derive",
    "emit",
    "grad",
    "load",
    "lr",
    "n",
    "theta",
    "total",
    "zoo",
]

_PUBLIC = ("Comparison", "Derivation", "Optimizer", "compare", "derive", "load", "zoo")
_DECLARED = ("Momentum", "Parameter", "VectorFunction")
_ERRORS = ("BudgetError", "DeclarationError", "DerivationError", "SymmemError")
_ATOMS = ("D2L", "grad", "lr", "n", "theta", "total")

_HOMES = {
    "budget": "symmem.work",
    "emit": "symmem.targets.registry",
    "load_ipython_extension": "symmem.documents.notebook",
    **dict.fromkeys(_ATOMS, "symmem.documents.language"),
    **dict.fromkeys(_PUBLIC, "symmem.documents.public"),
    **dict.fromkeys(_DECLARED, "symmem.declaration.optimizer"),
    **dict.fromkeys(_ERRORS, "symmem.errors"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'symmem' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
