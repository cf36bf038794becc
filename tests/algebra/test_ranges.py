"""Intervals, bounds and signs against sampled values: an enclosure holds every value, and is as sharp as it says."""

from __future__ import annotations

import random
from itertools import product

import mpmath
import pytest
from mpmath import mpf
from sympy import (
    Abs,
    Expr,
    Function,
    Integer,
    Pow,
    Product,
    Rational,
    Sum,
    Symbol,
    cosh,
    exp,
    lambdify,
    log,
    oo,
    pi,
    sqrt,
    symbols,
    tanh,
)

from symmem.algebra.interval_powers import enclosing, power, reciprocal, variable_power
from symmem.algebra.intervals import NONNEGATIVE, POSITIVE, REALS, Interval, hull, point
from symmem.algebra.ranges import bounds
from symmem.algebra.signs import Sign, at_values, is_nonzero, is_positive, sign_of

beta, gamma, eps, weight, free, n, s, k, lr = symbols("beta gamma eps weight free n s k lr")
theta, grad = symbols("theta grad")
UNIT = Interval(Integer(0), Integer(1), False, True)
BALL = Interval(Integer(-1), Integer(1), True, True)
RANGES = {beta: UNIT, gamma: BALL, eps: POSITIVE, weight: NONNEGATIVE}


def inside(interval: Interval, value: mpf) -> bool:
    low = mpf("-inf") if interval.lower == -oo else mpf(interval.lower.p) / interval.lower.q
    high = mpf("inf") if interval.upper == oo else mpf(interval.upper.p) / interval.upper.q
    tiny = mpf(10) ** -35
    above = value > low - tiny if not interval.lower_open else value > low or abs(value - low) < tiny
    below = value < high + tiny if not interval.upper_open else value < high or abs(value - high) < tiny
    return bool(above and below)


SAMPLES = {
    beta: [0, 1e-9, 0.3, 0.9, 0.999],
    gamma: [-0.999, -0.4, 0, 0.7],
    eps: [1e-8, 0.1, 3.0, 1e4],
    weight: [0, 0.01, 7.0],
    free: [-3.5, 0, 2.25],
    n: [0, 1, 2, 9],
    grad: [-2.0, 0, 0.5],
    lr: [1e-4, 0.5],
}
EXPRESSIONS: list[Expr] = [
    1 - beta,
    1 / (1 - beta),
    beta / (1 - beta) ** 3,
    1 - beta ** (n + 1),
    (1 - beta ** (n + 1)) / (1 - beta),
    (1 - beta) / (1 - beta ** (n + 1)),
    1 - beta**2 * eps / (1 + eps),
    gamma ** (n + 1),
    1 - gamma ** (2 * n + 1),
    gamma**2,
    gamma**3,
    (1 + gamma) / (1 - gamma),
    grad**2 + eps,
    sqrt(grad**2 + eps),
    grad / sqrt(grad**2 + eps),
    (beta - weight) * free,
    sqrt(weight) + Rational(1, 3),
    eps ** Rational(-3, 2),
    (1 + weight) ** (beta + 1),
    eps**beta,
    beta ** (weight + 1),
    -2 * weight - eps,
    Abs(grad - 1) + eps,
    exp(grad) * cosh(free),
    tanh(grad) * 2,
    log(eps) + pi,
    lr * weight,
    (grad - 1) ** 4 - 2,
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_bounds_hold_at_every_sample(expression: Expr) -> None:
    interval = bounds(expression, RANGES)
    used = sorted(expression.free_symbols, key=str)
    function = lambdify(used, expression, "mpmath")
    with mpmath.workdps(50):
        count = 0
        for values in product(*(SAMPLES[symbol] for symbol in used)):
            assert inside(interval, mpf(function(*(mpf(value) for value in values))))
            count += 1
        assert count >= 2


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (1 - beta, "(0, 1]"),
        (1 / (1 - beta), "[1, inf)"),
        (beta / (1 - beta), "[0, inf)"),
        (1 - beta ** (n + 1), "(0, 1]"),
        (beta**n, "[0, 1]"),
        (gamma ** (n + 1), "(-1, 1)"),
        (gamma**weight, "[-1, 1]"),
        (free**-n, "(-inf, inf)"),
        (gamma**2, "[0, 1)"),
        (gamma**3, "(-1, 1)"),
        (1 - gamma, "(0, 2)"),
        (grad**2 + eps, "(0, inf)"),
        (grad**2 + weight, "[0, inf)"),
        (-weight, "(-inf, 0]"),
        (beta - gamma, "(-1, 2)"),
        (weight * beta, "[0, inf)"),
        (eps * (1 - beta), "(0, inf)"),
        (sqrt(weight + 4), "[2, inf)"),
        ((grad - 1) ** 4 - 2, "[-2, inf)"),
        (1 / weight, "(0, inf)"),
        (1 / free, "(-inf, inf)"),
        (Abs(gamma) + 1, "[1, 2)"),
        (Abs(beta - 3), "(2, 3]"),
        (Function("total")(grad**2), "[0, inf)"),
        (Function("total")(-(grad**2)), "(-inf, 0]"),
        (Function("total")(grad), "(-inf, inf)"),
        (Function("D2L")(grad), "(-inf, inf)"),
        (Sum(beta**s, (s, 0, n - 1)), "[0, inf)"),
        (beta**-2, "(1, inf)"),
        (2 ** (-n), "(0, 1]"),
        (free ** (n + 1), "(-inf, inf)"),
    ],
    ids=str,
)
def test_bounds_are_sharp_here(expression: Expr, expected: str) -> None:
    assert str(bounds(expression, RANGES)) == expected


