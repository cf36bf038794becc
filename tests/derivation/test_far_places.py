"""Inputs that fuzzing found, each for its class: beyond floats, beyond any run, a root in two spellings, constants."""

from __future__ import annotations

from math import exp as exponential

import mpmath
import numpy as np
import pytest
from sympy import (
    Abs,
    Expr,
    Function,
    Max,
    Min,
    Rational,
    Sum,
    Symbol,
    atan,
    conjugate,
    cos,
    cosh,
    exp,
    oo,
    pi,
    sign,
    sinh,
    sympify,
)

import symmem
from symmem.algebra.atoms import GRAD, THETA
from symmem.algebra.probe import Probe, Ridges
from symmem.algebra.reals import function_of_sign
from symmem.algebra.where import where
from symmem.declaration.toml import read_toml

X, INDEX = symmem.grad, Symbol("s")


def declared(phi: str, variables: list[tuple[str, str, str]], parameters: str) -> symmem.Optimizer:
    rows = "".join(f'[[momentum]]\ng = "{g}"\nbeta = "{beta}"\nb = "{b}"\n' for g, beta, b in variables)
    return read_toml(f'name = "far"\nphi = "{phi}"\n[parameters]\n{parameters}\n{rows}')


def test_a_witness_beyond_floats_is_none() -> None:
    found = symmem.derive(declared("sinh(cos(exp(m1)))", [("grad**2", "beta", "exp(-n) + 1")], "beta = 0.99"))
    assert "nan" not in str(found)
    witness = getattr(found.obstruction, "witness", None)
    assert witness is None or all(map(mpmath.isfinite, (*witness.jacobian, witness.gap)))


def test_a_gap_below_floats_is_no_witness() -> None:
    """The Jacobian of M is not symmetric, by 1e-800; a report that says so has to show two numbers that differ."""
    variables = [("grad", "beta", "1"), ("grad/sqrt(m1 + eps)", "beta", "1e-400"), ("grad*m2", "beta", "1")]
    found = symmem.derive(declared("cosh(m3)", variables, "beta = 0.9\neps = 1e-8"))
    witness = getattr(found.obstruction, "witness", None)
    assert witness is None or witness.gap != 0


@pytest.mark.parametrize("eps", ["1e-8", '{ default = 1e-8, range = "(0, inf)" }'])
@pytest.mark.parametrize("b", ["min(eps, pi)", "max(eps, 1/3)", "where(eps > 1, eps, 1/3)"])
def test_a_number_that_is_chosen_has_a_value_at_a_probe(b: str, eps: str) -> None:
    """And no limit of eps is taken, in which another number might be chosen."""
    found = symmem.derive(
        declared("m1/sqrt(m1**2 + eps)", [("grad", "beta", b)], f"beta = -0.5\neps = {eps}")
    )
    assert str(found)
    assert found.modified_loss is None
    x = Symbol("x")
    probe = Probe(Ridges(()), (mpmath.mpf(1),), {x: Rational(2)}, {})
    assert (probe.value(Min(x, 3)), probe.value(Max(x, 3))) == (2, 3)


def test_a_factor_that_vanishes_after_any_run_costs_nothing() -> None:
    variables = [("grad", "-beta", "1 - beta"), ("grad", "-beta", "n - 1e39")]
    found = symmem.derive(declared("m1 + 2*m2", variables, "beta = 0"))
    at = found.at(3).F.xreplace({Symbol("beta"): Rational(0)})
    assert at == symmem.grad * (1 + 2 * (3 - 10**39))


def test_a_root_in_two_spellings_between_memories() -> None:
    """0.9**(1/3) is 30**(2/3)/10, and no number of the field of the decays; F at n = 1, added up by hand."""
    variables = [("0.9**(1/3)*grad", "beta", "1 - beta"), ("grad + m1", "beta*beta2", "exp(-n) + 1")]
    found = symmem.derive(declared("m2", variables, "beta = -0.5\nbeta2 = 0.99"))
    beta, beta2, c = -0.5, 0.99, 0.9 ** (1 / 3)
    seen = [1 + c * (1 - beta ** (r + 1)) for r in range(2)]  # grad + m1 at the steps 0 and 1
    expected = (exponential(-1) + 1) * (seen[1] + beta * beta2 * seen[0])
    values = {Symbol("beta"): beta, Symbol("beta2"): beta2, symmem.grad: 1}
    assert abs(float(found.at(1).F.subs(values)) - expected) < 1e-12


