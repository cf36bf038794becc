"""Memories that read one another, with decays near 1: digits are kept, or the code says that they are not.

The truth is the recursion of the optimizer itself in 80 digits, on the parabola at theta = 1, where gradient and
Hessian are 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from probe import module
from sympy import Function, Rational, Symbol, lambdify

import symmem
from symmem import Momentum, Optimizer
from symmem.checks.verify import as_theory_sees
from symmem.program.lowering import lower
from symmem.targets.registry import TARGETS
from symmem.verification import bruteforce
from symmem.verification.literal import Literal
from symmem.verification.losses import quadratic_loss

NEAR, RATE, STEPS = 1 - 1e-8, 1 / 128, (0, 1, 2, 3, 9)
BETA = {"default": 0.9, "range": "[0, 1)"}
AVERAGE = "(1 - {0})/(1 - {0}**(n + 1))"
SETTINGS = ((0.875, 0.75, 0.5), (NEAR, NEAR, NEAR), (NEAR, 0.875, 1 - 3e-8), (0.81, 0.9, NEAR))


def average(values: Sequence[mpf], decay: mpf) -> mpf:
    """The bias-corrected average of all values, the newest last."""
    weights = [decay ** (len(values) - 1 - r) for r in range(len(values))]
    return mpmath.fdot(weights, values) / mpmath.fsum(weights)


def read_by_average(gradients: list[mpf], b1: mpf, b2: mpf, _: mpf) -> mpf:
    first = [average(gradients[: r + 1], b1) for r in range(len(gradients))]
    second = average([m - g / 2 for m, g in zip(first, gradients, strict=True)], b2)
    return second / mpmath.sqrt(first[-1] ** 2 + 1)


def squares_of_read(gradients: list[mpf], b1: mpf, b2: mpf, _: mpf) -> mpf:
    first = [average(gradients[: r + 1], b1) for r in range(len(gradients))]
    return average([m**2 for m in first], b2) + first[-1]


def slow_differences(gradients: list[mpf], b1: mpf, b2: mpf, b3: mpf) -> mpf:
    """As in Grokfast: a sum of differences, of which an average and an average of squares are taken."""
    slow, seen = mpf(0), []
    for r, gradient in enumerate(gradients):
        slow = b1 * slow + gradient - gradients[max(r - 1, 0)]
        seen.append(gradient + 2 * (gradient - b1 * slow))
    return average(seen, b2) / mpmath.sqrt(average([each**2 for each in seen], b3) + 1)


SLOW = "grad + 2*(grad - b1*m2)"
LINES = {
    "a reader": (
        read_by_average,
        "m2/sqrt(m1**2 + 1)",
        [Momentum("grad", "b1", AVERAGE.format("b1")), Momentum("m1 - grad/2", "b2", AVERAGE.format("b2"))],
    ),
    "squares": (
        squares_of_read,
        "m2 + m1",
        [Momentum("grad", "b1", AVERAGE.format("b1")), Momentum("m1**2", "b2", AVERAGE.format("b2"))],
    ),
    "differences": (
        slow_differences,
        "m3/sqrt(m4 + 1)",
        [
            Momentum("grad", None, None, 1),
            Momentum("grad - m1", "b1", "1"),
            Momentum(SLOW, "b2", AVERAGE.format("b2")),
            Momentum(f"({SLOW})**2", "b3", AVERAGE.format("b3")),
        ],
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_a_straight_line_keeps_its_digits(name: str) -> None:
    true, phi, momentum = LINES[name]
    used = [each for each in ("b1", "b2", "b3") if any(each == row.beta.name for row in momentum if row.beta)]
    derived = symmem.derive(Optimizer("line", phi, momentum, dict.fromkeys(used, BETA)))
    assert not lower(derived).loses_digits
    made = module(TARGETS["numpy"].source(derived)).straight
    for chosen in SETTINGS:
        for n in STEPS:
            with mpmath.workdps(80):
                decays = [mpf(each) for each in chosen]
                update = true([mpf(1)], *decays)  # on a constant history it is the same at every step
                value = true([1 + (n - r) * mpf(RATE) * update for r in range(n + 1)], *decays)
            given = dict(zip(used, chosen, strict=False))
            found = made(np.ones(1), lambda x: x, lambda x, v: v, n=n, lr=RATE, **given)
            assert abs(float(found[0]) - value) <= 1e-14 * abs(value), (chosen, n)


def nested(decays: Sequence[mpf], n: int) -> mpf:
    """M of three sums inside one another, over lr: what the updates F^(s), s < n, have moved the gradients by."""

    def remembered(values: list[mpf]) -> mpf:
        for decay in decays:
            sums = []
            for value in values:
                sums.append(value + (decay * sums[-1] if sums else 0))
            values = sums
        return values[-1]

    updates = [remembered([mpf(1)] * (s + 1)) for s in range(n)]
    return remembered([mpmath.fsum(updates[r:]) for r in range(n + 1)])


def test_three_memories_inside_one_another() -> None:
    momentum = [Momentum("grad", "b1", "1"), Momentum("m1", "b2", "1"), Momentum("m2", "b3", "1")]
    derived = symmem.derive(Optimizer("three", "m3", momentum, dict.fromkeys(("b1", "b2", "b3"), BETA)))
    assert not lower(derived).loses_digits
    made = module(TARGETS["numpy"].source(derived))
    for chosen in SETTINGS:
        given = dict(zip(("b1", "b2", "b3"), chosen, strict=True))
        for n in (*STEPS, 60):
            with mpmath.workdps(60):
                value = nested([mpf(each) for each in chosen], n)
            one, field, product = np.ones(1), lambda x: x, lambda x, v: v
            found = float(made.correction(one, field, product, n=n, lr=1.0, **given)[0])
            assert abs(found - value) <= 1e-13 * value, (chosen, n)
            line = float(made.straight(one, field, product, n=n, lr=1.0, **given)[0])
            update = float(made.memoryless(one, field, n=n, **given)[0])
            assert abs(line - update - value) <= 1e-13 * (update + value), (chosen, n)


def spread_before(gradients: Sequence[mpf], b1: mpf, b2: mpf) -> mpf:
    """The gradient over one and the spread that the step before has seen, as in ACProp, with a gain of its own."""
    first, spread, kept = mpf(0), mpf(0), mpf(0)
    for n, gradient in enumerate(gradients):
        kept = spread / (n + 1)
        spread = b2 * spread + (1 - b2) * (gradient - first) ** 2
        first = b1 * first + (1 - b1) * gradient
    return gradients[-1] / (kept + 1)


def test_what_a_delay_reads_keeps_its_digits() -> None:
    """A pole of constants, b2 = b1^2 here, is that of the powers which a delay reads: they are one sum."""
    momentum = [
        Momentum("grad", "b1", "1 - b1"),
        Momentum("m1", None, None, 1, 0),
        Momentum("(grad - m2)**2", "b2", "1 - b2"),
        Momentum("m3", None, "1/(n + 1)", 1, 0),
        Momentum("grad", "0", "1"),
    ]
    derived = symmem.derive(Optimizer("spread", "m5/(m4 + 1)", momentum, dict.fromkeys(("b1", "b2"), BETA)))
    made = module(TARGETS["numpy"].source(derived)).correction
    for b1, b2 in ((0.875, 0.75), (NEAR, NEAR), (NEAR, 0.875), (0.5, 0.25)):
        for n in STEPS:
            with mpmath.workdps(80):
                exact = mpf(b1), mpf(b2)
                updates = [spread_before([mpf(1)] * (s + 1), *exact) for s in range(n)]
                moved = [mpmath.fsum(updates[r:]) for r in range(n + 1)]
                small = mpf(10) ** -30
                ends = [spread_before([1 + e * x for x in moved], *exact) for e in (small, -small)]
                value = (ends[0] - ends[1]) / (2 * small)
            found = made(np.ones(1), lambda x: x, lambda x, v: v, n=n, lr=1.0, b1=b1, b2=b2)
            assert abs(float(found[0]) - value) <= 1e-13 * abs(value), (b1, b2, n)


MARS = {
    "mars-adamw": [
        ({"beta1": b1, "beta2": b2, "gamma": 0.5, "eps": 0.5, "weight_decay": 0.01}, n)
        for b1, b2, n in ((NEAR, 0.25, 9), (NEAR, 0.25, 20), (NEAR, NEAR, 3), (0.75, NEAR, 3))
    ],
    "mars-lion": [({"beta1": NEAR, "gamma": 0.025, "delta": 0.5, "weight_decay": 0.0}, 25)],
}


@pytest.mark.parametrize("name", MARS)
def test_what_a_delay_takes_out_of_the_first_steps_leaves_no_rounding(name: str) -> None:
    """The slope of MARS' corrected gradient is ``1 + gamma beta1/(1 - beta1)`` at step 0, and 1 later."""
    derived = symmem.derive(name)
    assert not lower(derived).loses_digits
    made = module(TARGETS["numpy"].source(derived)).correction
    for given, n in MARS[name]:
        exact = {key: Rational(value) for key, value in given.items()}
        literal = Literal(as_theory_sees(derived.optimizer), exact, quadratic_loss([[1]]))
        value = bruteforce.correction(literal, [mpf(1)], n, Rational(RATE))[0]
        found = made(np.ones(1), lambda x: x, lambda x, v: v, n=n, lr=RATE, **given)
        assert abs(float(found[0]) - value) <= 1e-13 * abs(value), (given, n)


