"""Closed sums between bounds of every form, against the terms added up."""

from __future__ import annotations

import pytest
from sympy import Expr, Integer, Rational, Sum, Symbol

from symmem.algebra.atoms import PAST, STEP
from symmem.method.sums import added

R, BETA = Symbol("r9"), Symbol("beta")
SUMMAND = BETA ** (STEP - R) * (R + 1)


@pytest.mark.parametrize("first", [Integer(0), Integer(1), Integer(3), PAST, PAST + 1])
@pytest.mark.parametrize("last", [STEP, STEP - 1, STEP + 2])
def test_every_bound(first: Expr, last: Expr) -> None:
    values = {STEP: Integer(7), PAST: Integer(2), BETA: Rational(2, 3)}
    found = added(SUMMAND, R, first, last, {})
    lower, upper = (int(bound.xreplace(values)) for bound in (first, last))
    truth = sum(SUMMAND.xreplace(values).xreplace({R: Integer(step)}) for step in range(lower, upper + 1))
    assert found.has(Sum) == (last == STEP + 2)
    assert found.xreplace(values).doit() == truth
