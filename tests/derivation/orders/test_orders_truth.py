"""Every order against the real optimizer: the powers of h are peeled off runs with memory, with no formula.

``bruteforce.expansion`` finds the run that is at theta after n steps and takes Taylor coefficients in h of its next
direction.  In the limit, betas of at most 2/5 and n = 60 leave a transient of n^j beta^n, about 1e-19 at h^3.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import mpmath
import pytest
from mpmath import mpf
from sympy import Expr, Rational, Symbol
from truth import FIRST, load, shown_first

import symmem
from symmem.algebra.results import Missing
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation
from symmem.verification import bruteforce
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.ridges import potential_map
from symmem.verification.vectors import Vector, distance, relative_error

VALUES = {
    "beta": Rational(2, 5),
    "beta1": Rational(2, 7),
    "beta2": Rational(2, 5),
    "eps": Rational(1, 2),
    "weight_decay": Rational(3, 10),
}
SETTLED = 60
SETTLED_TOLERANCE = mpf("1e-16")
STEPS = (0, 1, 2, 5)
EXACT = mpf("1e-20")

STEP_DEPENDENT = {"rmsprop", "rmsprop-torch", "signum", "lion", "lion-k"}
"""Gains that depend on n inside a Phi that is not linear: a given step is known to order 2 only."""


@cache
def derived(name: str, order: int) -> Derivation:
    return symmem.derive(load(name), order=order)


def literal_of(optimizer: Optimizer, dimension: int, values: dict[str, Rational] | None = None) -> Literal:
    functions = {function.name: potential_map(dimension) for function in optimizer.functions}
    chosen = {**VALUES, **(values or {})}
    numbers = {p.name: chosen[p.name] for p in optimizer.parameters}
    return Literal(optimizer, numbers, coupled_loss(dimension), functions)


def number_of(
    expression: Expr, literal: Literal, theta: Vector, digits: int = 40, **scalars: object
) -> list[mpf]:
    values = {**literal.numbers, **scalars}
    found = evaluate(expression, values, {"theta": theta}, literal.loss, literal.functions, digits=digits)
    return found if isinstance(found, list) else [found] * len(theta)


def added(parts: list[Vector], rate: Rational) -> list[mpf]:
    """``rate p_1 + rate^2 p_2 + ...``."""
    with mpmath.workdps(40):
        h = mpf(rate.p) / rate.q
        return [
            mpmath.fsum(h**j * x for j, x in enumerate(column, start=1))
            for column in zip(*parts, strict=True)
        ]


@pytest.mark.parametrize(("dimension", "order"), [(1, 3), (2, 2)])
@pytest.mark.parametrize("name", shown_first(FIRST))
def test_limit(name: str, dimension: int, order: int) -> None:
    literal, theta = literal_of(load(name), dimension), probe_point(dimension)
    truth = bruteforce.expansion(literal, theta, SETTLED, order, digits=20)
    for value, peeled in zip(derived(name, order).coefficients, truth, strict=True):
        assert relative_error(number_of(value, literal, theta), peeled) < SETTLED_TOLERANCE


@pytest.mark.parametrize("n", STEPS)
@pytest.mark.parametrize("name", shown_first(FIRST))
def test_second_order_at_finite_n(name: str, n: int) -> None:
    """With symbolic n; two step sizes tell h F_1 from h^2 F_2."""
    for dimension in (1, 2):
        literal, theta = literal_of(load(name), dimension), probe_point(dimension)
        memoryless, *rest = bruteforce.expansion(literal, theta, n, 2)
        derivation = derived(name, 2)
        assert relative_error(number_of(derivation.F, literal, theta, n=n), memoryless) < EXACT
        for rate in (Rational(1, 10), Rational(-2)):
            value = number_of(derivation.M, literal, theta, n=n, lr=rate)
            assert relative_error(value, added(rest, rate)) < EXACT


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """An error instead of a test that never ends."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", shown_first(FIRST))
def test_second_order_at_a_given_step(name: str) -> None:
    """The step put in: the sums that stay, one inside the other, are written out."""
    literal, theta, rate = literal_of(load(name), 2), probe_point(2), Rational(1, 10)
    for n in (0, 2, 3):
        with within(10):
            iteration = derived(name, 2).at(n)
        assert iteration.M.free_symbols.isdisjoint({Symbol("n"), Symbol("s"), Symbol("r")})
        late = number_of(derived(name, 2).M, literal, theta, n=n, lr=rate)
        assert distance(number_of(iteration.M, literal, theta, lr=rate), late) < EXACT