def test_a_window_that_loses_digits_says_so() -> None:
    """AdaShift's average of ten gradients is the difference of two, of which one begins ten steps late."""
    assert lower(symmem.derive("adashift")).loses_digits


def test_where_digits_are_lost_the_code_says_so() -> None:
    """At second order two memories inside one another lose digits near 1, and none at 1/2; each target says it."""
    momentum = [Momentum("grad", "b1", "1"), Momentum("m1", "b1", "1")]
    derived = symmem.derive(Optimizer("lost", "m2", momentum, {"b1": BETA}), 2)
    sources = {target: TARGETS[target].source(derived) for target in ("numpy", "torch", "jax", "octave")}
    assert all("lose digits" in " ".join(source.split()) for source in sources.values())
    formula = derived.M.replace(Function("D3L"), lambda *_: Rational(1, 4))
    while formula.has(Function("D2L")):
        formula = formula.replace(Function("D2L"), lambda v: v)
    ones = {Symbol(each): Rational(1) for each in ("grad", "theta", "lr")}
    exact = lambdify([Symbol("n"), Symbol("b1")], formula.xreplace(ones), "mpmath")
    made = module(sources["numpy"]).correction

    def error(decay: float) -> float:
        with mpmath.workdps(150):
            value = exact(mpf(3), mpf(decay))
        third = [lambda x, u, v: 0 * u + 1 / 4]
        found = float(made(np.ones(1), lambda x: x, lambda x, v: v, *third, n=3, lr=1.0, b1=decay)[0])
        return float(abs(found - value) / abs(value))

    assert error(1 - 1e-6) > 1e-9
    assert error(0.5) < 1e-12


