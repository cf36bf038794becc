"""The formulas of docs/mathematics.md that the program does not use yet, each against brute force.

Sections 7 and 13 in exact fractions over all orders of a few batches; 9, 10 and 11 with 60 digits in two dimensions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import comb, factorial

import mpmath
import pytest
from mpmath import mpf

# --- sections 7 and 13: batches in random order

BATCHES = 5
GRADIENTS = [Fraction(value) for value in (3, -5, 4, 1, -2)]
SLOPES = [Fraction(value) for value in (-1, 2, 5, 0, 3)]
BETA = Fraction(2, 3)


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def covariance(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    return mean([a * b for a, b in zip(left, right, strict=True)]) - mean(left) * mean(right)


def over_orders(value: Callable[[tuple[int, ...]], Fraction]) -> list[Fraction]:
    orders = list(itertools.permutations(range(BATCHES)))
    assert len(orders) == factorial(BATCHES)
    return [value(order) for order in orders]


@pytest.mark.parametrize("n", [1, 2, 4])
def test_section_7_expected_correction(n: int) -> None:
    def correction(order: tuple[int, ...]) -> Fraction:
        """The paper's boxed equation for heavy ball, batch by batch, over h."""
        return sum(
            BETA**k * SLOPES[order[n - k]] * sum(BETA**j * GRADIENTS[order[s - j]] for j in range(s + 1))
            for k in range(1, n + 1)
            for s in range(n - k, n)
        )

    equal = sum(BETA**k * sum(BETA ** (s - n + k) for s in range(n - k, n)) for k in range(1, n + 1))
    whole = sum(
        BETA**k * sum(BETA**j for j in range(s + 1)) for k in range(1, n + 1) for s in range(n - k, n)
    )
    noise = (equal - (whole - equal) / (BATCHES - 1)) * covariance(SLOPES, GRADIENTS)
    assert mean(over_orders(correction)) == whole * mean(SLOPES) * mean(GRADIENTS) + noise


@pytest.mark.parametrize("n", [0, 2, 4])
def test_section_7_noise_of_two_momentum_variables(n: int) -> None:
    decays = (Fraction(1, 2), Fraction(3, 4))
    noise = [value - mean(GRADIENTS) for value in GRADIENTS]

    def product(order: tuple[int, ...]) -> Fraction:
        one, two = (sum(decay**k * noise[order[n - k]] for k in range(n + 1)) for decay in decays)
        return one * two

    same = sum((decays[0] * decays[1]) ** k for k in range(n + 1))
    whole = sum(decays[0] ** k for k in range(n + 1)) * sum(decays[1] ** k for k in range(n + 1))
    assert mean(over_orders(product)) == (same - (whole - same) / (BATCHES - 1)) * covariance(noise, noise)


def test_section_13_variance_over_orders() -> None:
    weights = [1 - BETA ** (BATCHES - j) for j in range(BATCHES)]
    for j, weight in enumerate(weights):
        assert weight == sum((1 - BETA) * BETA ** (n - j) for n in range(j, BATCHES))
    ends = over_orders(lambda order: sum(weights[j] * GRADIENTS[order[j]] for j in range(BATCHES)))
    spread = sum((weight - mean(weights)) ** 2 for weight in weights)
    share = Fraction(BATCHES, BATCHES - 1)
    assert covariance(ends, ends) == spread * share * covariance(GRADIENTS, GRADIENTS)


# --- two dimensions, a loss with coupled derivatives

Vector = list[mpf]


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    with mpmath.workdps(60):
        yield


def loss(x: Vector) -> mpf:
    return x[0] ** 2 + x[0] * x[1] / 2 + x[1] ** 4 / 3 + x[0] ** 3 * x[1] / 5 + x[1] ** 2


def gradient(x: Vector) -> Vector:
    return [
        2 * x[0] + x[1] / 2 + 3 * x[0] ** 2 * x[1] / 5,
        x[0] / 2 + 4 * x[1] ** 3 / 3 + x[0] ** 3 / 5 + 2 * x[1],
    ]


def hessian_times(x: Vector, v: Vector) -> Vector:
    across = mpf(1) / 2 + 3 * x[0] ** 2 / 5
    return [(2 + 6 * x[0] * x[1] / 5) * v[0] + across * v[1], across * v[0] + (4 * x[1] ** 2 + 2) * v[1]]


def moved(x: Vector, v: Vector, scale: object = 1) -> Vector:
    return [a + scale * b for a, b in zip(x, v, strict=True)]


def dot(u: Vector, v: Vector) -> mpf:
    return sum(a * b for a, b in zip(u, v, strict=True))


def slope_of(error: Callable[[mpf], mpf], start: str = "1e-6") -> mpf:
    """The power of h with which an error vanishes."""
    h = mpf(start)
    return mpmath.log(error(h) / error(h / 10), 10)


POINT = [mpf("0.7"), mpf("-0.4")]
EPS = mpf("0.01")


# --- section 9


@pytest.mark.parametrize("j", [0, 1, 2, 3])
def test_section_9_factorial_moments(j: int) -> None:
    """Geometric, delay and composition, from the weights themselves; 900 of them leave 10^-40."""
    beta, delay, far = mpf("0.9"), 4, 900
    v = beta / (1 - beta)
    average = [(1 - beta) * beta**k for k in range(far)]
    delayed = [mpf(k == delay) for k in range(far)]
    both = [sum(average[i] * delayed[k - i] for i in range(max(0, k - delay), k + 1)) for k in range(far)]

    def moment(weights: list[mpf]) -> mpf:
        return sum(comb(k, j) * weight for k, weight in enumerate(weights))

    assert abs(moment(average) - v**j) < mpf(10) ** -25
    assert moment(delayed) == comb(delay, j)
    composed = sum(v**i * comb(delay, j - i) for i in range(j + 1))
    assert abs(moment(both) - composed) < mpf(10) ** -25


