"""Every order as a slope: local error P + 2 and global error P + 1 against the optimizer with memory, P = 1, 2, 3.

Numbers stand for the parameters from the beginning, betas are small, and two dimensions are enough: so that few
steps reach the asymptotic regime.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import mpmath
import pytest
from mpmath import mpf
from sympy import Add, Expr, Rational, Symbol
from truth import load

import symmem
from symmem.declaration.optimizer import Optimizer
from symmem.verification import bruteforce
from symmem.verification.error_orders import fit_order
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.vectors import Vector, distance

LOSS = coupled_loss(2)
THETA = probe_point(2)
TOLERANCE = 0.15
DIGITS = 40
VALUES = {
    "beta": Rational(2, 5),
    "beta1": Rational(2, 5),
    "beta2": Rational(3, 10),
    "eps": Rational(1, 2),
    "weight_decay": Rational(3, 10),
}
FORGETFUL = {**VALUES, "beta": Rational(3, 50), "beta1": Rational(3, 50), "beta2": Rational(2, 35)}
"""The error of a step grows from nothing as the memory fills: a short memory lets few steps show the order."""
METHODS = ["heavyball", "adamw"]


@cache
def optimizer_of(name: str, forgetful: bool = False) -> Optimizer:
    optimizer, values = load(name), FORGETFUL if forgetful else VALUES
    return optimizer.with_values({p.name: values[p.name] for p in optimizer.parameters})


@cache
def direction(optimizer: Optimizer, order: int, n: int) -> Expr:
    """``F^(n) + M^(n)``; order 0 is F alone."""
    iteration = symmem.derive(optimizer, order=max(order, 1)).at(n)
    return iteration.F + iteration.M if order else iteration.F


def value(expression: Expr, theta: Sequence[mpf], lr: mpf, digits: int = DIGITS) -> list[mpf]:
    return evaluate(expression, {"lr": lr}, {"theta": theta}, LOSS, digits=digits)


def stepped(expression: Expr, theta: Sequence[mpf], lr: mpf) -> Vector:
    return tuple(x - lr * f for x, f in zip(theta, value(expression, theta, lr), strict=True))


def slope_of(error: Callable[[mpf], mpf], rates: Sequence[mpf]) -> float:
    with mpmath.workdps(DIGITS):
        return fit_order(rates, [error(rate) for rate in rates]).slope


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("name", METHODS)
def test_local_error(name: str, order: int) -> None:
    """One memoryless step from an iterate of the optimizer; P = 0 shows that the correction matters."""
    optimizer = optimizer_of(name)

    def error(lr: mpf) -> mpf:
        trajectory = Literal(optimizer, {}, LOSS).run(THETA, lr, 5, DIGITS)
        return distance(trajectory[5], stepped(direction(optimizer, order, 4), trajectory[4], lr))

    assert abs(slope_of(error, [mpf(2) ** -k for k in (9, 10, 11)]) - (order + 2)) < TOLERANCE


EVERY_ORDER = [
    pytest.param(name, order, marks=[pytest.mark.prove] * (order == 3 and name == "adamw"))
    for name in METHODS
    for order in (0, 1, 2, 3)
]
"""Order 3 of AdamW, a quarter of a minute in each test, under make prove; its local error is in every run."""


@pytest.mark.parametrize(("name", "order"), EVERY_ORDER)
def test_global_error(name: str, order: int) -> None:
    """From theta_0 to the time 1/16, with the coefficients of each step: 8, 16 and 32 steps."""
    optimizer = optimizer_of(name, forgetful=True)

    def error(lr: mpf) -> mpf:
        steps = int(mpf(1) / 16 / lr)
        theta: Sequence[mpf] = THETA
        for n in range(steps):
            theta = stepped(direction(optimizer, order, n), theta, lr)
        return distance(Literal(optimizer, {}, LOSS).run(THETA, lr, steps, DIGITS)[steps], theta)

    assert abs(slope_of(error, [mpf(2) ** -k for k in (7, 8, 9)]) - (order + 1)) < TOLERANCE


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", ["heavyball", "nesterov", "adam", "rmsprop", "signum"])
def test_limit_form_with_a_shifted_start(name: str, order: int) -> None:
    """``theta_0 + h d_1 (+ h^2 d_2)`` gives the limit form the order of the finite one; one d less loses it."""
    derivation = symmem.derive(optimizer_of(name), order=order)
    expression = derivation.limit.F + derivation.limit.M
    assert Symbol("n") not in expression.free_symbols
    shifts = [value(shift, THETA, mpf(0)) if shift != 0 else [mpf(0)] * 2 for shift in derivation.shift]

    def error(lr: mpf, parts: int) -> mpf:
        steps = int(mpf(1) / 4 / lr)
        theta: Sequence[mpf] = THETA
        for j, shift in enumerate(shifts[:parts], start=1):
            theta = tuple(x + lr**j * d for x, d in zip(theta, shift, strict=True))
        for _ in range(steps):
            theta = stepped(expression, theta, lr)
        return distance(Literal(derivation.optimizer, {}, LOSS).run(THETA, lr, steps, DIGITS)[steps], theta)

    rates = [mpf(2) ** -k for k in (6, 7, 8)]
    assert abs(slope_of(lambda lr: error(lr, order), rates) - (order + 1)) < TOLERANCE
    if any(shifts[order - 1]):
        assert abs(slope_of(lambda lr: error(lr, order - 1), rates) - order) < TOLERANCE


# The modified equation -----------------------------------------------------------------------------------------

SETTLED = 60


def flow(field: Callable[[Vector], Sequence[mpf]], start: Vector, time: mpf) -> Vector:
    """``theta' = field(theta)`` by the midpoint rule with 2, 4, ..., 10 steps, extrapolated: error O(time^11)."""
    table: list[Vector] = []
    counts = [2, 4, 6, 8, 10]
    for row, count in enumerate(counts):
        substep = time / count
        before, now = start, tuple(x + substep * f for x, f in zip(start, field(start), strict=True))
        for _ in range(count - 1):
            slope = field(now)
            before, now = now, tuple(x + 2 * substep * f for x, f in zip(before, slope, strict=True))
        # Aitken and Neville in the squared step: table[j] is the best value with j + 1 of the counts.
        fresh = [now]
        for j in range(row):
            ratio = mpf(count) ** 2 / mpf(counts[row - 1 - j]) ** 2
            fresh.append(
                tuple(new + (new - old) / (ratio - 1) for new, old in zip(fresh[j], table[j], strict=True))
            )
        table = fresh
    return table[-1]


