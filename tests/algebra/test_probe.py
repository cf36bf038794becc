"""Formulas at a point, against plain arithmetic."""

from __future__ import annotations

import pytest
from mpmath import mpf
from sympy import And, Expr, Ge, Gt, Max, Or, Rational, Symbol

from symmem.algebra.atoms import THETA
from symmem.algebra.probe import Probe, Ridges
from symmem.algebra.where import where

BETA, EPS = Symbol("beta"), Symbol("eps")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (where(BETA < 1, THETA, 2 * THETA), (2, 3)),
        (where(BETA > 1, THETA, 2 * THETA), (4, 6)),
        (where(And(Ge(BETA, 0), Gt(EPS, 5)), EPS, THETA + EPS), (6, 7)),
        (where(Or(Ge(BETA, 0), Gt(EPS, 5)), EPS, THETA + EPS), (4, 4)),
        (Max(BETA, EPS) * where(BETA <= BETA**2, 1, THETA), (8, 12)),
    ],
)
def test_a_choice_by_the_parameters_is_made(expression: Expr, expected: tuple[int, ...]) -> None:
    point = (mpf(2), mpf(3))
    probe = Probe(Ridges(((mpf(1), mpf(2)),)), point, {BETA: Rational(1, 2), EPS: Rational(4)}, {})
    assert probe.vector(expression) == expected