@pytest.mark.parametrize("phi", ["m1 + m2", "decay*m1 + m2"], ids=["in b", "in phi"])
def test_a_factor_that_is_zero_divides_nothing(phi: str) -> None:
    """Two variables with one memory are one, and the factor of the first may be 0: then the second is all there is."""
    own = ("decay", "1") if phi == "m1 + m2" else ("1", "1")
    momentum = [Momentum("theta", "b1", own[0]), Momentum("grad", "b1", own[1])]
    derived = symmem.derive(Optimizer("zero", phi, momentum, {"b1": BETA, "decay": 0.5}))
    made = module(TARGETS["numpy"].source(derived))
    for decay in (0.0, 0.5):
        for n in (1, 4, None):
            steps = 4000 if n is None else n
            gains = [(1 + decay) * (1 - 0.5 ** (s + 1)) / (1 - 0.5) for s in range(steps)]
            moved = sum(
                0.5 ** (steps - s) * (1 - 0.5 ** (s + 1)) / (1 - 0.5) * gains[s] for s in range(steps)
            )
            given = {"n": n, "lr": 1.0, "b1": 0.5, "decay": decay}
            found = float(made.correction(np.ones(1), lambda x: x, lambda x, v: v, **given)[0])
            assert found == pytest.approx((1 + decay) * moved, rel=1e-12), (decay, n)