def test_the_integrator_has_a_high_order() -> None:
    """``x' = -x, y' = x y``: ``x = e^-t, y = exp(1 - e^-t)``."""

    def error(time: mpf) -> mpf:
        end = flow(lambda point: (-point[0], point[0] * point[1]), (mpf(1), mpf(1)), time)
        return distance(end, (mpmath.exp(-time), mpmath.exp(1 - mpmath.exp(-time))))

    assert slope_of(error, [mpf(2) ** -k for k in (6, 7, 8)]) > 10.5


@pytest.mark.parametrize(("name", "order"), EVERY_ORDER)
def test_flow_of_the_modified_equation(name: str, order: int) -> None:
    """For the time h from theta, against the optimizer that arrives at theta after its transient (0.4^60 = 1e-24)."""
    literal = Literal(optimizer_of(name), {}, LOSS)
    fields = symmem.derive(literal.optimizer, order=max(order, 1)).modified_equation[: order + 1]
    field = Add(*(Symbol("lr") ** j * part for j, part in enumerate(fields)))

    def error(lr: mpf) -> mpf:
        end = flow(lambda point: value(field, point, lr), THETA, lr)
        move = bruteforce.exact_direction(literal, THETA, SETTLED, lr, DIGITS)
        return distance(end, [x - lr * f for x, f in zip(THETA, move, strict=True)])

    assert abs(slope_of(error, [mpf(2) ** -k for k in (11, 12, 13)]) - (order + 2)) < TOLERANCE