def test_a_limit_that_brings_a_constant() -> None:
    """cosh(atan(n)) tends to cosh(pi/2); heavy ball times a constant c has M -> h c^2 beta/(1 - beta)^3 H grad."""
    found = symmem.derive(declared("m1", [("grad", "beta", "cosh(atan(n))")], "beta = 0.9"))
    limit = found.limit.M.replace(Function("D2L"), lambda v: 2 * v)
    value = limit.xreplace(
        {Symbol("beta"): Rational(9, 10), symmem.grad: Rational(3), Symbol("lr"): Rational(1)}
    )
    expected = cosh(pi / 2).evalf() ** 2 * 0.9 / 0.1**3 * 2 * 3
    assert abs(float(value / expected) - 1) < 1e-12


def test_the_radius_with_a_factor_that_is_not_rational() -> None:
    """b = pi multiplies lr by pi: the radius is that of b = 1, over pi."""
    plain, scaled = (
        symmem.derive(declared("m1", [("grad", "beta", b)], "beta = 0.5")).quadratic.radius
        for b in ("1", "pi")
    )
    assert abs(scaled * float(pi) / plain - 1) < 1e-10


def test_an_absolute_value_stays_one_on_a_line() -> None:
    """Symbols have no assumptions, and SymPy would write |x| of a long x by complex conjugates."""
    debiased = "(1 - beta)/(1 - beta**(n + 1))"
    variables = [("theta", "beta", "beta"), ("grad", "beta", debiased)]
    found = symmem.derive(declared("abs(m2) + m1", variables, "beta = -0.5"))
    assert not found.straight.has(conjugate)
    space: dict = {}
    exec(compile(symmem.emit(found, "numpy"), "far.py", "exec"), space)
    theta, h, n = np.array([0.7, -0.4]), 1e-6, 3
    given = theta, lambda x: x**3, lambda x, v: 3 * x**2 * v
    line = space["straight"](*given, n=n, lr=h, beta=0.5)
    first = space["memoryless"](*given[:2], n=n, beta=0.5) + space["correction"](*given, n=n, lr=h, beta=0.5)
    assert np.allclose(line, first, rtol=1e-10, atol=1e-10)
    assert not np.allclose(line, space["memoryless"](*given[:2], n=n, beta=0.5), rtol=1e-10, atol=1e-10)


def test_a_rate_without_parameters_in_jax() -> None:
    """``def _rate(n, *)`` would be no Python; the update of a delay that starts empty, times the rate."""
    text = (
        'name = "late"\nphi = "m1"\n[schedule]\nrate = "min(1, (n + 1)/100)"\n'
        '[[momentum]]\ng = "grad"\ndelay = 1\nstart = 0\n'
    )
    space: dict = {}
    exec(compile(symmem.emit(symmem.derive(read_toml(text)), "jax"), "late.py", "exec"), space)
    assert float(space["_rate"](49)) == pytest.approx(0.5)
    step = space["step"](np.ones(2), lambda x: x, lambda x, v: v, n=49, lr=1e-3)
    assert np.allclose(step, 1 - 1e-3 * 0.5 * (1 + 1e-3 * 0.49), rtol=1e-6)


def test_a_sum_over_choices_is_put_in_order() -> None:
    """SymPy evaluates such a sum to sort the terms beside it, and takes derivatives on its way."""
    s, x = Symbol("s"), Symbol("x")
    chosen = where(s < 3, s**2, 5 * s)
    assert [chosen.diff(s).subs(s, at) for at in (1, 2, 7)] == [2, 4, 5]
    total = Sum(chosen / 2**s, (s, 0, oo)) + x
    assert sympify(str(total), {"where": where}) == total


