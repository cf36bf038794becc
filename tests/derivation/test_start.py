"""The start (mathematics.md section 6): gains that settle, in every spelling; d_1 against brute force; orders of error.

The truth is the literal optimizer: F^(s) term by term on a constant history, and its own trajectory.
"""

from __future__ import annotations

import mpmath
import pytest
from mpmath import mpf
from sympy import Expr, Rational, Sum
from truth import LOSS, THETA, number_of

import symmem
from symmem import Momentum, Optimizer
from symmem.algebra.results import Missing
from symmem.verification.error_orders import global_error, measured_order
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.vectors import distance

DECAY = {"beta": {"default": Rational(3, 10), "range": "[0, 1)"}}
RATE = {"a": {"default": Rational(3), "range": "(0, inf)"}}
AVERAGE = "(1 - beta)/(1 - beta**(n + 1))"


def declared(phi: str, *momentum: tuple[str, str, str], **parameters: object) -> Optimizer:
    return Optimizer("settling", phi, [Momentum(*each) for each in momentum], parameters)


SETTLING = {
    "plain": declared("m1", ("grad", "beta", "1"), **DECAY),
    "a delay": Optimizer(
        "settling", "m1/2 + m2", [Momentum("grad", "beta", "1"), Momentum("grad", delay=3)], DECAY
    ),
    "a decay of the parameters beside it": declared(
        "m1 + m2", ("grad", "beta", "1"), ("theta", "0", "3/10"), **DECAY
    ),
    "a root of the gain": declared("m1", ("grad", "beta", "sqrt(1 - beta**(n + 1))"), **DECAY),
    "a constant root as a decay": declared("m1", ("grad", "sqrt(1/10)", "1")),
    "a decay 1/(1 + a)": declared("m1", ("grad", "1/(1 + a)", "1"), **RATE),
    "an exponential": declared("m1", ("grad", "1/4", "exp(-2*n) + 1")),
    "an exponential with a parameter": declared("m1", ("grad", "0", "1 + exp(-a*n)/2"), **RATE),
    "a power of a number above 1": declared("m1", ("grad", "1/5", "1 - 3**(-n)/2")),
    "half the exponent": declared("m1", ("grad", "1/5", "1 + (1/25)**(n/2)")),
    "a polynomial times a decay": declared("m1", ("grad", "1/5", "1 + n*beta**n"), **DECAY),
    "a function of what settles": declared("m1", ("grad", "1/4", "tanh(1 + beta**n)"), **DECAY),
    "a logarithm": declared("m1", ("grad", "1/4", "log(3 + beta**n)"), **DECAY),
    "the size of what settles": declared("m1", ("grad", "1/4", "abs(beta**n - 2)"), **DECAY),
    "a quotient": declared("m1", ("grad", "beta", "1/(2 + exp(-3*n))"), **DECAY),
    "a delay whose late form has a pole at the first steps": Optimizer(
        "settling",
        "m1 + m3",
        [Momentum("grad", "beta", "1"), Momentum("m1", "1/4", "1"), Momentum("grad/m2", delay=2)],
        DECAY,
    ),
    "inside a nonlinear update": declared(
        "m1/sqrt(m2 + 1)", ("grad", "beta", AVERAGE), ("grad**2", "1/4", "sqrt(1 - (1/4)**(n + 2))"), **DECAY
    ),
}
UNPROVED = {
    "1/(n + 1)": "does not settle exponentially fast",
    "(n + 2)/(n + 1)": "does not settle exponentially fast",
    "1 + 1/(n + 1)**2": "does not settle exponentially fast",  # its sum converges: a shift exists, and none is denied
    "sqrt((n + 2)/(n + 1))": "is not known to settle exponentially fast",
    "1 + exp(-sqrt(n + 1))": "is not known to settle exponentially fast",
}
STEPS, DIGITS = 150, 50


def literal(optimizer: Optimizer) -> Literal:
    return Literal(optimizer, {}, LOSS)