def random_interval(source: random.Random) -> Interval:
    low, high = sorted(source.sample(range(-6, 7), 2))
    lower = -oo if source.random() < 0.15 else Rational(low, 2)
    upper = oo if source.random() < 0.15 else Rational(high, 2)
    return Interval(lower, upper, lower == -oo or source.random() < 0.5, upper == oo or source.random() < 0.5)


def members(interval: Interval, source: random.Random) -> list[Rational]:
    low = interval.lower if interval.lower != -oo else min(Integer(-50), interval.upper - 50)
    high = interval.upper if interval.upper != oo else max(Integer(50), low + 50)
    places = [Rational(source.randint(1, 99), 100) for _ in range(4)]
    ends = [low] * (not interval.lower_open) + [high] * (not interval.upper_open)
    return [*ends, *(low + place * (high - low) for place in places)]


def holds(interval: Interval, value: Expr) -> bool:
    low = interval.lower < value or (interval.lower == value and not interval.lower_open)
    high = value < interval.upper or (interval.upper == value and not interval.upper_open)
    return bool(low and high)


@pytest.mark.parametrize("seed", range(150))
def test_arithmetic_of_intervals_encloses(seed: int) -> None:
    source = random.Random(seed)
    a, b = random_interval(source), random_interval(source)
    for x in members(a, source):
        assert holds(-a, -x)
        assert holds(abs(a), abs(x))
        assert holds(power(a, Integer(3)), x**3)
        assert holds(power(a, Integer(4)), x**4)
        assert x == 0 or holds(reciprocal(a), 1 / x)
        assert x <= 0 or holds(power(a, Rational(-1, 2)), 1 / sqrt(x))
        assert x < 0 or holds(power(a, Rational(3, 2)), Pow(x, Rational(3, 2)))
        for y in members(b, source):
            assert holds(a + b, x + y)
            assert holds(a * b, x * y)


@pytest.mark.parametrize("seed", range(80))
def test_powers_with_a_varying_exponent_enclose(seed: int) -> None:
    source = random.Random(seed)
    a, b = abs(random_interval(source)), random_interval(source)
    for x, y in product(members(a, source), members(b, source)):
        if (x > 0 or y >= 0) and abs(y) < 20:
            value = Pow(x, y)  # 0**0 is 1 to SymPy too
            assert holds(variable_power(a, b), value if value.is_Rational else Rational(value.evalf(40)))
    wide, counts = random_interval(source), Interval(Integer(source.randint(0, 2)), oo, False, True)
    for x in members(wide, source):
        for y in range(int(counts.lower), int(counts.lower) + 4):
            assert holds(variable_power(wide, counts), x**y if y else Integer(1))


def test_an_irrational_number_is_enclosed_tightly() -> None:
    for number in (sqrt(2), -sqrt(3) / 10**6, pi * 10**5):
        below, above = enclosing(number, -1), enclosing(number, 1)
        assert below < number < above
        assert (above - below) / abs(number) < Rational(1, 10**18)
    assert enclosing(Rational(1, 3), 1) == Rational(1, 3)


def test_hull_keeps_the_closed_of_two_ends() -> None:
    assert hull([(Integer(0), True), (Integer(0), False), (Integer(2), True)]) == Interval(
        Integer(0), Integer(2), False, True
    )


@pytest.mark.parametrize(
    ("interval", "expected"),
    [(UNIT, True), (BALL, True), (Interval(Integer(0), Integer(1)), False), (POSITIVE, False),
     (point(Rational(-1)), False)],
    ids=str,
)  # fmt: skip
def test_powers_that_vanish(interval: Interval, expected: bool) -> None:
    assert interval.is_within_unit is expected