@pytest.mark.parametrize(
    "function",
    [
        exp(sign(X)),
        atan(sign(X)),
        cos(3 * sign(X)),
        exp(1 - 2 * sign(X)),
        Max(sign(X), Rational(1, 3)),
        Sum(sign(X) / 2**INDEX, (INDEX, 0, 3)),
        Min(sign(X), X),
    ],
)
def test_a_function_of_a_sign_has_its_values(function: Expr) -> None:
    found = function_of_sign(function)
    for x in (-2, 2):
        assert abs(float(found.subs(X, x).doit() - function.subs(X, x).doit())) < 1e-15


@pytest.mark.parametrize("n", [1, 3])
def test_a_rate_of_a_power_of_the_step_by_the_step(n: int) -> None:
    """n**n is no power of a number: sums over it stay sums.  M of heavy ball at a rate r(n), added up by hand."""
    declaration = declared("m1", [("grad", "beta", "1")], "beta = 0.5\n[schedule]\nrate = 'n**n'")
    found = symmem.derive(declaration).at(n).M
    beta, rate = Rational(1, 2), lambda k: Rational(k) ** k
    update = {k: sum(beta**j for j in range(k + 1)) for k in range(n + 1)}
    way = {k: sum(rate(s) * update[s] for s in range(n - k, n)) for k in range(n + 1)}
    expected = sum(beta**k * way[k] for k in range(n + 1))
    value = found.xreplace({Symbol("beta"): beta}).replace(Function("D2L"), lambda v: v).doit()
    assert value == symmem.lr * symmem.grad * expected


@pytest.mark.parametrize(
    ("phi", "expected"),
    [
        ("cos(sinh(sign(m1)))/eps", 4 * cos(sinh(1))),
        ("exp(sign(m1) + eps)", exp(Rational(-3, 4))),
        ("eps/(2 + sign(m1))", Rational(1, 4)),
    ],
)
def test_what_has_two_values_has_no_pole(phi: str, expected: Expr) -> None:
    """Phi of a sign is constant where the gradient keeps its sign, so that memory adds nothing there."""
    found = symmem.derive(declared(phi, [("grad", "beta", "1")], "beta = 0.5\neps = 0.25"))
    assert found.limit.M == 0
    for text in (str(found.modified_loss), str(found.gradient_map_loss)):
        assert "zoo" not in text
    values = {"eps": Rational(1, 4), "beta": Rational(1, 2)}
    value = found.limit.F.subs({Symbol(name): x for name, x in values.items()}).subs(symmem.grad, -2)
    assert abs(float(value - expected)) < 1e-14


def test_a_parameter_that_a_condition_compares_is_not_taken_to_0() -> None:
    """At eps = 0 the condition compares an infinite number."""
    b = "where(eps**(-1/2) > 100, eps, 1)"
    found = symmem.derive(declared("m1/sqrt(m1**2 + eps)", [("grad", "beta", b)], "beta = 0.5\neps = 1"))
    values = {Symbol("eps"): Rational(1), Symbol("beta"): Rational(1, 2), symmem.grad: Rational(3)}
    assert abs(float(found.limit.F.xreplace(values)) - 6 / 37**0.5) < 1e-14


@pytest.mark.parametrize("g", [Rational(-3, 2), Rational(2)])
@pytest.mark.parametrize("theta", [Rational(-1, 3), Rational(5)])
def test_a_sign_of_a_product_is_that_of_its_odd_factors(g: Rational, theta: Rational) -> None:
    """``sign(grad^2 theta) = sign(theta)``: the mask of a cautious optimizer is 1 where the past is constant."""
    values = {GRAD: g, THETA: theta}
    for product in (GRAD**2, GRAD**2 * THETA, -2 * GRAD * THETA**3, Abs(GRAD) * THETA, -(GRAD**4)):
        assert function_of_sign(sign(product)).xreplace(values) == sign(product.xreplace(values))
    assert function_of_sign(sign(GRAD**2)) == 1
