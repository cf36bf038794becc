"""The Program: the routines of one derivation, which every target reads.

A target asks for a routine by its name, spells its statements, and includes the small functions that it ``needs``.
Names are given out by a Scope: what this program made is ``Internal`` and yields to the user's names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from sympy import Abs, Expr, Function, Pow, S, Symbol, erf, sign
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from symmem.algebra.results import Missing
from symmem.declaration.optimizer import Optimizer
from symmem.method.plain_decays import is_rounded
from symmem.program.digits.decay_functions import Complete, Shortfall, Whole
from symmem.program.memories import MemoryRecursion
from symmem.program.ranges import split_ranges
from symmem.program.statements import (
    Apply,
    Assign,
    Assignment,
    Choice,
    Contract,
    Evaluate,
    Loop,
    OfTensor,
    Statement,
    Total,
    assigns,
    reads,
)


class Need(Enum):
    """A small function of the runtime, or a module, that a routine cannot do without."""

    LIKE = "what a function of the caller's returned, as a vector like theta"
    TOTAL = "the sum of the entries of a vector"
    ZEROS = "a vector of zeros, to which the terms of a sum are added"
    STEPS = "all steps of a sum at once, and the sum of their numbers"
    OLDEST = "the oldest step whose weight counts"
    SHAPED = "an entrywise function of matrices that are not like theta"
    DOT = "the inner product of each tensor"
    MEAN = "the mean of each tensor"
    NUCLEAR = "the nuclear norm of each tensor"
    SUM_TENSORS = "the sum over the tensors of a number for each"
    MATMUL = "the product of matrices"
    TRANSPOSE = "the transpose of a matrix"
    POLAR = "the polar factor of a matrix"
    NEWTON_SCHULZ = "Muon's polynomial of a matrix"
    INVERSE_ROOT = "an inverse root of a symmetric matrix"
    ELEMENTARY = "elementary functions of numbers"
    POLE = "the refusal of a zero that a formula divides by"
    COMPLETE = "complete homogeneous polynomials of decays"
    PRODUCT = "a product of decays among them"
    COMPLETES = "complete homogeneous polynomials for all steps of a sum at once"
    SHORTFALL = "one less the power of a decay"
    SHORTFALLS = "the same for all steps of a sum at once"
    ERF = "the error function"
    NOISE = "what the noise of batches averages to, from the gradients of all of them"
    SCATTER = "how far apart the batches of an epoch lie in what they have in its updates"
    SHARPNESS = "the largest eigenvalue on a frozen quadratic, and that from which it is unstable"
    FEW = "a few past steps that stand for all"
    RULE = "a rule that stands for all past steps"
    CHOICE = "one of two branches, where the condition may be traced"


OF_TENSORS = (
    *(Need.DOT, Need.MEAN, Need.NUCLEAR, Need.SUM_TENSORS, Need.MATMUL, Need.TRANSPOSE),
    *(Need.POLAR, Need.NEWTON_SCHULZ, Need.INVERSE_ROOT),
)
"""The functions of whole tensors."""


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
        return frozenset(_needs(self.statements))


def _needs(statements: Iterable[Statement]) -> Iterator[Need]:
    for statement in statements:
        if isinstance(statement, (Contract, Evaluate)):
            yield Need.LIKE
        elif isinstance(statement, OfTensor):
            yield Need[statement.function.upper()]
        elif isinstance(statement, Apply):
            yield from _of_entries(statement)
        elif isinstance(statement, Total):
            yield Need.TOTAL
        elif isinstance(statement, Assign):
            yield from _of_numbers(value for _, value in statement.assignments)
        elif isinstance(statement, Loop):
            yield from _of_loop(statement)
        elif isinstance(statement, Choice):
            yield Need.CHOICE
            yield from _of_numbers(side for each in _comparisons(statement.condition) for side in each.args)
            yield from _needs(each for branch in statement.branches for each in branch.body)


def _of_entries(statement: Apply) -> Iterator[Need]:
    if statement.has_own_shape:
        yield Need.SHAPED
    values = (*(value for _, value in statement.function.locals), statement.function.output)
    if any(value.has(erf) for value in values):
        yield Need.ERF


def _comparisons(condition: Boolean) -> Iterator[Relational]:
    if isinstance(condition, Relational):
        yield condition
    else:
        yield from (each for part in condition.args for each in _comparisons(part))


def _of_loop(loop: Loop) -> Iterator[Need]:
    yield from _of_numbers((loop.first, loop.stop))
    if loop.decay is not None:
        yield Need.OLDEST
        yield from _of_numbers((loop.decay,))
    if loop.is_formula:
        yield Need.STEPS
        yield from needs_of_ranges(loop.numbers, loop.index)
        return
    if loop.few:
        yield from (Need.FEW if loop.reach is None else Need.RULE, Need.ZEROS)
        yield from needs_of_ranges(loop.numbers, loop.index)
        yield from _needs(each for each in loop.body if not isinstance(each, Assign))
        return
    if not loop.is_scalar:
        yield Need.ZEROS
    yield from _needs(loop.body)


def _of_numbers(values: Iterable[Expr]) -> Iterator[Need]:
    """Roots are powers; sizes and signs need no function of a library."""
    for value in values:
        functions = value.atoms(Function)
        yield from _of_decays(functions)
        others = any(not isinstance(each, (Abs, sign, Complete, Shortfall, Whole)) for each in functions)
        if others or any(power.exp in (S.Half, -S.Half) for power in value.atoms(Pow)):
            yield Need.ELEMENTARY


def needs_of_ranges(assignments: Sequence[Assignment], index: Symbol) -> Iterator[Need]:
    """What numbers for many values of the index need."""
    single, many = split_ranges(assignments, index)
    yield from _of_numbers(value for _, value in single)
    if any(value.has(Shortfall) for _, value in many):
        yield Need.SHORTFALLS
    sums = [each for _, value in many for each in value.atoms(Complete)]
    if sums:
        yield Need.COMPLETES
    if any(len(node) > 1 for each in sums for node in each.nodes):
        yield Need.PRODUCT
    if any(value.has(erf) for _, value in many):
        yield Need.ERF


def _of_decays(functions: Iterable[Expr]) -> Iterator[Need]:
    for each in functions:
        if isinstance(each, erf):
            yield Need.ERF
        elif isinstance(each, Shortfall):
            yield Need.SHORTFALL
        elif isinstance(each, Complete):
            yield Need.COMPLETE
            if any(len(node) > 1 for node in each.nodes):
                yield Need.PRODUCT


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
        return found | {Need.SCATTER, *_of_numbers(numbers)} if numbers else found
