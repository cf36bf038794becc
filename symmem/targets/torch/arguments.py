"""The arguments of the constructors: as PyTorch spells them, by names that are not our own.

An argument whose name is one of ours, such as ``hvp`` or ``max_norm``, gets an underscore after it, as Python's own
style has it for a clash: ``max_norm_=0.5`` is the parameter, ``max_norm=1.0`` the bound of the gradient.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sympy import Expr

from symmem.algebra.symbols import derivative_name
from symmem.declaration.optimizer import Optimizer
from symmem.notation.decimals import decimal
from symmem.program.scope import Scope
from symmem.targets.python.surfaces import names_of_opaque

OWN = (
    *("self", "params", "lr", "optimizer", "order", "parameters", "functions", "formulas", "closure"),
    *("maximize", "limit", "hvp", "max_norm", "process_group", "module", "kernels"),
    *("strength", "target", "every", "history", "n", "step"),
    *("super", "FORMULAS"),  # what constructors call
    # what torch.optim and its schedulers keep in a group
    *("param_names", "initial_lr", "swa_lr", "max_lr", "min_lr", "base_momentum", "max_momentum"),
    *("foreach", "fused", "capturable", "differentiable"),
)
"""Our own arguments, and what a parameter group holds beside the optimizer's."""


def numbers_of_state(optimizer: Optimizer) -> Mapping[str, Expr]:
    """What the state of PyTorch's optimizer has beside the sums, after n steps, by name."""
    return {} if optimizer.torch is None else optimizer.torch.numbers


@dataclass(frozen=True)
class Spelled:
    """An argument: its name, the parameters that it holds, their defaults as source; a tuple where it holds several."""

    name: str
    parameters: tuple[str, ...]
    defaults: tuple[str, ...]
    is_tuple: bool

    @property
    def type(self) -> str:
        """The annotation of the argument."""
        return f"tuple[{', '.join(['float'] * len(self.defaults))}]" if self.is_tuple else "float"

    @property
    def default(self) -> str:
        """The default of the argument, as Python text."""
        return tuple_of(self.defaults) if self.is_tuple else self.defaults[0]


@dataclass(frozen=True)
class SpelledFunction:
    """An opaque function: the arguments for it and for its derivatives."""

    name: str
    derivatives: tuple[str, ...]


def spelled_arguments(
    optimizer: Optimizer, order: int
) -> tuple[tuple[Spelled, ...], tuple[SpelledFunction, ...]]:
    """The arguments in PyTorch's order, then the parameters that it does not name; the opaque functions."""
    spelled = {} if optimizer.torch is None else dict(optimizer.torch.arguments)
    named = [name for value in spelled.values() for name in _names(value)]
    spelled |= {name: name for name in optimizer.defaults if name not in named}
    calls = names_of_opaque(optimizer, order)
    scope = Scope([*spelled, *calls], words=[*OWN, *keyword.kwlist])
    arguments = tuple(
        Spelled(
            scope.kept(name),
            tuple(_names(value)),
            tuple(decimal(optimizer.defaults[each]) for each in _names(value)),
            not isinstance(value, str),
        )
        for name, value in spelled.items()
    )
    functions = tuple(
        SpelledFunction(
            scope.kept(f.name), tuple(scope.kept(derivative_name(f.name, k)) for k in range(1, order + 1))
        )
        for f in optimizer.functions
    )
    return arguments, functions


def _names(value: tuple[str, ...] | str) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def tuple_of(entries: Iterable[str]) -> str:
    """The source of a tuple."""
    found = list(entries)
    return f"({', '.join(found)}{',' if len(found) == 1 else ''})"
