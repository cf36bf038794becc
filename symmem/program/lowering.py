"""Derivation -> Program: the one place where formulas become code.

Each routine is lowered as one expression, ``theta - lr (F + M)`` for the step, so that it needs no more derivative
contractions than its formula has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sympy import Expr, Symbol

from symmem.algebra.atoms import GRAD, LR, THETA
from symmem.derivation.derivation import Derivation
from symmem.derivation.modified_loss import ModifiedLoss
from symmem.errors import DerivationError
from symmem.program.blocks import Block, Names
from symmem.program.program import LossProgram, Program, Routine, Unavailable, Variants


def lower(derivation: Derivation) -> Program:
    """The program of a derivation: the memoryless update, its correction, the step, and the modified loss."""
    optimizer = derivation.optimizer
    names = frozenset(parameter.name for parameter in optimizer.parameters)

    def variants(formula: Callable[[Expr, Expr], Expr], needs_correction: bool) -> Variants:
        def finite() -> Expr:
            return formula(derivation.F, derivation.M if needs_correction else derivation.F)

        def limit() -> Expr:
            return formula(derivation.limit.F, derivation.limit.M)

        return Variants(
            attempt(finite, names, "take the limit, n=None"), attempt(limit, names, "give a step n")
        )

    try:
        found, obstruction = derivation.modified_loss, derivation.obstruction
    except DerivationError:  # without a limit there is no modified loss
        found, obstruction = None, None
    return Program(
        optimizer=optimizer,
        order=derivation.order,
        memoryless=variants(lambda update, _: update, needs_correction=False),
        correction=variants(lambda _, correction: correction, needs_correction=True),
        step=variants(lambda update, correction: THETA - LR * (update + correction), needs_correction=True),
        loss=None if found is None else _loss(found, names),
        obstruction=None if obstruction is None else obstruction.reason,
    )


def routine(expression: Expr, taken: frozenset[str], vectors: Iterable[Symbol] = ()) -> Routine:
    """The routine of a vector; its last statement computes the result entry by entry.

    ``vectors`` are names that stand for vectors beside theta and the gradient.
    """
    block = Block(Names(taken, {THETA, GRAD, *vectors}))
    result = block.finish(expression)
    return Routine(block.statements(), result)


def scalar_routine(expression: Expr, taken: frozenset[str]) -> Routine:
    """The routine of a number."""
    block = Block(Names(taken))
    result = block.finish_scalar(expression)
    return Routine(block.statements(), result)


def attempt(
    formula: Callable[[], Expr], taken: frozenset[str], advice: str, vectors: Iterable[Symbol] = ()
) -> Routine | Unavailable:
    """The routine of a formula, or why there is none and what to do instead."""
    try:
        return routine(formula(), taken, vectors)
    except DerivationError as error:
        # What the command line advises is of no use to somebody who calls a function.
        return Unavailable(f"{str(error).partition(';')[0]}; {advice}")


def _loss(found: ModifiedLoss, taken: frozenset[str]) -> LossProgram:
    return LossProgram(
        potential=scalar_routine(found.potential, taken),
        preconditioner=routine(found.preconditioner, taken),
        decay=None if found.decay == 0 else scalar_routine(found.decay, taken),
        regime=found.regime,
        rate=found.rate,
    )
