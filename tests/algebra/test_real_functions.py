"""``|x|`` and ``sign(x)`` stay real: no re, im or conjugate of SymPy's complex symbols, and the right values."""

from __future__ import annotations

import pytest
from sympy import Abs, Expr, Rational, Symbol, arg, conjugate, cos, exp, im, re, sign, sinh, tanh

import symmem
from symmem import Momentum, Optimizer
from symmem.algebra.real_functions import real_function
from symmem.algebra.reals import real_product, substituted

X, Q, M = Symbol("grad"), Symbol("q"), Symbol("m1")
ARGUMENTS = [
    Abs(X) ** Q,
    sign(X) * Abs(X) ** Q,
    X * exp(X),
    -2 * X**3 * Abs(X) ** Q,
    X**2 * cos(X) * exp(-X),
    X / Abs(X) ** Q,
    (X + sinh(X)) * Abs(X) ** Q,
    tanh(X) * exp(X),
]


@pytest.mark.parametrize("argument", ARGUMENTS, ids=str)
@pytest.mark.parametrize("function", [Abs, sign])
def test_of_a_real_number_it_is_a_real_formula(function: type[Expr], argument: Expr) -> None:
    ways = [
        real_function(function, argument),
        substituted(function(M), {M: argument}),
        real_product([function(M).xreplace({M: X}), X]),
    ]
    for found in ways:
        assert not found.has(re, im, conjugate, arg)
    for x in (Rational(-7, 5), Rational(3, 10)):
        at = {X: x, Q: Rational(1, 3)}
        for found in ways[:2]:
            assert abs((found.xreplace(at) - function(argument.xreplace(at))).evalf(30)) < 1e-25


@pytest.mark.parametrize("phi", ["m1/abs(m1)", "abs(m1)/m1", "m1*abs(m1)/m1**2", "-m1/sqrt(m1**2)"])
@pytest.mark.parametrize("factor", ["1", "1 - beta", "-1/(1 - beta)"])
def test_the_sign_of_a_gain_is_known(phi: str, factor: str) -> None:
    """A sign in another spelling has no slope: ``sign((1 - beta^(n+1))/(1 - beta)) = 1``, and so in the limit."""
    parameters = {"beta": {"default": Rational(9, 10), "range": "[0, 1)"}}
    derivation = symmem.derive(Optimizer("sign", phi, [Momentum("grad", "beta", factor)], parameters))
    assert derivation.M == derivation.limit.M == derivation.modified_equation[1] == 0
    side = (-1 if factor.startswith("-") else 1) * (-1 if phi.startswith("-") else 1)
    assert derivation.F == derivation.limit.F == side * sign(Symbol("grad"))
