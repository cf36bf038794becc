"""Every answer of every kernel against a memory that is run value by value, in exact rationals."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from kernel_cases import CORRECTED, KERNELS, P, Q, fraction
from literal_memory import Memory, weights
from sympy import Integer, Rational, Sum, together

from symmem.algebra.atoms import AGO, PAST, STEP
from symmem.method.composition import Composition
from symmem.method.geometric import Geometric
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel
from symmem.method.mixture import Mixture

LONG = 130
"""So many steps are as good as infinitely many: 2^-130 is below 10^-39."""


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
