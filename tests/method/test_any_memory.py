"""The whole theory on methods with delays, mixtures and memories of memories, against the method run literally.

First order at finite n by the derivative along the past steps (mathematics.md section 2); orders 2 and 3 in the limit
by the residual of the memoryless iteration in the true method, whose slope in h is the order + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from literal_memory import Memory, composed, delay, geometric, instant, mixture
from mpmath import mpf
from sympy import Expr, Integer, Rational, S, Symbol, sqrt

from symmem.algebra.atoms import GRAD, LR, STEP, THETA, momentum_symbol
from symmem.declaration.records import Parameter
from symmem.derivation.derivation import Derivation
from symmem.method.composition import Composition
from symmem.method.delay import Delay
from symmem.method.geometric import Geometric
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel
from symmem.method.method import Channel, Method
from symmem.method.mixture import Mixture
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import coupled_loss, probe_point

P, Q, EPS = Symbol("p"), Symbol("q"), Symbol("eps")
VALUES = {"p": Rational(1, 5), "q": Rational(-1, 6), "eps": Rational(1, 3)}
FIFTH, MINUS = Fraction(1, 5), Fraction(-1, 6)
PARAMETERS = (
    Parameter("p", VALUES["p"], range="[0, 1)"),
    Parameter("q", VALUES["q"], range="(-1, 1)"),
    Parameter("eps", VALUES["eps"], range="(0, inf)"),
)
LOSS, POINT = coupled_loss(2), probe_point(2)
M1, M2 = momentum_symbol(1), momentum_symbol(2)
CORRECTED = Geometric(P, factor=(1 - P) / (1 - P ** (STEP + 1)), settled=1 - P)
AVERAGE = geometric(FIFTH, lambda n: (1 - FIFTH) / (1 - FIFTH ** (n + 1)))
DIFFERENCE = Mixture((Instant(), Delay(1, factor=S.NegativeOne)))
LITERAL_DIFFERENCE = mixture(instant(), delay(1, lambda _: Fraction(-1)))
Entry = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """A method twice: for the engine, and as Python functions of one entry."""

    phi: Expr
    channels: tuple[tuple[Expr, Kernel], ...]
    literal_phi: Entry
    literal_channels: tuple[tuple[Entry, Memory], ...]
    """Pairs (g of theta and grad, memory)."""

    @property
    def method(self) -> Method:
        channels = tuple(
            Channel(momentum_symbol(position), g, kernel)
            for position, (g, kernel) in enumerate(self.channels, start=1)
        )
        return Method.of("case", self.phi, channels, parameters=PARAMETERS)

    def update(self, history: Sequence[Sequence[mpf]]) -> list[mpf]:
        """``F^(n)(theta_n, ..., theta_0)``; the history begins with theta_0."""
        gradients = [LOSS.gradient(theta) for theta in history]
        found = []
        for entry in range(len(POINT)):
            values = [
                memory([g(theta[entry], grad[entry]) for theta, grad in zip(history, gradients, strict=True)])
                for g, memory in self.literal_channels
            ]
            found.append(self.literal_phi(*(value[-1] for value in values)))
        return found


def root(m1: Any, m2: Any) -> Any:
    return m1 / mpmath.sqrt(m2 + mpf(1) / 3)


def gradient(_theta: Any, grad: Any) -> Any:
    return grad


def square(_theta: Any, grad: Any) -> Any:
    return grad * grad


ADAM = M1 / sqrt(M2 + EPS)
CASES = {
    "optimistic gradient descent": Case(
        2 * M1 - M2,
        ((GRAD, Instant()), (GRAD, Delay(1))),
        lambda x, y: 2 * x - y,
        ((gradient, instant()), (gradient, delay(1))),
    ),
    "optimistic, from an empty start": Case(
        2 * M1 - M2,
        ((GRAD, Instant()), (GRAD, Delay(2, starts_empty=True))),
        lambda x, y: 2 * x - y,
        ((gradient, instant()), (gradient, delay(2, empty=True))),
    ),
    "double heavy ball": Case(
        M1,
        ((GRAD, Composition(Geometric(P), Geometric(Q))),),
        lambda x: x,
        ((gradient, composed(geometric(FIFTH), geometric(MINUS))),),
    ),
    "adam with a delayed square": Case(
        ADAM,
        ((GRAD, CORRECTED), (GRAD**2, Delay(2))),
        root,
        ((gradient, AVERAGE), (square, delay(2))),
    ),
    "adam with an empty delay": Case(
        ADAM,
        ((GRAD, Geometric(Q)), (GRAD**2, Delay(2, starts_empty=True))),
        root,
        ((gradient, geometric(MINUS)), (square, delay(2, empty=True))),
    ),
    "memories of memories": Case(
        ADAM,
        ((GRAD, Composition(Geometric(P), CORRECTED)), (GRAD**2, Composition(Delay(1), Geometric(P)))),
        root,
        (
            (gradient, composed(geometric(FIFTH), AVERAGE)),
            (square, composed(delay(1), geometric(FIFTH))),
        ),
    ),
    "adan: a remembered difference of gradients": Case(
        (M1 + M2 * (1 - P)) / sqrt(M1**2 + EPS),
        ((GRAD, CORRECTED), (GRAD, Composition(Geometric(P), DIFFERENCE))),
        lambda x, y: (x + y * mpf(4) / 5) / mpmath.sqrt(x * x + mpf(1) / 3),
        ((gradient, AVERAGE), (gradient, composed(geometric(FIFTH), LITERAL_DIFFERENCE))),
    ),
    "theta remembered": Case(
        M1 + M2**2,
        ((GRAD, Delay(3, factor=P)), (THETA * GRAD, Composition(Delay(1), Geometric(Q)))),
        lambda x, y: x + y * y,
        (
            (gradient, delay(3, lambda _: FIFTH)),
            (lambda theta, grad: theta * grad, composed(delay(1), geometric(MINUS))),
        ),
    ),
}


def number(expression: Expr, theta: Sequence[mpf]) -> list[mpf]:
    values = {**VALUES, "lr": Integer(1)}
    found = evaluate(expression, values, {"theta": theta}, LOSS, digits=50)
    return found if isinstance(found, list) else [found] * len(POINT)


@pytest.mark.parametrize("name", CASES)
def test_first_order_at_finite_n(name: str) -> None:
    case = CASES[name]
    derivation = Derivation(case.method)
    with mpmath.workdps(90):
        frozen = [case.update([POINT] * (s + 1)) for s in range(7)]
        for n in (0, 1, 2, 3, 6):
            found = derivation.at(n)
            assert_near(number(found.F, POINT), frozen[n])
            assert_near(number(found.M, POINT), _correction(case, frozen, n))


def _correction(case: Case, frozen: list[list[mpf]], n: int) -> list[mpf]:
    """``d/dtau F^(n)(theta, theta + tau v_1, ..., theta + tau v_n)`` with ``v_k = sum_{s=n-k..n-1} F^(s)(theta)``."""
    tau = mpf(10) ** -30

    def moved(size: mpf) -> list[mpf]:
        history = []
        for k in range(n, -1, -1):
            way = [sum((frozen[s][i] for s in range(n - k, n)), mpf(0)) for i in range(len(POINT))]
            history.append([x + size * v for x, v in zip(POINT, way, strict=True)])
        return case.update(history)

    return [(x - y) / (2 * tau) for x, y in zip(moved(tau), moved(-tau), strict=True)]


def assert_near(found: Sequence[mpf], expected: Sequence[mpf]) -> None:
    for x, y in zip(found, expected, strict=True):
        assert abs(x - y) <= mpf(10) ** -40 * (1 + abs(y))


REMEMBERED = 26
"""After so many steps what is left of the start is below 5^-26."""
THIRD_ORDER = (
    "optimistic gradient descent",
    "double heavy ball",
    "adam with a delayed square",
    "theta remembered",
)


@pytest.mark.parametrize(
    ("name", "order"),
    [
        *((name, 2) for name in CASES),
        *((name, 3) for name in THIRD_ORDER[:2]),
        *(pytest.param(name, 3, marks=pytest.mark.prove) for name in THIRD_ORDER[2:]),
    ],
)
def test_the_limit_at_every_order(name: str, order: int) -> None:
    """The true update on a past that the memoryless iteration has made differs from its own by h^(order + 1)."""
    case = CASES[name]
    coefficients = Derivation(case.method, order).coefficients
    with mpmath.workdps(40):
        first, second = (_residual(case, coefficients, mpf(1) / size) for size in (5000, 10000))
        for x, y in zip(first, second, strict=True):
            assert abs(mpmath.log(abs(x / y), 2) - (order + 1)) < 0.1


def _residual(case: Case, coefficients: tuple[Expr, ...], h: mpf) -> list[mpf]:
    def direction(theta: Sequence[mpf]) -> list[mpf]:
        values = [number(value, theta) for value in coefficients]
        return [sum((h**j * value[i] for j, value in enumerate(values)), mpf(0)) for i in range(len(POINT))]

    history = [list(POINT)]
    for _ in range(REMEMBERED):
        here, before = history[-1], history[-1]
        for _ in range(len(coefficients) + 2):
            before = [x + h * f for x, f in zip(here, direction(before), strict=True)]
        history.append(before)
    true = case.update(history[::-1])
    return [x - y for x, y in zip(true, direction(POINT), strict=True)]


def test_the_step_size_is_no_part_of_the_coefficients() -> None:
    """``number`` sets lr to 1: it may stand in M alone."""
    assert all(
        LR not in value.free_symbols
        for value in Derivation(CASES["memories of memories"].method).coefficients
    )


@pytest.mark.parametrize("name", ["optimistic gradient descent", "double heavy ball"])
def test_a_step_beyond_order_two(name: str) -> None:
    """At a step far from the start order 3 has settled to its limit."""
    derivation = Derivation(CASES[name].method, 3)
    numbers = {symbol: VALUES[symbol.name] for symbol in (P, Q)}
    at_step = Derivation(_placed(CASES[name], numbers), 3).at(14)
    with mpmath.workdps(40):
        for x, y in zip(number(at_step.M, POINT), number(derivation.limit.M, POINT), strict=True):
            assert abs(x - y) < mpf(10) ** -5 * abs(y)


def _placed(case: Case, numbers: dict[Symbol, Rational]) -> Method:
    """The method with numbers for its decays."""

    def kernel(given: Kernel) -> Kernel:
        if isinstance(given, Composition):
            return Composition(kernel(given.outer), kernel(given.inner))
        return Geometric(given.decay.xreplace(numbers)) if isinstance(given, Geometric) else given

    channels = tuple(
        Channel(momentum_symbol(position), g, kernel(each))
        for position, (g, each) in enumerate(case.channels, start=1)
    )
    return Method.of("placed", case.phi, channels)
