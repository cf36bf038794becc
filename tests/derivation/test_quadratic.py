"""Quadratic losses: the summed iteration against equations typed by hand, their roots, and the real optimizer.

``1 - mu = h a W(1/mu)`` (mathematics.md section 4); x = h a throughout.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from linear_methods import BETAS, LINEAR, linear_method, log_series, root_series, values_of
from mpmath import mpf
from sympy import Add, Expr, Rational, S, Symbol, cancel, expand, sqrt
from truth import load

import symmem
from symmem.algebra.results import Missing
from symmem.derivation.quadratic import Quadratic, quadratic
from symmem.method.reading import method_of
from symmem.verification.literal import Literal
from symmem.verification.losses import quadratic_loss

lr, a, mu, beta = Symbol("lr"), Symbol("a"), Symbol("mu"), Symbol("beta")
ORDER = 9


def by_hand(name: str) -> Expr:
    """The equation of ``test_orders`` with symbols for the betas."""
    first = beta if name != "two-betas" else Symbol("beta1")
    rows = LINEAR[name](first, Symbol("beta2"))  # type: ignore[arg-type]
    return Add(*(c * mu**i * (lr * a) ** j for i, row in enumerate(rows) for j, c in enumerate(row)))


@pytest.mark.parametrize("name", LINEAR)
def test_equation(name: str) -> None:
    assert cancel(expand(quadratic(method_of(linear_method(name)), 1).equation - by_hand(name))) == 0


@pytest.mark.parametrize("name", LINEAR)
def test_series_and_flow(name: str) -> None:
    found = quadratic(method_of(linear_method(name)), ORDER)
    assert len(found.series) == ORDER + 2
    assert len(found.flow) == ORDER + 1
    for betas in BETAS:
        numbers = {Symbol(symbol): Rational(value) for symbol, value in values_of(betas).items()}
        steps = root_series(LINEAR[name](*betas), ORDER + 2)
        assert [value.xreplace(numbers) for value in found.series] == [Rational(c) for c in steps]
        logs = log_series(steps)[1:]
        assert [value.xreplace(numbers) for value in found.flow] == [Rational(c) for c in logs]


@pytest.mark.parametrize("name", [name for name in LINEAR if name != "two-betas"])
def test_the_root_solves_the_equation_and_is_the_slow_one(name: str) -> None:
    found = quadratic(method_of(linear_method(name)), 1)
    assert found.root is not None
    assert expand(by_hand(name).xreplace({mu: found.root})) == 0
    for value in (Rational(1, 5), Rational(9, 10)):
        assert found.root.xreplace({beta: value, lr: S.Zero}) == 1


def test_an_equation_of_third_degree_has_no_closed_root() -> None:
    assert quadratic(method_of(linear_method("two-betas")), 1).root is None


def at(expression: Expr, **values: Rational) -> mpf:
    """The number at 40 digits; no atom of the language but scalars and square roots."""
    placed = expression.xreplace({Symbol(name): value for name, value in values.items()})
    with mpmath.workdps(45):
        return mpf(str(placed.evalf(45)))


@pytest.mark.parametrize("name", [name for name in LINEAR if name != "two-betas"])
def test_the_series_sum_to_the_root_and_its_logarithm(name: str) -> None:
    """At x = radius/100 twenty terms leave about 1e-40."""
    optimizer = linear_method(name).with_values(
        {p.name: Rational(2, 5) for p in linear_method(name).parameters}
    )
    found = quadratic(method_of(optimizer), 20)
    x = Rational(1, 1000)
    with mpmath.workdps(45):
        root = at(found.root, lr=x, a=S.One)
        h = mpf(1) / 1000
        assert abs(mpmath.fsum(at(c) * h**j for j, c in enumerate(found.series)) - root) < mpf("1e-30")
        flow = mpmath.fsum(at(c) * h**j for j, c in enumerate(found.flow, start=1))
        assert abs(flow - mpmath.log(root)) < mpf("1e-30")


# The radius of convergence -------------------------------------------------------------------------------------


def with_default(name: str, value: Rational) -> Quadratic:
    """The radius is a number at the declared default: the declaration with another default."""
    optimizer = load(name)
    changed = symmem.Optimizer(
        name=name,
        phi=optimizer.phi,
        momentum=optimizer.momentum,
        parameters=[symmem.Parameter("beta", value)],
    )
    return quadratic(method_of(changed), 1)


RADII = {
    "heavyball": (1 - sqrt(beta)) ** 2,
    "ema-momentum": (1 - sqrt(beta)) ** 2 / (1 - beta),
    "ema-momentum-debiased": (1 - sqrt(beta)) ** 2 / (1 - beta),
    "nesterov": (1 - beta) ** 2 / (1 + beta) ** 2,
}


@pytest.mark.parametrize("value", [Rational(1, 4), Rational(3, 5), Rational(9, 10)])
@pytest.mark.parametrize("name", RADII)
def test_radius(name: str, value: Rational) -> None:
    found = with_default(name, value)
    assert found.values == (("beta", value),)
    assert found.radius is not None
    assert abs(found.radius - at(RADII[name], beta=value)) < 1e-10


def test_gradient_descent_converges_everywhere() -> None:
    found = quadratic(method_of(load("gd")), 5)
    assert found.radius is None
    assert found.root is not None
    assert expand(found.root - (1 - lr * a)) == 0
    assert [value - c for value, c in zip(found.series, (1, -1, 0, 0, 0, 0, 0), strict=True)] == [0] * 7


def mixture(p: Fraction, q: Fraction, u: Fraction, v: Fraction) -> symmem.Optimizer:
    """``Phi = u m_1 + v m_2``, both moving averages of the gradient."""
    return symmem.Optimizer(
        name="mixture",
        phi=f"({u}) * m1 + ({v}) * m2",
        momentum=[{"g": "grad", "beta": p, "b": 1 - p}, {"g": "grad", "beta": q, "b": 1 - q}],
    )


def coefficients(p: Fraction, q: Fraction, u: Fraction, v: Fraction, terms: int) -> list[mpf]:
    """The series of the root, from ``(mu - 1)(mu - p)(mu - q) + x mu [u (1-p)(mu - q) + v (1-q)(mu - p)] = 0``."""
    rows = [
        [-p * q, 0],
        [p * q + p + q, -u * (1 - p) * q - v * (1 - q) * p],
        [-1 - p - q, u * (1 - p) + v * (1 - q)],
        [1, 0],
    ]
    return [mpf(c.numerator) / c.denominator for c in root_series(rows, terms)]


def growth_radius(series: list[mpf], oscillates: bool) -> mpf:
    """The radius from the last coefficients, ``c_n ~ n^(-3/2) R^-n cos(n phi + psi)`` near a square root.

    For one point, ``c_{n-1}/c_n`` times ``1 - 3/(2n)``; for a pair, the determinants of three neighbours.
    """
    n = len(series) - 1
    scaled = [c * mpf(i) ** 1.5 for i, c in enumerate(series)]
    if not oscillates:
        return scaled[n - 1] / scaled[n]

    def determinant(i: int) -> mpf:
        return scaled[i - 1] * scaled[i + 1] - scaled[i] ** 2

    return mpmath.sqrt(determinant(n - 2) / determinant(n - 1))


MIXTURES = {
    "the nearest point is the one": ((1, 2), (1, 4), (1, 3), (1, 1), False),
    "a pair of fast roots meets before": ((1, 2), (9, 20), (1, 3), (1, 1), False),
    "one fast root meets another before": ((1, 2), (9, 20), (3, 1), (-1, 1), False),
    "a pair of points on the slow sheet": ((4, 5), (1, 10), (-1, 1), (2, 1), True),
}


@pytest.mark.parametrize("name", MIXTURES)
def test_radius_of_two_betas_against_the_growth_of_the_coefficients(name: str) -> None:
    *given, oscillates = MIXTURES[name]
    p, q, u, v = (Fraction(*pair) for pair in given)
    radius = quadratic(method_of(mixture(p, q, u, v)), 1).radius
    assert radius is not None
    estimate = growth_radius(coefficients(p, q, u, v, 80), oscillates)
    assert abs(estimate / radius - 1) < 2e-3


# The real optimizer ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LINEAR)
def test_the_optimizer_contracts_by_the_slow_root(name: str) -> None:
    """After 100 steps the fast modes are gone, (0.55)^100 = 1e-26; the loss is 9/32 theta^2, x = 9/160."""
    optimizer = linear_method(name)
    literal = Literal(
        optimizer,
        {p.name: Rational(2, 5) if p.name != "beta2" else Rational(3, 7) for p in optimizer.parameters},
        quadratic_loss([[Rational(3, 4)]]),
    )
    *_, before, last = literal.run([1], Rational(1, 10), 100, 60)
    rows = LINEAR[name](Fraction(2, 5), Fraction(3, 7))
    x = Fraction(9, 160)
    with mpmath.workdps(60):
        polynomial = [sum((c * x**j for j, c in enumerate(row)), Fraction(0)) for row in reversed(rows)]
        roots = mpmath.polyroots(
            [mpf(c.numerator) / c.denominator for c in polynomial], maxsteps=200, extraprec=200
        )
        slow = max(roots, key=abs)
        assert abs(last[0] / before[0] - slow) < mpf("1e-20")
    found = quadratic(method_of(optimizer), 1)
    if found.root is not None:
        values = {p.name: Rational(2, 5) for p in optimizer.parameters}
        assert abs(at(found.root, lr=Rational(1, 10), a=Rational(9, 16), **values) - slow) < mpf("1e-20")


def test_names_that_the_answer_needs() -> None:
    momentum = [{"g": "grad", "beta": "mu", "b": 1}]
    optimizer = symmem.Optimizer(
        name="clash", phi="m1", momentum=momentum, parameters=[symmem.Parameter("mu", Rational(1, 2))]
    )
    found = quadratic(method_of(optimizer), 2)
    assert isinstance(found, Missing)
    assert "rename" in str(found)
