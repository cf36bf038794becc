"""Derivation -> Program: the one place where formulas become code.

Each routine is lowered as one expression, ``theta - lr (F + M)`` for the step, so that it needs no more derivative
contractions than its formula has.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from sympy import Expr, S, Symbol

from symmem.algebra.atoms import GRAD, LR, STEP, THETA
from symmem.algebra.results import Advice, Missing
from symmem.derivation.derivation import Derivation
from symmem.derivation.modified_loss import ModifiedLoss
from symmem.errors import DerivationError
from symmem.method.plain_decays import PlainDecays, plain_decays
from symmem.program.blocks import Block, Names
from symmem.program.coefficients import cleared
from symmem.program.few_steps import at_few_steps
from symmem.program.nested_sums import computed
from symmem.program.program import Program, Routine, Variants
from symmem.program.stable_sums import loses_digits, stabilised
from symmem.program.straight import straight_formulas

Pair = tuple[Expr | Missing, Expr | Missing]


def lower(derivation: Derivation) -> Program:
    """The routines memoryless, correction, step and straight (order 1); the modified losses where they exist."""
    finite, limit = formulas(derivation)
    lost = expansion_loses_digits(derivation)
    found = {
        "memoryless": Variants(_lowered(finite[0]), _lowered(limit[0])),
        "correction": Variants(_lowered(finite[1]), _lowered(limit[1])),
        "step": Variants(
            _lowered(_step(*finite, derivation.method.rate_at(STEP))),
            _lowered(_step(*limit, limit_rate(derivation))),
        ),
    }
    if derivation.order == 1:
        *lines, loses = straight_formulas(derivation)
        lost = lost or loses
        if not all(isinstance(line, Missing) for line in lines):
            found["straight"] = Variants(*(_lowered(line) for line in lines))
    loss = _modified_loss(derivation)
    inside = derivation.gradient_map_loss
    if inside is not None:
        functions = derivation.method.functions
        potentials = tuple((each.name, each.potential) for each in functions if each.potential)
        found["gradient_map_loss"] = Variants.always(number_routine(inside.potential, potentials))
        if inside.running is not None:
            # The momentum stands in the place of theta, which the running form does not have.
            running = inside.running.xreplace({inside.map.channel: THETA})
            found["running_loss"] = Variants.always(number_routine(running, potentials))
    if loss is None:
        return at_few_steps(Program(derivation.optimizer, derivation.order, found, loses_digits=lost))
    # The same loss may stand inside the gradient map: it is lowered once.
    found["modified_loss"] = Variants.always(number_routine(loss.potential, ()))
    found["preconditioner"] = Variants.always(vector_routine(loss.preconditioner))
    if loss.decay != 0:
        found["decay"] = Variants.always(number_routine(loss.decay))
    program = Program(derivation.optimizer, derivation.order, found, loss.regime, loss.rate, lost)
    return at_few_steps(program)


def vector_routine(expression: Expr, given: Iterable[Symbol] = ()) -> Routine:
    """The routine of a vector; its last statement computes the result entry by entry.

    ``given`` are symbols that stand for vectors which the caller gives, beside theta and the gradient.
    """
    return lowered_vector(expression, frozenset({THETA, GRAD, *given}))


@lru_cache(maxsize=128)
def lowered_vector(expression: Expr, vectors: frozenset[Symbol]) -> Routine:
    """The same, once for a formula that occurs twice: F at step n and in the limit, a direction and F."""
    block = Block(Names(set(vectors)))
    result = block.finish(expression)
    return Routine(block.statements(), result)


@lru_cache(maxsize=128)
def number_routine(expression: Expr, potentials: tuple[tuple[str, str], ...] = ()) -> Routine:
    """The routine of a number; ``potentials`` are opaque functions with the names of their potentials."""
    block = Block(Names(potentials=dict(potentials)))
    result = block.finish_scalar(expression)
    return Routine(block.statements(), result)


def advised(formula: Expr | Missing, advice: Advice) -> Expr | Missing:
    """The formula, or why there is none; ``advice`` is for somebody who calls a function."""
    return Missing(formula.reason, (advice,)) if isinstance(formula, Missing) else formula


@lru_cache(maxsize=64)
def formulas(derivation: Derivation) -> tuple[Pair, Pair]:
    """F and M at step n, their numbers without cancellation, and in the limit: once for all targets."""
    if isinstance(derivation.F, Missing):
        raise DerivationError(str(derivation.F))  # without an update there is nothing to write
    named = _with_names(derivation)
    finite = _finite(derivation) if named is None else _written(named[1], _finite(named[0]))
    limit = derivation.limit
    if isinstance(limit, Missing):
        missing = advised(limit, Advice.STEP)
        return finite, (missing, missing)
    field = derivation.method.numbers.field
    return finite, (cleared(limit.F, field), cleared(limit.M, field))


def _finite(derivation: Derivation) -> Pair:
    """F and M at step n."""
    marked = derivation.marked
    if isinstance(marked, Missing):
        return stabilised(derivation.F, derivation.method.numbers), advised(marked, Advice.LIMIT)
    numbers, marks = marked.numbers, marked.marks
    correction = stabilised(marked.M, numbers, marks)
    if marked.nested is not None:
        correction += LR**2 * computed(marked.nested)
    return stabilised(derivation.F, numbers), correction


@lru_cache(maxsize=64)
def _with_names(derivation: Derivation) -> tuple[Derivation, PlainDecays] | None:
    """The derivation with names for the decays that are computed, where there are such."""
    named = plain_decays(derivation.method)
    return None if named is None else (Derivation(named.method, derivation.order), named)


def _written(named: PlainDecays, pair: Pair) -> Pair:
    first, second = (each if isinstance(each, Missing) else named.written(each) for each in pair)
    return first, second


@lru_cache(maxsize=64)
def expansion_loses_digits(derivation: Derivation) -> bool:
    """Whether a number of F or M at step n is a closed form that subtracts."""
    named = _with_names(derivation)
    if named is not None:
        return expansion_loses_digits(named[0])
    marked = derivation.marked
    if isinstance(marked, Missing):
        return loses_digits(derivation.F, derivation.method.numbers)
    update = loses_digits(derivation.F, marked.numbers)
    return update or loses_digits(marked.M, marked.numbers, marked.marks)


def limit_rate(derivation: Derivation) -> Expr:
    """The settled rate; where there is none the limit is missing, and nobody multiplies by it."""
    rate = derivation.method.rate
    return S.One if rate is None or isinstance(rate.settled, Missing) else rate.settled


def step_of(update: Expr, correction: Expr, rate: Expr = S.One) -> Expr:
    """``theta - lr rate (F + M)``."""
    return THETA - LR * rate * (update + correction)


def _step(update: Expr | Missing, correction: Expr | Missing, rate: Expr) -> Expr | Missing:
    if isinstance(update, Missing):
        return update
    return correction if isinstance(correction, Missing) else step_of(update, correction, rate)


def _lowered(formula: Expr | Missing) -> Routine | Missing:
    return formula if isinstance(formula, Missing) else vector_routine(formula)


def _modified_loss(derivation: Derivation) -> ModifiedLoss | None:
    """None also where there is no limit, and so no modified loss."""
    loss = derivation.modified_loss
    return loss if isinstance(loss, ModifiedLoss) else None