@pytest.mark.parametrize("case", SETTLING)
def test_the_shift_is_the_sum_over_the_first_steps(case: str) -> None:
    """``d_1 = sum_s (F - F^(s))``: the slowest decay is 0.32, and after 150 steps nothing is left of it."""
    found = symmem.derive(SETTLING[case]).shift
    assert not isinstance(found, Missing)
    truth = literal(SETTLING[case])
    with mpmath.workdps(DIGITS + 10):
        frozen = truth.frozen(THETA, STEPS, DIGITS)
        settled = frozen[-1]
        summed = [mpmath.fsum(f - past[i] for past in frozen) for i, f in enumerate(settled)]
        assert distance(number_of(found[0], truth), summed) < mpf(10) ** -40


@pytest.mark.parametrize("b", UNPROVED)
def test_what_settles_slowly_has_no_shift_and_no_claim(b: str) -> None:
    derivation = symmem.derive(declared("m1", ("grad", "1/4", b)))
    assert isinstance(derivation.shift, Missing)
    assert UNPROVED[b] in str(derivation.shift)
    assert "has no" not in str(derivation.shift)
    assert not any("limit form" in str(each) for each in derivation.conclusions)
    assert any("how close the limit form comes is not known" in str(each) for each in derivation.unknown)
    for form in (str(derivation), derivation.to_latex()):
        assert "d₁" not in form
        assert "d_{1}" not in form


# --- what the conclusions say of closeness, measured

RATES = [Rational(1, 2**k) for k in (7, 8, 9)]
HORIZON, FADED = Rational(1, 4), 0.14


def order_of(optimizer: Optimizer, update: Expr, shifts: tuple[Expr, ...]) -> float:
    """The order of the global error of ``theta - lr update`` from ``theta_0 + lr d_1 + ...``, after the first steps."""
    truth = literal(optimizer)
    moves = [number_of(each, truth) for each in shifts]

    def step(theta: object, n: int, lr: mpf) -> list[object]:
        scalars = {**truth.numbers, "n": n, "lr": lr}
        move = evaluate(update, scalars, {"theta": theta}, LOSS, digits=20)
        return [x - lr * f for x, f in zip(theta, move, strict=True)]

    def error(lr: Rational) -> mpf:
        rate = mpf(lr.p) / lr.q
        start = [
            x + mpmath.fsum(rate ** (j + 1) * move[i] for j, move in enumerate(moves))
            for i, x in enumerate(THETA)
        ]
        run = lambda rate, steps: truth.run(THETA, rate, steps, 20)  # noqa: E731
        return global_error(run, step, start, lr, HORIZON, skip=int(FADED / float(lr)), digits=20)

    return measured_order(error, RATES).slope


@pytest.mark.parametrize("case", SETTLING)
def test_the_limit_form_is_as_close_as_is_said(case: str) -> None:
    derivation = symmem.derive(SETTLING[case])
    said = " ".join(map(str, derivation.conclusions))
    assert "from the same theta_0 is O(h) close; from theta_0 + h d_1 it is O(h^2) close" in said
    update = derivation.limit.F + derivation.limit.M
    assert abs(order_of(SETTLING[case], update, ()) - 1) < 0.2
    assert abs(order_of(SETTLING[case], update, derivation.shift) - 2) < 0.2


SECOND = (
    "plain",
    "a delay",
    "a decay of the parameters beside it",
    "a decay 1/(1 + a)",
    "an exponential with a parameter",
)


@pytest.mark.parametrize("case", SECOND)
def test_at_second_order_too(case: str) -> None:
    derivation = symmem.derive(SETTLING[case], 2)
    said = " ".join(map(str, derivation.conclusions))
    assert "O(h) close; from theta_0 + h d_1 + h^2 d_2 it is O(h^3) close" in said
    update = derivation.limit.F + derivation.limit.M
    assert abs(order_of(SETTLING[case], update, derivation.shift) - 3) < 0.3
    assert abs(order_of(SETTLING[case], update, derivation.shift[:1]) - 2) < 0.3


def test_a_delay_alone_at_second_order() -> None:
    """F is that of every step, so that d_1 = 0; d_2 is what the first steps have seen too little."""
    optimizer = Optimizer("late", "m1", [Momentum("grad", delay=3)], {})
    derivation = symmem.derive(optimizer, 2)
    first, second = derivation.shift
    assert first == 0
    assert not second.has(Sum)
    update = derivation.limit.F + derivation.limit.M
    assert abs(order_of(optimizer, update, (first, second)) - 3) < 0.3
    assert abs(order_of(optimizer, update, ()) - 2) < 0.3