@pytest.mark.parametrize("name", shown_first(name for name in FIRST if name not in STEP_DEPENDENT))
def test_third_order_at_a_given_step(name: str) -> None:
    for dimension, n in ((1, 0), (1, 1), (2, 2), (1, 5), (2, 5)):
        literal, theta = literal_of(load(name), dimension), probe_point(dimension)
        memoryless, *rest = bruteforce.expansion(literal, theta, n, 3)
        iteration = derived(name, 3).at(n)
        assert relative_error(number_of(iteration.F, literal, theta), memoryless) < EXACT
        for rate in (Rational(1, 10), Rational(-2), Rational(7)):
            value = number_of(iteration.M, literal, theta, lr=rate)
            assert relative_error(value, added(rest, rate)) < EXACT


@pytest.mark.parametrize("name", sorted(STEP_DEPENDENT))
def test_third_order_at_a_given_step_is_refused(name: str) -> None:
    """Elementary differentials that change with the step: the refusal is right, for F^(n) does change."""
    literal, theta = literal_of(load(name), 2), probe_point(2)
    early, late = (bruteforce.memoryless(literal, theta, n) for n in (1, 5))
    assert relative_error(early, late) > 1e-3
    found = derived(name, 3).at(5)
    assert isinstance(found, Missing)
    assert name in str(found)


def test_a_weight_outside_the_field_is_a_missing_result() -> None:
    """sqrt(1 - beta^3) is no rational function of the parameters: a reason is returned, nothing is raised."""
    variable = symmem.Momentum("grad", "beta", "sqrt(1 - beta**(n + 1))")
    parameters = {"beta": {"default": 0.9, "range": "[0, 1)"}}
    found = symmem.derive(symmem.Optimizer("rooted", "m1", [variable], parameters), 3).at(2)
    assert isinstance(found, Missing)
    assert (
        str(found)
        == "rooted: step 2: the weights of m1 have no exact value in the parameters; ask for the limit"
    )


@pytest.mark.parametrize("name", ["heavyball", "nesterov", "adamw", "lion-bc"])
def test_a_given_step_far_out_is_the_limit(name: str) -> None:
    """n = 30: the transient is about n^3 0.4^n, 1e-8."""
    literal, theta, rate = literal_of(load(name), 2), probe_point(2), Rational(1, 10)
    derivation = symmem.derive(load(name).with_values(literal.numbers), order=3)
    iteration, limit = derivation.at(30), derivation.limit
    for value, settled in ((iteration.F, limit.F), (iteration.M, limit.M)):
        truth = number_of(settled, literal, theta, lr=rate)
        assert relative_error(number_of(value, literal, theta, lr=rate), truth) < 1e-7


@pytest.mark.parametrize("name", ["heavyball", "adamw"])
def test_one_long_run_at_a_hundred_digits(name: str) -> None:
    """h = 1e-15 and beta = 0.9 for 1400 steps, where 0.9^n is 1e-64: each order shows when the lower are taken off.

    What is left after order j is h F_{j+1}, so that each comparison is good to about 1e-12.
    """
    literal = literal_of(
        load(name), 1, {"beta": Rational(9, 10), "beta1": Rational(4, 5), "beta2": Rational(9, 10)}
    )
    rate, digits = Rational(1, 10**15), 100
    theta, rest = literal.trace(probe_point(1), rate, 1400, digits)[-1]
    with mpmath.workdps(digits):
        for coefficient in derived(name, 3).coefficients:
            value = number_of(coefficient, literal, theta, digits)
            assert relative_error(rest, value) < 1e-11
            rest = tuple((x - y) * 10**15 for x, y in zip(rest, value, strict=True))
