"""The Program: the routines of one derivation, which every target reads.

A target asks for a routine by its name, spells its statements, and includes the small functions that it ``needs``.
Names are given out by a Scope: what this program made is ``Internal`` and yields to the user's names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from sympy import Symbol

from symmem.algebra.results import Missing
from symmem.declaration.optimizer import Optimizer
from symmem.method.plain_decays import is_rounded
from symmem.program.memories import MemoryRecursion
from symmem.program.needs import OF_TENSORS, Need, needs_of, needs_of_numbers
from symmem.program.statements import Statement, assigns, reads


@dataclass(frozen=True)
class Routine:
    """Statements and the name of the result, which the last statement assigns."""

    statements: tuple[Statement, ...]
    result: Symbol

    @cached_property
    def inputs(self) -> frozenset[Symbol]:
        """What it reads and does not compute: theta, grad, loss, n, lr, parameters, vectors that were given."""
        read = frozenset[Symbol]().union(*map(reads, self.statements))
        return read.difference(*map(assigns, self.statements))

    @cached_property
    def needs(self) -> frozenset[Need]:
        """What the code of its statements calls."""
        return frozenset(needs_of(self.statements))


@dataclass(frozen=True)
class Variants:
    """A routine at a finite step n, and in the limit n -> infinity; the same twice where n does not matter."""

    finite: Routine | Missing
    limit: Routine | Missing

    @classmethod
    def always(cls, routine: Routine) -> Variants:
        """One routine for every n."""
        return cls(routine, routine)

    @property
    def existing(self) -> tuple[Routine, ...]:
        """One, two or none."""
        found = dict.fromkeys(each for each in (self.finite, self.limit) if isinstance(each, Routine))
        return tuple(found)


@dataclass(frozen=True)
class Program:
    """The routines by their names; ``regime`` says where the modified loss holds, None where there is none."""

    optimizer: Optimizer
    order: int
    routines: Mapping[str, Variants]
    regime: object = None
    rate: object = None
    loses_digits: bool = False
    """Whether numbers at step n are closed forms that subtract, where no sum of one sign was found."""
    memories: tuple[MemoryRecursion, ...] = ()
    """By which noise reaches the updates of an epoch, for the variance over the order of its batches."""

    @property
    def rounds_decays(self) -> bool:
        """Whether a decay is rounded before its powers are taken."""
        return any(each.beta is not None and is_rounded(each.beta) for each in self.optimizer.momentum)

    @property
    def digits(self) -> dict[str, bool]:
        """What the head of emitted code says of the numbers at step n."""
        return {"loses_digits": self.loses_digits, "rounds_decays": self.rounds_decays}

    def __getitem__(self, name: str) -> Variants:
        return self.routines[name]

    def __contains__(self, name: str) -> bool:
        return name in self.routines

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the optimizer's parameters, in their order."""
        return tuple(parameter.name for parameter in self.optimizer.parameters)

    @property
    def of_tensors(self) -> tuple[str, ...]:
        """The functions of whole tensors that its routines call, for a target that has none of them."""
        needs = self.needs()
        found = tuple(name.name.lower() for name in OF_TENSORS if name in needs and name != Need.SUM_TENSORS)
        return found or tuple("a sum over tensors" for name in OF_TENSORS if name in needs)

    def needs(self, names: Iterable[str] | None = None) -> frozenset[Need]:
        """What the named routines need; all of them where no names are given."""
        chosen = self.routines.values() if names is None else [self.routines[name] for name in names]
        found = frozenset(need for variants in chosen for each in variants.existing for need in each.needs)
        numbers = [number for memory in self.memories for number in memory.numbers]
        return found | {Need.SCATTER, *needs_of_numbers(numbers)} if numbers else found
