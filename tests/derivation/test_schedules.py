"""Schedules of the learning rate and of b, against brute force: past rates stand inside M (section 2)."""

from __future__ import annotations

from itertools import pairwise

import mpmath
import pytest
from scheduled import OPTIMIZERS, adamw, ball
from sympy import Expr, Rational, Symbol, cancel
from truth import LOSS, LR, THETA, literal_of, number_of

import symmem
from symmem import D2L, total
from symmem.algebra.atoms import GRAD
from symmem.algebra.results import Missing
from symmem.derivation.derivation import derive
from symmem.verification import bruteforce
from symmem.verification.error_orders import global_error, measured_order
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal

RUN = Rational(1, 8)
"""The horizon n h of the runs."""
NAMES = pytest.mark.parametrize("name", OPTIMIZERS)


def literal(name: str) -> Literal:
    return literal_of(OPTIMIZERS[name], {})


def gap(found: list[object], truth: object) -> float:
    return float(max(abs(a - b) for a, b in zip(found, truth, strict=True)))  # type: ignore[call-overload]


@NAMES
@pytest.mark.parametrize("n", [0, 1, 6, 11])
def test_the_iteration_of_a_step_is_that_of_brute_force(name: str, n: int) -> None:
    d, true = derive(OPTIMIZERS[name]), literal(name)
    assert gap(number_of(d.F, true, n=n), bruteforce.memoryless(true, THETA, n)) < 1e-45
    assert gap(number_of(d.M, true, n=n), bruteforce.correction(true, THETA, n, LR)) < 1e-45


@pytest.mark.parametrize("name", ["linear warm-up", "powers", "step decay", "radam"])
def test_the_second_order_of_a_step_is_that_of_brute_force(name: str) -> None:
    d, true, n = derive(OPTIMIZERS[name], order=2), literal(name), 5
    with mpmath.workdps(50):
        _, first, second = bruteforce.expansion(true, THETA, n, 2)
        h = mpmath.mpf(LR.p) / LR.q
        whole = [h * a + h**2 * b for a, b in zip(first, second, strict=True)]
        assert gap(number_of(d.M, true, n=n), whole) < 1e-20


@NAMES
def test_a_direction_has_order_1_without_and_2_with_the_correction(name: str) -> None:
    """The direction of the run that is at theta after n steps, against what depends on theta alone."""
    d, true, n = derive(OPTIMIZERS[name]), literal(name), 6
    with mpmath.workdps(40):
        update, memory = (number_of(part, true, n=n) for part in (d.F, d.M / Symbol("lr")))

        def error(lr: object, *, corrected: bool) -> object:
            exact = bruteforce.exact_direction(true, THETA, n, lr, 30)  # type: ignore[arg-type]
            added = lr if corrected else 0
            return max(abs(x - f - added * m) for x, f, m in zip(exact, update, memory, strict=True))  # type: ignore[operator]

        steps = [mpmath.mpf(10) ** -k for k in (4, 5, 6)]
        assert abs(measured_order(lambda lr: error(lr, corrected=False), steps).slope - 1) < 0.01
        assert abs(measured_order(lambda lr: error(lr, corrected=True), steps).slope - 2) < 0.01


@pytest.mark.parametrize("name", ["linear warm-up", "inverse root"])
def test_a_run_has_order_1_without_and_2_with_the_correction(name: str) -> None:
    d, true = derive(OPTIMIZERS[name]), literal(name)

    def error(lr: object, *, corrected: bool) -> object:
        def step(theta: list[object], n: int, rate: object) -> list[object]:
            values = {**true.numbers, "n": n, "lr": rate}
            parts = [d.F, d.M] if corrected else [d.F]
            moved = [evaluate(part, values, {"theta": theta}, LOSS, digits=15) for part in parts]
            factor = rate * true.rate(n, 15)  # type: ignore[operator]
            return [x - factor * sum(each) for x, *each in zip(theta, *moved, strict=True)]

        return global_error(lambda h, k: true.run(THETA, h, k, 15), step, list(THETA), lr, RUN, digits=15)

    steps = (Rational(1, 160), Rational(1, 320), Rational(1, 640))
    assert abs(measured_order(lambda lr: error(lr, corrected=False), steps).slope - 1) < 0.2
    assert abs(measured_order(lambda lr: error(lr, corrected=True), steps).slope - 2) < 0.2


@pytest.mark.parametrize(
    ("name", "settled"),
    [("linear warm-up", "1"), ("cosine", "1/10"), ("step decay", "1/10"), ("powers", "0")],
)
def test_the_limit_is_that_of_late_steps(name: str, settled: str) -> None:
    """Many steps on: past steps and the present one have the settled rate."""
    d, true, late = derive(OPTIMIZERS[name]), literal(name), 400
    assert d.method.rate is not None
    assert str(d.method.rate.settled) == settled
    assert gap(number_of(d.limit.F, true), number_of(d.F, true, n=late)) < 1e-15
    assert gap(number_of(d.limit.M, true), number_of(d.M, true, n=late)) < 1e-15
    assert gap(number_of(d.coefficients[1] * Symbol("lr"), true), number_of(d.limit.M, true)) < 1e-45