def test_section_9_cascade() -> None:
    """RMSProp with momentum: the derivative of its direction along the way back, on a long history."""
    decays, steps = (mpf("0.5"), mpf("0.6")), 260
    g = gradient(POINT)
    q = [a * a + EPS for a in g]
    update = [a / mpmath.sqrt(b) / (1 - decays[0]) for a, b in zip(g, q, strict=True)]

    def direction(tau: mpf) -> Vector:
        second, sum_of = [a * a for a in gradient(moved(POINT, update, tau * steps))], [mpf(0), mpf(0)]
        for k in range(steps, -1, -1):
            past = gradient(moved(POINT, update, tau * k))
            second = [decays[1] * s + (1 - decays[1]) * a * a for s, a in zip(second, past, strict=True)]
            sum_of = [
                decays[0] * m + a / mpmath.sqrt(s + EPS) for m, a, s in zip(sum_of, past, second, strict=True)
            ]
        return sum_of

    tiny = mpf(10) ** -20
    truth = [(a - b) / (2 * tiny) for a, b in zip(direction(tiny), direction(-tiny), strict=True)]
    ages = [decay / (1 - decay) for decay in decays]
    along = hessian_times(POINT, update)
    for entry in range(2):
        factor = (ages[0] * EPS - ages[1] * g[entry] ** 2) / q[entry] ** mpf("1.5") / (1 - decays[0])
        assert abs(factor * along[entry] - truth[entry]) < mpf(10) ** -25 * abs(truth[entry])


# --- section 10


@pytest.mark.parametrize("n", [3, 40])
def test_section_10_straight_line_of_adam(n: int) -> None:
    """It is Adam on a straight past of the linearised gradient, and agrees with F + M to order h^2."""
    decays = (mpf("0.9"), mpf("0.99"))
    g = gradient(POINT)
    update = [a / mpmath.sqrt(a * a + EPS) for a in g]
    along = hessian_times(POINT, update)

    def mu(j: int, beta: mpf) -> mpf:
        return sum(mpf(k) ** j * beta**k for k in range(n + 1)) / sum(beta**k for k in range(n + 1))

    def straight(h: mpf) -> Vector:
        pairs = [(a, h * b) for a, b in zip(g, along, strict=True)]
        return [
            (a + mu(1, decays[0]) * d)
            / mpmath.sqrt(a * a + 2 * mu(1, decays[1]) * a * d + mu(2, decays[1]) * d * d + EPS)
            for a, d in pairs
        ]

    def run(h: mpf) -> Vector:
        past = [[a + k * h * b for a, b in zip(g, along, strict=True)] for k in range(n + 1)]
        first, second = (
            [
                sum(beta**k * past[k][i] ** power for k in range(n + 1)) / sum(beta**k for k in range(n + 1))
                for i in range(2)
            ]
            for beta, power in zip(decays, (1, 2), strict=True)
        )
        return [a / mpmath.sqrt(b + EPS) for a, b in zip(first, second, strict=True)]

    def error(h: mpf) -> mpf:
        ages = [beta / (1 - beta) - (n + 1) * beta ** (n + 1) / (1 - beta ** (n + 1)) for beta in decays]
        q = [a * a + EPS for a in g]
        expansion = [
            f + h * (ages[0] / mpmath.sqrt(b) - ages[1] * a * a / b ** mpf("1.5")) * c
            for f, a, b, c in zip(update, g, q, along, strict=True)
        ]
        return max(abs(a - b) for a, b in zip(straight(h), expansion, strict=True))

    assert (
        max(abs(a - b) for a, b in zip(straight(mpf("0.1")), run(mpf("0.1")), strict=True)) < mpf(10) ** -50
    )
    assert abs(slope_of(error) - 2) < 0.01


# --- section 11: K(p) = sum of sqrt(1 + p^2) + p^3/9

MEMORY, DECAY = mpf("0.6"), mpf("0.3")


def potential(p: Vector) -> mpf:
    return sum(mpmath.sqrt(1 + a * a) + a**3 / 9 for a in p)


def direction_of(p: Vector) -> Vector:
    return [a / mpmath.sqrt(1 + a * a) + a * a / 3 for a in p]


def series(x: Vector, h: mpf) -> mpf:
    """The modified loss to order h^2, with decay."""
    kappa = MEMORY / (1 - MEMORY)
    g = gradient(x)
    decay = dot(g, x) - loss(x)
    w = moved(direction_of(g), x, DECAY)
    first = kappa * (potential(g) + DECAY * decay)
    second = kappa * (kappa + mpf(1) / 2) * dot(w, hessian_times(x, w))
    return loss(x) + h * first + h * h * (second - kappa**2 * DECAY * (potential(g) + DECAY * decay))


def test_section_11_along_a_trajectory() -> None:
    """The running sum of losses and conjugates along the true method, against the series at its end point."""

    def error(h: mpf) -> mpf:
        x, m, running, spent = POINT, [mpf(0), mpf(0)], loss(POINT), None
        shrink = MEMORY * (1 - h * DECAY)
        for _ in range(250):
            g = gradient(x)
            m = [MEMORY * a + (1 - MEMORY) * b for a, b in zip(m, g, strict=True)]
            if spent is not None:
                running = (1 - MEMORY) * loss(x) + shrink * running - h * MEMORY * spent
            v = direction_of(m)
            spent = dot(m, v) - potential(m)
            end, x = x, [(1 - h * DECAY) * a - h * b for a, b in zip(x, v, strict=True)]
        return abs(running - series(end, h))

    assert abs(slope_of(error, "1e-4") - 3) < 0.05
