"""Is a declaration a given program?  Both run on one problem, step by step; where they part is the answer.

The declaration runs in many digits, so that what is measured is the program's own rounding, or a difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mpmath
from sympy import Expr, Integer, Rational

from symmem.declaration.implementation import Argument, Implementation
from symmem.declaration.optimizer import Optimizer
from symmem.verification.evaluation import VectorMap, evaluate
from symmem.verification.implementations import run
from symmem.verification.literal import Literal
from symmem.verification.problem import DIGITS, Problem
from symmem.verification.vectors import Number, real

TOLERANCE = 1e-11
"""Fifty steps of float64 on numbers of size 1 stay well below this; a different optimizer does not."""
STEPS = 50
RATE = Rational(1, 250)


@dataclass(frozen=True)
class FirstDifference:
    """The first entry that differs: after how many steps, in which matrix and where in it, and the two values."""

    step: int
    matrix: int
    index: tuple[int, ...]
    declared: float
    program: float


@dataclass(frozen=True)
class Agreement:
    """How far the two runs are apart at most, and where they part, if they do."""

    gap: float
    tolerance: float
    steps: int
    parting: FirstDifference | None

    @property
    def holds(self) -> bool:
        """Whether the declaration is the program, as far as this run can tell."""
        return self.parting is None


def agreement(
    optimizer: Optimizer,
    implementation: Implementation,
    problem: Problem,
    values: Mapping[str, Number] | None = None,
    *,
    functions: Mapping[str, VectorMap] | None = None,
    lr: Rational = RATE,
    steps: int = STEPS,
    tolerance: float = TOLERANCE,
) -> Agreement:
    """The declaration against the program over these steps, with the declared defaults where no value is given."""
    literal = Literal(optimizer, values or {}, problem.loss, functions or {}, problem.shapes)
    arguments = constructor_arguments(implementation, {**literal.numbers, "lr": lr})
    idle = implementation.idle_steps
    with mpmath.workdps(DIGITS):
        factor = evaluate(implementation.lr_factor, literal.numbers, {}, digits=DIGITS)
    # An idle step has the rate of the first: it does not move.
    rates = [
        float(real(lr) * factor * literal.rate(max(step - idle, 0), DIGITS)) for step in range(steps + idle)
    ]
    theirs = run(implementation.name, arguments, problem, rates, dict(implementation.group))[idle:]
    ours = literal.run(problem.start, lr, steps, DIGITS)
    worst, parting = 0.0, None
    for step, (left, right) in enumerate(zip(ours, theirs, strict=True)):
        gaps = [float(abs(real(x) - real(y))) for x, y in zip(left, right, strict=True)]
        # A number that is not finite is the worst gap of all.
        gaps = [gap if gap < float("inf") else float("inf") for gap in gaps]
        largest = max(gaps)
        worst = max(worst, largest)
        if parting is None and largest > tolerance:
            position = next(i for i, gap in enumerate(gaps) if gap > tolerance)
            matrix, index = problem.place(position)
            parting = FirstDifference(step, matrix, index, float(left[position]), right[position])
    return Agreement(worst, tolerance, steps, parting)


def constructor_arguments(implementation: Implementation, values: Mapping[str, Number]) -> dict[str, object]:
    """The keywords of the program with numbers in the place of the parameters, and of ``lr``."""

    def number(expression: Expr) -> object:
        if isinstance(expression, Integer):
            return int(expression)
        return float(evaluate(expression, values, {}, digits=DIGITS))

    def argument(given: Argument) -> object:
        return tuple(map(number, given)) if isinstance(given, tuple) else number(given)

    with mpmath.workdps(DIGITS):
        made = {key: argument(given) for key, given in implementation.arguments}
    return {**made, **dict(implementation.options)}