def test_a_rectifier_tends_to_1_and_the_products_of_nadam_to_0() -> None:
    adam = derive(symmem.load("adam"))
    assert derive(OPTIMIZERS["radam"]).limit.F == adam.limit.F
    assert derive(OPTIMIZERS["radam"]).limit.M == adam.limit.M
    assert derive(OPTIMIZERS["nadam"]).limit.F == adam.limit.F


def test_the_slow_limit_keeps_the_past_rates() -> None:
    """With the declared rate in its place it is the iteration of a late step; its leading term is that of one rate."""
    d, true, late = derive(OPTIMIZERS["inverse root"]), literal("inverse root"), 300
    slow = d.slow_limit
    assert slow is not None
    assert not isinstance(slow, Missing)
    assert slow.M is not None

    def rated(expression: Expr) -> Expr:
        rate = d.method.rate
        assert rate is not None
        return expression.replace(lambda x: x.func.__name__ == "rate", lambda x: rate.at(x.args[0]))

    whole = rated(slow.M).xreplace(dict.fromkeys([Symbol("n")], late))
    cut = whole.replace(
        lambda x: x.func.__name__ == "Sum", lambda x: x.func(x.function, (*x.limits[0][:2], late))
    )
    assert gap(number_of(cut, true), number_of(d.M, true, n=late)) < 1e-15
    leading, exact = number_of(rated(slow.leading), true, n=late), number_of(d.M, true, n=late)
    assert max(abs(a / b - 1) for a, b in zip(leading, exact, strict=True)) < 0.05  # type: ignore[operator]


def test_without_a_limit_of_the_rate_there_is_none_of_the_iteration() -> None:
    d = derive(ball("(1 + cos(pi*n/length))/2"))
    for part in (d.limit, d.modified_equation, d.shift, d.modified_loss, d.quadratic):
        assert isinstance(part, Missing)
        assert "has no known limit" in str(part)
    assert not isinstance(d.slow_limit, Missing)
    assert len(d.conclusions) == 1


def test_a_rate_that_ends_leaves_no_limit_form_to_start() -> None:
    """With nothing that moves, a start and how close the limit form comes would be claims about nothing."""
    d = derive(ball("(1 + cos(pi*min(n, length)/length))/2"))
    assert isinstance(d.shift, Missing)
    assert "tends to 0" in str(d.shift)
    assert len(d.conclusions) == 1
    assert d.unknown == ()


def test_a_rate_without_the_sign_of_its_parameter_asks_for_a_range() -> None:
    mine = symmem.Optimizer(
        "mine", "m1", [symmem.Momentum("grad", "1/2", "1")], {"warm": 100}, schedule="min(1, (n + 1)/warm)"
    )
    assert "give warm a range" in str(derive(mine).limit)
    known = symmem.Optimizer(
        "mine",
        "m1",
        [symmem.Momentum("grad", "1/2", "1")],
        {"warm": {"default": 100, "range": "(0, inf)"}},
        schedule="min(1, (n + 1)/warm)",
    )
    assert derive(known).limit.F == 2 * GRAD


def test_a_rate_that_does_not_settle_fast_has_no_start() -> None:
    d = derive(ball("1 + 1/(n + 1)"))
    assert isinstance(d.shift, Missing)
    assert "exponentially" in str(d.shift)


@pytest.mark.parametrize("name", ["linear warm-up", "step decay"])
def test_the_shift_is_the_sum_of_what_the_first_steps_lack(name: str) -> None:
    d, true = derive(OPTIMIZERS[name]), literal(name)
    late = number_of(d.limit.F, true)
    assert d.method.rate is not None
    settled = d.method.rate.settled
    frozen = true.frozen(THETA, 500)
    with mpmath.workdps(50):
        sums = [mpmath.mpf(0)] * len(THETA)
        for s, update in enumerate(frozen):
            sums = [x + settled * f - true.rate(s) * u for x, f, u in zip(sums, late, update, strict=True)]
        assert gap(number_of(d.shift[0], true), sums) < 1e-40


def test_a_constant_rate_is_another_learning_rate() -> None:
    half, plain = derive(adamw("0.5")), derive(adamw("1"))
    true = literal_of(adamw("0.5"), {})
    with mpmath.workdps(50):
        twice = [2 * x for x in number_of(half.M, true, n=7)]  # type: ignore[operator]
        assert gap(twice, number_of(plain.M, true, n=7)) < 1e-45
    assert half.shift == (0,)
    assert "O(h^2)" in str(half.conclusions[-1])


def test_a_rate_and_its_neighbours_are_told_apart() -> None:
    methods = [derive(ball(rate)).method for rate in ("1", "0.5", "0.9**n", "min(1, (n + 1)/length)")]
    assert all(left != right for left, right in pairwise(methods))


def test_the_modified_loss_is_that_of_the_settled_rate() -> None:
    """``M = P grad R`` with the M of late steps; where the rate tends to 0 nothing moves, and there is no loss."""
    lr, square = Symbol("lr"), total(GRAD**2)
    half = derive(ball("0.5"))
    loss, beta = half.modified_loss, Symbol("beta")
    share = loss.potential.expand().coeff(square)
    assert cancel(share - lr / 2 * beta / (2 * (1 - beta) ** 2)) == 0
    assert cancel((2 * share * loss.preconditioner * D2L(GRAD) - half.limit.M) / D2L(GRAD)) == 0
    assert isinstance(derive(ball("0.9**n")).modified_loss, Missing)
    assert not isinstance(half.modified_loss, Missing)
