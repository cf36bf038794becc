"""What is said to settle exponentially does, by numbers; what does not is not said to."""

from __future__ import annotations

import mpmath
import pytest
from mpmath import mpf
from sympy import Expr, Rational, Symbol, lambdify

from symmem.algebra.intervals import DECAYS, POSITIVE
from symmem.algebra.settling import settles
from symmem.algebra.symbols import STEP
from symmem.declaration.parser import parse

RANGES = {Symbol("p"): DECAYS, Symbol("a"): POSITIVE}
VALUES = {"p": mpf("0.6"), "a": mpf("0.4")}
FAST = ["p**n", "n**2*p**n", "exp(-a*n)", "(1 + a)**(-n)", "2**(-n/2)", "sqrt(2 - p**n)", "1/(3 + exp(-n))",
        "log(2 + p**n)", "sin(p**n)", "cos(1 + p**n)", "abs(p**n - 2)", "sign(1 + p**n)", "tan(p**n)",
        "sqrt(p**n)", "p**n/(n + 1)", "(1 + p**n)**3", "exp(p**n)", "a**(p**n)", "p"]  # fmt: skip
SLOW = ["1/(n + 1)", "n", "sqrt((n + 2)/(n + 1))", "sin(n)", "log(n + 1)", "(1 + a)**n", "p**(-n)", "exp(n)",
        "1 + p**n/(1 + 1/(n + 1)) + 1/(n + 2)", "exp(-sqrt(n + 1))", "sign(p**n)", "log(p**n)", "1/p**n"]  # fmt: skip


def value(expression: Expr, n: int) -> mpf:
    names = sorted(VALUES)
    return mpf(
        lambdify([STEP, *map(Symbol, names)], expression, "mpmath")(mpf(n), *(VALUES[x] for x in names))
    )


def far(expression: Expr) -> Expr | None:
    """The limit as the numbers show it: this test's own, of what the engine would be told."""
    with mpmath.workdps(60):
        near, later = value(expression, 3000), value(expression, 6000)
        return Rational(str(mpmath.nstr(later, 40))) if abs(near - later) < mpf(10) ** -50 else None


@pytest.mark.parametrize("text", FAST)
def test_what_is_said_to_settle_does(text: str) -> None:
    expression = parse(text)
    assert settles(expression, STEP, RANGES, far)
    with mpmath.workdps(400):
        limit = value(expression, 5000)
        for n in (400, 800):
            assert abs(value(expression, n) - limit) <= mpf("0.9") ** n


@pytest.mark.parametrize("text", SLOW)
def test_nothing_else_is(text: str) -> None:
    assert not settles(parse(text), STEP, RANGES, far)
