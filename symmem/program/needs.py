"""What a routine cannot do without: the small functions of the runtime that its statements call.

Every target has them in its own language, and includes those that are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

from sympy import Abs, Expr, Function, Pow, S, Symbol, erf, sign
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from symmem.program.digits.decay_functions import Complete, Shortfall, Whole
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


def needs_of(statements: Iterable[Statement]) -> Iterator[Need]:
    """What the code of these statements calls, with repetitions."""
    for statement in statements:
        match statement:
            case Contract() | Evaluate():
                yield Need.LIKE
            case OfTensor():
                yield Need[statement.function.upper()]
            case Apply():
                yield from _of_entries(statement)
            case Total():
                yield Need.TOTAL
            case Assign():
                yield from needs_of_numbers(value for _, value in statement.assignments)
            case Loop():
                yield from _of_loop(statement)
            case Choice():
                yield Need.CHOICE
                compared = _comparisons(statement.condition)
                yield from needs_of_numbers(side for each in compared for side in each.args)
                yield from needs_of(each for branch in statement.branches for each in branch.body)


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
    yield from needs_of_numbers((loop.first, loop.stop))
    if loop.decay is not None:
        yield Need.OLDEST
        yield from needs_of_numbers((loop.decay,))
    if loop.is_formula:
        yield Need.STEPS
        yield from needs_of_ranges(loop.numbers, loop.index)
        return
    if loop.few:
        yield from (Need.FEW if loop.reach is None else Need.RULE, Need.ZEROS)
        yield from needs_of_ranges(loop.numbers, loop.index)
        yield from needs_of(each for each in loop.body if not isinstance(each, Assign))
        return
    if not loop.is_scalar:
        yield Need.ZEROS
    yield from needs_of(loop.body)


def needs_of_numbers(values: Iterable[Expr]) -> Iterator[Need]:
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
    yield from needs_of_numbers(value for _, value in single)
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
