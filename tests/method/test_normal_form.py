"""The Method by itself: what it says of itself, and that flattening and merging leave every update what it was.

The truth is the definition, m_l(n) = sum_k c_l(n, k) g_l at step n - k, added up on a history of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from scheduled import OPTIMIZERS, ball
from sympy import Expr, Integer, Rational, Symbol

from symmem import Momentum, Optimizer
from symmem.algebra.atoms import GRAD, PAST, STEP, total
from symmem.algebra.limits import scalar_limit
from symmem.method.flattening import flattened
from symmem.method.frozen import frozen_values
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.method.reading import method_of

P, Q = Symbol("p"), Symbol("q")
NUMBERS = {P: Rational(1, 2), Q: Rational(1, 3)}
HISTORY = [Rational(*each) for each in ((2, 1), (-1, 2), (3, 4), (5, 3), (-7, 5))]
DECAYS = {
    "p": {"default": Fraction(1, 2), "range": "[0, 1)"},
    "q": {"default": Fraction(1, 3), "range": "[0, 1)"},
}


def optimizer(phi: str, *variables: tuple[str, str, str]) -> Optimizer:
    words = " ".join([phi, *(word for each in variables for word in each)])
    used = {name: entry for name, entry in DECAYS.items() if name in words}
    return Optimizer("mine", phi, [Momentum(*each) for each in variables], used)


def updates(method: Method, history: Sequence[Expr]) -> list[Expr]:
    """Phi after each step, by the definition."""
    seen: dict[Symbol, list[Expr]] = {channel.symbol: [] for channel in method.channels}
    found = []
    for n, gradient in enumerate(history):
        values = {GRAD: gradient, **NUMBERS}
        for channel in method.channels:
            seen[channel.symbol].append(channel.g.xreplace(values))
            values[channel.symbol] = sum(
                weight(channel.kernel.weight(Integer(n), Integer(k)), n) * seen[channel.symbol][n - k]
                for k in range(n + 1)
            )
        found.append(method.phi.xreplace(values))
    return found


def weight(formula: Expr, n: int) -> Expr:
    return formula.xreplace({**NUMBERS, STEP: Integer(n)}).doit()


CASES = {
    "multiples of one vector": optimizer("m1 + 3*m2", ("grad", "p", "1"), ("2*grad", "q", "1 - q")),
    "multiples of one memory": optimizer("(m1 + 3*m2)**3", ("grad", "p", "1"), ("grad**3", "p", "2")),
    "weights that depend on the step": optimizer(
        "m1 + m2", ("grad", "p", "1"), ("grad**3", "p", "1/(n + 1)")
    ),
    "a sign": optimizer("m1 + m2 + sign(m1)", ("grad", "p", "1"), ("grad", "q", "1")),
    "a memory of multiples": optimizer("m2", ("2*grad", "p", "1"), ("grad + 3*m1", "q", "1 - q")),
    "a factor of the step inside": optimizer("m2", ("grad", "0", "1/(n + 1)"), ("m1", "q", "1")),
    "read by another alone": optimizer("m2", ("grad", "p", "1"), ("(grad - m1)**2", "q", "1")),
    "two of one kind": optimizer(
        "m1 + m2 + m3", ("grad", "p", "1"), ("grad", "p", "1"), ("(grad - m2)**2", "q", "1")
    ),
    "a reader of a reader": optimizer(
        "m3 + m1", ("grad", "p", "1"), ("m1**2 + grad", "q", "1"), ("m2", "p", "1 - p")
    ),
    "two names of one memory": optimizer(
        "m1/(m2**2 + 1) + m3**2", ("grad", "p", "1"), ("3*grad", "p", "2"), ("grad", "q", "1")
    ),
    "two names of a sum": optimizer(
        "(m1 + m2)/((m3 + m4)**2 + 1)",
        *(("grad", "p", "1"), ("grad", "q", "q"), ("grad", "p", "2"), ("grad", "q", "2*q")),
    ),
    "a sum that shows after": optimizer(
        "(m1 + m2)/((m3 + m2)**2 + 1)", ("grad", "p", "1"), ("grad", "q", "1"), ("grad", "p", "1")
    ),
    "a multiple that may be 0": optimizer("m1 + m2**3", ("grad", "p", "q"), ("grad", "p", "2")),
    "two names with weights of the step": optimizer(
        "m1/(m2**2 + 1)", ("grad", "p", "1/(n + 1)"), ("grad", "p", "3/(n + 1)")
    ),
    "not one memory": optimizer("m1/(m2**2 + 1)", ("grad", "p", "1"), ("grad", "p", "1/(n + 1)")),
    "two names that are read": optimizer(
        "m1 + m2 + m3", ("grad", "p", "1"), ("grad", "p", "2"), ("(grad - m2)**2", "q", "1")
    ),
    "a jump that is read": optimizer("m2", ("grad", "p", "1"), ("m1 + sign(m1)", "q", "1")),
}


@pytest.mark.parametrize("change", [flattened, merged])
@pytest.mark.parametrize("name", CASES)
def test_the_normal_form_makes_the_same_updates(name: str, change: object) -> None:
    method = method_of(CASES[name])
    assert updates(change(method), HISTORY) == pytest.approx(updates(method, HISTORY), rel=1e-30)


@pytest.mark.parametrize(
    ("name", "count"),
    [("multiples of one vector", 1), ("multiples of one memory", 1), ("weights that depend on the step", 2),
     ("a sign", 2), ("a memory of multiples", 1), ("read by another alone", 2), ("two of one kind", 2),
     ("two names of one memory", 2), ("two names of a sum", 1), ("a sum that shows after", 1),
     ("a multiple that may be 0", 1), ("two names with weights of the step", 1), ("not one memory", 2),
     ("two names that are read", 2)],
)  # fmt: skip
def test_as_few_channels_as_phi_tells_apart(name: str, count: int) -> None:
    assert len(merged(method_of(CASES[name])).channels) == count


def test_a_multiple_holds_where_it_is_0() -> None:
    """``m1 = q/2 m2`` at q = 0 too: of the two names the one stays by which nothing is divided."""
    one = merged(method_of(CASES["a multiple that may be 0"]))
    without = method_of(optimizer("m1**3", ("grad", "p", "2")))
    at_zero = replace(one, phi=one.phi.xreplace({Q: Integer(0)}))
    assert updates(at_zero, HISTORY) == updates(without, HISTORY)


@pytest.mark.parametrize(
    ("phi", "expected"),
    [("m1 + 2*m2", True), ("m1*p - m2", True), ("m1*m2", False), ("m1**2/m2", False),
     ("tanh(m1) + m2", False), ("m1 + m2**2", False),
     ("m1 + sign(m2)", False), ("m1 + m2 + 1", False)],
)  # fmt: skip
def test_linear(phi: str, expected: bool) -> None:
    assert method_of(optimizer(phi, ("grad", "p", "1"), ("grad", "q", "1"))).is_linear == expected


UNBIASED = "(1 - p)/(1 - p**(n + 1))"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ([("grad", "p", UNBIASED), ("grad", "0", "1")], True),
        ([("grad", "p", UNBIASED), ("grad", "q", "1")], False),
        (
            [("grad", "p", UNBIASED), ("(grad - m1)**2", "q", "1")],
            True,
        ),  # zero at every step, whatever its gain
        ([("grad", "p", UNBIASED), ("grad - m1 + grad**2", "q", "1")], False),
    ],
)
def test_settled(variables: list[tuple[str, str, str]], expected: bool) -> None:
    """No frozen value depends on the step, which is seen by adding them up."""
    method = method_of(optimizer("m1 + m2", *variables))
    assert method.is_settled == expected
    constant = updates(method, [Integer(3)] * 4)
    assert (len(set(constant)) == 1) == expected


def test_an_even_past_needs_a_constant_rate_too() -> None:
    variables = [Momentum("grad", "p", UNBIASED)]
    for schedule, expected in ((None, True), ("1/2", True), ("1/(n + 1)", False)):
        made = Optimizer("mine", "m1", variables, {"p": DECAYS["p"]}, schedule=schedule)
        assert method_of(made).is_even == expected


def test_a_rate_is_taken_at_the_step_that_is_asked_for() -> None:
    for name in ("linear decay", "powers"):
        method = method_of(OPTIMIZERS[name])
        factor = OPTIMIZERS[name].schedule
        for n in (0, 3, 8):
            assert method.rate_at(Integer(n)) == factor.xreplace({STEP: Integer(n)})
        assert not method.rate.is_constant
        # The field of the method holds the rate now and in the past, so that sums over past rates are exact.
        assert all(method.numbers.field.read(method.rate_at(n)) is not None for n in (STEP, PAST))
    assert method_of(ball("1/2")).rate.is_constant


@pytest.mark.parametrize(("empty", "first"), [(True, 0), (False, 3)])
def test_a_delay_that_starts_empty_has_nothing_before_it(empty: bool, first: int) -> None:
    """A delay of two steps on the history 3, 3, ...: nothing, or the first gradient, in the first two steps."""
    variable = Momentum("grad", delay=2, start=0) if empty else Momentum("grad", delay=2)
    method = method_of(Optimizer("late", "m1", [variable]))
    assert updates(method, [Integer(3)] * 4) == [first, first, 3, 3]


@pytest.mark.parametrize(
    ("phi", "g", "expected"),
    [("m1", "grad", True), ("tanh(m1)", "grad**2", True), ("m1/norm(m1)", "grad", False),
     ("m1", "grad*mean(grad)", False), ("m1*dot(m1, m1)", "grad", False)],
)  # fmt: skip
def test_entrywise(phi: str, g: str, expected: bool) -> None:
    assert method_of(optimizer(phi, (g, "p", "1"))).is_entrywise == expected


def test_a_sum_over_all_entries_is_not_entrywise() -> None:
    method = method_of(optimizer("m1", ("grad", "p", "1")))
    m1 = method.channels[0].symbol
    assert method.is_entrywise
    assert not replace(method, phi=m1 * total(m1**2)).is_entrywise


def test_powers_of_a_decay_vanish_also_beyond_its_ranges() -> None:
    """Whoever declares a decay means that it forgets: (p + q)^n -> 0, though p and q below 1 do not say so."""
    method = method_of(optimizer("m1", ("grad", "p + q", "1")))
    assert scalar_limit(1 + 3 * (P + Q) ** STEP, method.numbers) == 1


def test_sums_inside_sums_keep_their_steps_apart() -> None:
    """Frozen values of a cascade that do not close, two deep, against adding up."""
    method = method_of(
        optimizer("m3", ("grad", "p", "1"), ("1/(1 + m1**2)", "q", "1"), ("1/(1 + m2**2)", "p", "1"))
    )
    gains = [channel.kernel.gain(STEP) for channel in method.channels]
    found = frozen_values(method.channels, gains, method.numbers)[method.channels[-1].symbol]
    for n, expected in enumerate(updates(method, [Integer(2)] * 4)):
        assert found.xreplace({STEP: Integer(n), GRAD: Integer(2), **NUMBERS}).doit() == expected
