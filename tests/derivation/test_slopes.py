"""The truth test is a slope: the optimizer with memory against its memoryless iteration (mathematics.md section 6).

Global error on a fixed horizon: order 2 with the correction at finite n, order 1 without it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sympy import Expr, Rational, Symbol
from truth import FIRST, LOSS, THETA, literal_of, load, shown_first

import symmem
from symmem.declaration.optimizer import Optimizer
from symmem.verification.error_orders import ErrorOrder, global_error, measured_order
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal

DIGITS = 20
RATES = [Rational(1, 2**k) for k in (7, 8, 9)]
HORIZON = Rational(1, 8)
TOLERANCE = 0.15


def stepper(parts: Callable[[int], Expr], literal: Literal) -> Callable[..., list[object]]:
    def step(theta: object, n: int, lr: object) -> list[object]:
        scalars = {**literal.numbers, "n": n, "lr": lr}
        move = evaluate(parts(n), scalars, {"theta": theta}, LOSS, literal.functions, digits=DIGITS)
        return [x - lr * f for x, f in zip(theta, move, strict=True)]

    return step


def order_of(
    literal: Literal, parts: Callable[[int], Expr], shift: Expr | None = None, skip: float = 0.0
) -> ErrorOrder:
    def error(lr: object) -> object:
        start = list(THETA)
        if shift is not None:
            moved = evaluate(shift, literal.numbers, {"theta": THETA}, LOSS, literal.functions, digits=DIGITS)
            start = [x + lr * d for x, d in zip(start, moved, strict=True)]
        return global_error(
            lambda rate, steps: literal.run(THETA, rate, steps, DIGITS),
            stepper(parts, literal),
            start,
            lr,
            HORIZON,
            skip=int(skip / float(lr)),
            digits=DIGITS,
        )

    return measured_order(error, RATES)


def gentle(name: str) -> Optimizer:
    """Betas and eps at which the asymptotic regime is reached with few steps."""
    optimizer = load(name)
    values = {
        "beta": Rational(3, 10),
        "beta1": Rational(3, 10),
        "beta2": Rational(2, 5),
        "eps": Rational(1, 2),
    }
    return optimizer.with_values({p.name: values[p.name] for p in optimizer.parameters if p.name in values})


@pytest.mark.parametrize("name", shown_first(name for name in FIRST if name != "gd"))
def test_second_order_with_the_correction_and_first_without(name: str) -> None:
    optimizer = gentle(name)
    derivation, literal = symmem.derive(optimizer), literal_of(optimizer)
    corrected = derivation.F + derivation.M
    assert abs(order_of(literal, lambda n: corrected).slope - 2) < TOLERANCE
    assert abs(order_of(literal, lambda n: derivation.F).slope - 1) < TOLERANCE


def test_limit_form_of_heavy_ball_needs_the_shifted_start() -> None:
    optimizer = gentle("heavyball")
    derivation, literal = symmem.derive(optimizer), literal_of(optimizer)
    corrected = derivation.limit.F + derivation.limit.M
    assert Symbol("n") not in corrected.free_symbols
    # The shift repairs what comes after the transient; the first steps differ by O(h) on purpose.
    shifted = order_of(literal, lambda n: corrected, derivation.shift[0], skip=float(HORIZON) * 0.6)
    plain = order_of(literal, lambda n: corrected, skip=float(HORIZON) * 0.6)
    assert abs(shifted.slope - 2) < TOLERANCE
    assert abs(plain.slope - 1) < TOLERANCE
