"""Every answer of every kernel against a memory that is run value by value, in exact rationals."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from literal_memory import Memory, composed, delay, geometric, instant, mixture, weights
from sympy import Expr, Integer, Rational, S, Sum, Symbol, together

from symmem.algebra.atoms import AGO, PAST, STEP
from symmem.algebra.finite_sums import written_out
from symmem.method.composition import Composition
from symmem.method.delay import Delay
from symmem.method.geometric import Geometric
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel
from symmem.method.mixture import Mixture

P, Q, C = Symbol("p"), Symbol("q"), Symbol("c")
VALUES = {P: Rational(1, 2), Q: Rational(-1, 3), C: Rational(3, 7)}
HALF, MINUS, THIRD = Fraction(1, 2), Fraction(-1, 3), Fraction(3, 7)
LONG = 130
"""So many steps are as good as infinitely many: 2^-130 is below 10^-39."""


def bias(beta: Fraction) -> object:
    return lambda n: (1 - beta) / (1 - beta ** (n + 1))


CORRECTED = (1 - P) / (1 - P ** (STEP + 1))
KERNELS: dict[str, tuple[Kernel, Memory]] = {
    "instant": (Instant(factor=C), instant(lambda _: THIRD)),
    "instant, its factor settles": (
        Instant(factor=1 + P**STEP, settled=S.One),
        instant(lambda n: 1 + HALF**n),
    ),
    "geometric": (Geometric(P), geometric(HALF)),
    "geometric, negative": (Geometric(Q, factor=C), geometric(MINUS, lambda _: THIRD)),
    "bias-corrected": (Geometric(P, factor=CORRECTED, settled=1 - P), geometric(HALF, bias(HALF))),
    "geometric, a number": (Geometric(Rational(1, 4)), geometric(Fraction(1, 4))),
    "delay 1": (Delay(1), delay(1)),
    "delay 3": (Delay(3, factor=C), delay(3, lambda _: THIRD)),
    "delay 2, empty": (Delay(2, starts_empty=True), delay(2, empty=True)),
    "delay 2, empty, its factor settles": (
        Delay(2, starts_empty=True, factor=1 + P**STEP, settled=S.One),
        delay(2, lambda n: 1 + HALF**n, empty=True),
    ),
    "nesterov": (
        Mixture((Geometric(P, factor=P), Instant())),
        mixture(geometric(HALF, lambda _: HALF), instant()),
    ),
    "a difference": (
        Mixture((Instant(), Delay(1, factor=S.NegativeOne))),
        mixture(instant(), delay(1, lambda _: Fraction(-1))),
    ),
    "geometric of geometric": (
        Composition(Geometric(P), Geometric(Q, factor=C)),
        composed(geometric(HALF), geometric(MINUS, lambda _: THIRD)),
    ),
    "equal decays": (Composition(Geometric(P), Geometric(P)), composed(geometric(HALF), geometric(HALF))),
    "1/2 and 1/4": (
        Composition(Geometric(Rational(1, 2)), Geometric(Rational(1, 4))),
        composed(geometric(HALF), geometric(Fraction(1, 4))),
    ),
    "of a bias-corrected one": (
        Composition(Geometric(Q), Geometric(P, factor=CORRECTED, settled=1 - P)),
        composed(geometric(MINUS), geometric(HALF, bias(HALF))),
    ),
    "delay of geometric": (Composition(Delay(2), Geometric(P)), composed(delay(2), geometric(HALF))),
    "geometric of delay": (Composition(Geometric(P), Delay(2)), composed(geometric(HALF), delay(2))),
    "empty delay of geometric": (
        Composition(Delay(2, starts_empty=True), Geometric(P)),
        composed(delay(2, empty=True), geometric(HALF)),
    ),
    "delay of delay": (Composition(Delay(1), Delay(2)), composed(delay(1), delay(2))),
    "geometric of a difference": (
        Composition(Geometric(P), Mixture((Instant(), Delay(1, factor=S.NegativeOne)))),
        composed(geometric(HALF), mixture(instant(), delay(1, lambda _: Fraction(-1)))),
    ),
    "three deep": (
        Composition(Geometric(Q), Composition(Geometric(P), Delay(1))),
        composed(geometric(MINUS), composed(geometric(HALF), delay(1))),
    ),
    "three deep, open sums": (
        Composition(Composition(Geometric(Q), Delay(1)), Geometric(P, factor=CORRECTED, settled=1 - P)),
        composed(composed(geometric(MINUS), delay(1)), geometric(HALF, bias(HALF))),
    ),
}


def fraction(expression: Expr, **places: int) -> Fraction:
    """The exact value at the test's decays, and at these steps."""
    symbols = {"n": STEP, "k": AGO, "s": PAST}
    placed = expression.xreplace({symbols[name]: Integer(value) for name, value in places.items()})
    value = written_out(placed.xreplace(VALUES))
    assert value.is_Rational, value
    return Fraction(int(value.p), int(value.q))


@pytest.fixture(params=KERNELS, ids=str)
def pair(request: pytest.FixtureRequest) -> tuple[Kernel, Memory]:
    return KERNELS[request.param]


STEPS = range(7)


def test_weights(pair: tuple[Kernel, Memory]) -> None:
    kernel, memory = pair
    symbolic = kernel.weight(STEP, AGO)
    for n in STEPS:
        expected = weights(memory, n)
        assert [fraction(symbolic, n=n, k=k) for k in range(n + 1)] == expected
        assert [fraction(kernel.weight(Integer(n), Integer(k))) for k in range(n + 1)] == expected


