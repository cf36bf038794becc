"""Derivation -> Program: the one place where formulas become code.

Each routine is lowered as one expression, ``theta - lr (F + M)`` for the step, so that it needs no more derivative
contractions than its formula has.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from sympy import Expr, S, Symbol

from symmem.algebra.atoms import GRAD, LR, STEP, THETA
from symmem.algebra.results import Missing
from symmem.derivation.derivation import Derivation
from symmem.derivation.loss.modified_loss import ModifiedLoss
from symmem.program.blocks import Block, Names
from symmem.program.expansion import expansion_loses_digits, formulas
from symmem.program.few_steps import at_few_steps
from symmem.program.program import Program, Routine, Variants
from symmem.program.straight import straight_formulas


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
        momentum = inside.map.channel
        if inside.running is not None and inside.coupled == 0 and isinstance(momentum, Symbol):
            # The momentum stands in the place of theta, which the running form has with coupled decay alone.
            running = inside.running.xreplace({momentum: THETA})
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
