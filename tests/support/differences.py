"""Values and Jacobians of formulas at the probe point by differences of a tiny step: no derivative of the engine."""

from __future__ import annotations

from typing import Any

import mpmath
from mpmath import mpf
from sympy import Expr
from truth import LOSS, LR, THETA

from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal

DIGITS = 110
TINY = mpf(10) ** -35


def value(expression: Expr, literal: Literal, point: Any = THETA, **numbers: Any) -> list[mpf]:
    scalars = {**literal.numbers, "lr": LR, **numbers}
    found = evaluate(expression, scalars, {"theta": point}, LOSS, literal.functions, digits=DIGITS)
    return found if isinstance(found, list) else [found] * len(THETA)


def jacobian(expression: Expr, literal: Literal, **numbers: Any) -> list[list[mpf]]:
    """``J[i][j]``: the derivative of entry i along entry j of theta."""
    columns = []
    with mpmath.workdps(DIGITS):
        for j in range(len(THETA)):
            sides = [
                value(
                    expression, literal, [x + way * TINY * (i == j) for i, x in enumerate(THETA)], **numbers
                )
                for way in (1, -1)
            ]
            columns.append([(up - down) / (2 * TINY) for up, down in zip(*sides, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


def asymmetry(matrix: list[list[mpf]]) -> mpf:
    with mpmath.workdps(DIGITS):
        return max(abs(matrix[i][j] - matrix[j][i]) for i in range(len(matrix)) for j in range(i))