# --- signs


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (beta / (1 - beta), Sign.NONNEGATIVE),
        (1 / (1 - beta), Sign.POSITIVE),
        (-eps, Sign.NEGATIVE),
        (-weight * (1 - beta) ** 2, Sign.NONPOSITIVE),
        (Integer(0), Sign.ZERO),
        (beta - Rational(1, 2), None),
        (beta - gamma, None),
        (free, None),
        (free**2, Sign.NONNEGATIVE),
        (lr * eps, Sign.POSITIVE),
    ],
    ids=str,
)
def test_sign(expression: Expr, expected: Sign | None) -> None:
    assert sign_of(expression, RANGES) is expected


def test_directions() -> None:
    assert [sign.direction for sign in Sign] == [-1, -1, 0, 1, 1]


def test_nonzero_and_positive() -> None:
    assert is_nonzero(grad**2 + eps, RANGES)
    assert is_nonzero(-eps, RANGES)
    assert not is_nonzero(grad**2, RANGES)
    assert not is_nonzero(grad**2 + free, RANGES)
    assert is_positive(eps, RANGES)
    assert not is_positive(-eps, RANGES)


def test_what_holds_at_given_values_alone() -> None:
    assert not is_positive(free + 1, {})
    assert is_positive(grad**2 + free, at_values({free: Rational(1, 10**8)}))
    assert sign_of(
        Symbol("p") - Symbol("q"), at_values({Symbol("p"): Rational(1), Symbol("q"): Rational(2)})
    ) is (Sign.NEGATIVE)


def test_constants_are_enclosed_by_their_value() -> None:
    for constant in (exp(-1), pi / 4, sqrt(2) - 1, tanh(2)):
        interval = bounds(constant, {})
        assert interval.is_within_unit
        assert interval.lower < constant < interval.upper
        assert interval.upper - interval.lower < Rational(1, 10**15)


def test_an_expression_may_have_a_range_of_its_own() -> None:
    decay = 1 - free
    assert sign_of(1 - decay**2, {}) is None
    assert sign_of(1 - decay**2, {decay: UNIT}) is Sign.POSITIVE


def test_reals_say_nothing() -> None:
    assert bounds(free, {}) == REALS
    assert sign_of(free, {}) is None


def test_a_dot_of_a_vector_with_itself_is_not_negative() -> None:
    """So that 1/(dot(x, x) + 1) has no singular place to warn of; a dot of two vectors has either sign."""
    dot = Function("dot")
    assert bounds(dot(grad, grad), RANGES) == NONNEGATIVE
    assert is_nonzero(dot(grad, grad) + 1, RANGES)
    assert bounds(dot(grad, theta), RANGES) == REALS
    assert not is_nonzero(dot(grad, grad), RANGES)


def test_a_sum_over_entries_has_one_summand_at_least() -> None:
    """So that the norm of ones is no place to warn of; a sum over past steps may be empty."""
    dot, total, one = Function("dot"), Function("total"), Integer(1)
    assert bounds(dot(one, one), RANGES) == bounds(total(one), RANGES) == Interval(one, oo, False, True)
    assert is_nonzero(-total(grad**2 + eps), RANGES)
    assert not is_nonzero(total(grad**2 - eps), RANGES)
    assert bounds(Sum(one, (k, 1, n)), RANGES) == NONNEGATIVE


def test_a_product_over_steps_is_below_one_where_it_has_a_factor() -> None:
    """So that 1 - prod(...) of NAdam divides by no zero; with no factor, at n = 0, the product is 1."""
    i = Symbol("i")
    factor = beta * (1 - Rational(24, 25) ** (eps * i) / 2)
    several, none_at_first = Product(factor, (i, 1, n + 1)), Product(factor, (i, 1, n))
    for product_of, steps in ((several, 1), (none_at_first, 0)):
        interval = bounds(product_of, RANGES)
        for b, e, at in product(SAMPLES[beta], SAMPLES[eps], SAMPLES[n]):
            with mpmath.workdps(50):
                value = mpf(1)
                for each in range(1, at + steps + 1):
                    value *= b * (1 - (mpf(24) / 25) ** (e * each) / 2)
                assert inside(interval, value)
    assert is_nonzero(1 - several, RANGES)
    assert is_nonzero(1 - beta * several, RANGES)
    assert not is_nonzero(1 - none_at_first, RANGES)
    assert bounds(Product(1 + beta, (i, 1, n)), RANGES) == NONNEGATIVE
    assert bounds(Product(i - 2, (i, 1, n + 1)), RANGES) == REALS