def test_gain_and_power_moments(pair: tuple[Kernel, Memory]) -> None:
    kernel, memory = pair
    gain, moments = kernel.gain(STEP), [kernel.power_moment(STEP, j) for j in range(4)]
    for n in STEPS:
        c = weights(memory, n)
        assert fraction(gain, n=n) == sum(c)
        assert fraction(kernel.gain(Integer(n))) == sum(c)
        for j, moment in enumerate(moments):
            assert fraction(moment, n=n) == sum(Fraction(k**j) * x for k, x in enumerate(c))


def test_tails(pair: tuple[Kernel, Memory]) -> None:
    kernel, memory = pair
    symbolic = kernel.tail(STEP, PAST)
    for n in STEPS:
        c = weights(memory, n)
        for s in range(n):
            assert fraction(symbolic, n=n, s=s) == sum(c[n - s :])
            assert fraction(kernel.tail(Integer(n), Integer(s))) == sum(c[n - s :])


def test_scale_and_shape(pair: tuple[Kernel, Memory]) -> None:
    kernel, memory = pair
    for n in STEPS:
        whole = [
            fraction(kernel.scale(Integer(n)) * kernel.shape.weight(Integer(n), Integer(k)))
            for k in range(n + 1)
        ]
        assert whole == weights(memory, n)
    assert kernel.shape.shape == kernel.shape
    assert kernel.shape.scale(STEP) == 1


def test_scaled(pair: tuple[Kernel, Memory]) -> None:
    kernel, memory = pair
    twice = kernel.scaled(Integer(2))
    assert fraction(twice.gain(Integer(4))) == 2 * sum(weights(memory, 4))
    assert fraction(twice.factorial_moment(1)) == 2 * fraction(kernel.factorial_moment(1))
    joined = kernel.joined(twice)
    if joined is not None:
        assert fraction(joined.gain(Integer(4))) == 3 * sum(weights(memory, 4))
        assert joined.shape == kernel.shape


def test_has_memory(pair: tuple[Kernel, Memory]) -> None:
    kernel, memory = pair
    assert kernel.has_memory == any(any(weights(memory, n)[1:]) for n in STEPS)


def near(found: Fraction, expected: Fraction) -> bool:
    return abs(found - expected) < Fraction(1, 10**25)


def test_limits(pair: tuple[Kernel, Memory]) -> None:
    kernel, memory = pair
    c = weights(memory, LONG)
    assert kernel.unsettled is None
    assert near(fraction(kernel.limit_gain), sum(c))
    for j in range(5):
        assert near(fraction(kernel.factorial_moment(j)), sum(comb(k, j) * x for k, x in enumerate(c)))
        assert near(fraction(kernel.limit_weight(j)), c[j])
    for z in (Rational(1), Rational(2, 3), Rational(-1)):
        expected = sum(Fraction(int(z.p), int(z.q)) ** k * x for k, x in enumerate(c))
        assert near(fraction(together(kernel.transform(z))), expected)


@pytest.mark.parametrize(
    "other", ["geometric", "delay 3", "geometric of geometric", "nesterov", "equal decays"]
)
def test_overlap(pair: tuple[Kernel, Memory], other: str) -> None:
    kernel, memory = pair
    second, literal = KERNELS[other]
    expected = sum(x * y for x, y in zip(weights(memory, LONG), weights(literal, LONG), strict=True))
    assert near(fraction(kernel.overlap(second)), expected)
    assert near(fraction(second.overlap(kernel)), expected)


def test_realisation(pair: tuple[Kernel, Memory]) -> None:
    """Run with its first state, on values that are far from special."""
    kernel, memory = pair
    g = [Fraction(3 * n * n - 7, n + 2) for n in range(9)]
    real = kernel.realisation()
    x = [fraction(entry) * g[0] for entry in real.first]
    found = []
    for n, value in enumerate(g):
        a, b, c = real.A, real.B, real.C
        x = [
            sum(fraction(entry, n=n) * y for entry, y in zip(row, x, strict=True))
            + fraction(force, n=n) * value
            for row, force in zip(a, b, strict=True)
        ]
        found.append(sum(fraction(entry, n=n) * y for entry, y in zip(c, x, strict=True)))
    assert found == memory(g)


def test_averages_are_sums_of_factorial_moments(pair: tuple[Kernel, Memory]) -> None:
    """``sum_j c(j) p(k+j) / normaliser`` over the binomials, with exact fractions in the place of the ring."""
    kernel, memory = pair
    numbers = {generator: fraction(generator) for generator in kernel.generators}
    polynomial = [Fraction(x) for x in (5, -3, 2, 7)]
    found = kernel.averaged(polynomial, numbers)
    whole = fraction(kernel.normaliser)
    c = weights(memory, LONG)
    for k in range(4):
        expected = sum(x * sum(d * comb(k + j, i) for i, d in enumerate(polynomial)) for j, x in enumerate(c))
        assert near(whole * sum(d * comb(k, i) for i, d in enumerate(found)), expected)


def test_a_closed_form_is_closed() -> None:
    """Two geometric memories in series need no sum; a bias correction inside leaves one."""
    closed = Composition(Geometric(P), Geometric(Q))
    assert not any(
        answer.has(Sum) for answer in (closed.weight(STEP, AGO), closed.tail(STEP, PAST), closed.gain(STEP))
    )
    assert KERNELS["of a bias-corrected one"][0].tail(STEP, PAST).has(Sum)


def test_a_limit_that_was_not_given_is_missing() -> None:
    kernel = Geometric(P, factor=CORRECTED)
    assert kernel.unsettled is not None
    assert "limit" in str(kernel.unsettled)
    assert Composition(Geometric(Q), kernel).unsettled == kernel.unsettled
    assert Mixture((Instant(), kernel)).unsettled == kernel.unsettled
