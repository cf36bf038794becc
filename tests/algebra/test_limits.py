"""Limits of scalars against their values far out, and what no limit is told of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Expr, Rational, exp, symbols

from symmem.algebra.atoms import STEP as N
from symmem.algebra.exponential import exponential_field
from symmem.algebra.intervals import Interval
from symmem.algebra.limits import scalar_limit
from symmem.algebra.results import Missing
from symmem.algebra.scalars import Scalars

X, Y, A = symbols("x y a")
RANGES = (
    (X, Interval(Rational(3, 2), Rational(2))),  # its powers grow
    (Y, Interval(Rational(1, 2), Rational(3))),  # of these nothing is known
    (A, Interval(Rational(1, 2), Rational(2))),
)


def scalars(*formulas: Expr) -> Scalars:
    field = exponential_field([X, Y, A, *formulas])
    return Scalars(field, frozenset((1 / X,)), RANGES, ())


@pytest.mark.parametrize(
    "formula",
    [
        (A * X**N + Y**N) / X**N,  # a, or without bound: 0 times what grows is not 0
        X ** (-N) * (1 + Y**N),
        Y ** (N + 1) - Y**N,  # x**oo - x**oo is not 0
        (1 + 1 / (N + 1)) ** (A * N),  # exp(a): 1**oo is not 1
        (X**N) ** (1 / (N + 1)),  # x: oo**0 is not 1
        (X ** (-N)) ** (1 / (N + 1)),
        exp(A * N) * X ** (-N),
        exp(Y * N) - exp(A * N),
    ],
)
def test_what_the_limits_of_the_parts_do_not_tell(formula: Expr) -> None:
    """Each has another limit at other values in the ranges, or is none of what its parts would give."""
    assert isinstance(scalar_limit(formula, scalars(formula)), Missing)


@pytest.mark.parametrize(
    "formula",
    [
        (A * X**N + 3) / X**N,
        A + X ** (-N) * N,
        (A + X ** (-N)) ** Rational(1, 2),
        exp(X ** (-N)) + exp(-N),
        A / (1 + X**N),
    ],
)
def test_the_limit_is_the_value_far_out(formula: Expr) -> None:
    found = scalar_limit(formula, scalars(formula))
    assert isinstance(found, Expr)
    for value in (Rational(3, 2), Rational(2)):
        at = {X: value, A: Rational(3, 4)}
        assert abs((found - formula.subs(N, 900)).subs(at).evalf(50)) < 1e-40


def test_a_decay_that_is_a_quotient() -> None:
    """``|y/x| < 1`` is assumed of a decay y/x, where nothing is known of y: of ``y^n`` beside ``x^n`` then all is."""
    known = replace(scalars(X**N, Y**N), vanishing=frozenset((Y / X,)))
    assert scalar_limit((A * X**N + 3 * Y**N) / (2 * X**N + Y**N), known) == A / 2
    assert scalar_limit(N * Y**N / X**N, known) == 0
    assert isinstance(scalar_limit(Y**N, known), Missing)
    assert isinstance(scalar_limit(X**N / Y**N, known), Missing)
