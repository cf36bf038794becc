"""Numbers without lost digits, each representation by itself: the same rational numbers, by the cheapest terms."""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations
from math import prod

import pytest
from sympy import Expr, Integer, Max, Min, Rational, Sum, Symbol, cos, sqrt, symbols

from symmem import Momentum, Optimizer
from symmem.algebra.atoms import GRAD, PAST, STEP
from symmem.algebra.exponential import ExponentialField, exponential_field
from symmem.algebra.rational import quotient
from symmem.algebra.where import where
from symmem.method.reading import method_of
from symmem.program.digits.chains import ExponentialPolynomial, least, one_signed
from symmem.program.digits.decay_functions import Complete, Shortfall, Whole
from symmem.program.digits.magnitude import _DECAYS, STEPS, Magnitudes
from symmem.program.digits.shortfalls import without_cancellation
from symmem.program.digits.stable_sums import loses_digits, stabilised

X, Y, MARK = symbols("x y mark")
VALUES = {X: Rational(2, 3), Y: Rational(3, 5), MARK: Integer(1)}
BETA = {"default": 0.9, "range": "[0, 1)"}
EARLIER = Symbol("r")
SEEN_LATE = Sum(Max(0, Min(1, EARLIER - 1)) * Y ** (PAST - EARLIER) - X**EARLIER, (EARLIER, 0, PAST))
"""A sum inside a sum, whose own index says which of its steps a delay has seen."""


def value(expression: Expr, n: int) -> Expr:
    """An exact number, every function by its definition."""
    placed = expression.xreplace({STEP: Integer(n), **VALUES}).doit()
    placed = placed.replace(Complete, lambda *given: complete(Complete(*given)))
    return placed.replace(Shortfall, lambda x, k: 1 - x**k).replace(Whole, lambda x: x)


def complete(given: Complete) -> Expr:
    """``h_m``, by its definition."""
    nodes, order = [prod(row) for row in given.rows], int(given.args[0])
    products = combinations_with_replacement(nodes, order) if order >= 0 else ()
    return sum((prod(each, start=Integer(1)) for each in products), Integer(0))


@pytest.mark.parametrize(
    "exact", [1 - X**STEP, 1 - X * Y, 1 - X**STEP * Y ** (STEP + 1), 1 - X**3 * Y**STEP * X]
)
def test_what_falls_short_of_one_is_the_same_number(exact: Expr) -> None:
    found = without_cancellation(exact)
    assert found.has(Shortfall, Whole)
    for n in (0, 1, 4):
        assert value(found, n) == value(exact, n)


def test_the_square_of_a_gradient_is_no_decay() -> None:
    """Its distance from 1 has no digits to lose, and no kernel takes logarithms of entries."""
    assert without_cancellation(1 - X**STEP * GRAD**2) == 1 - X**STEP * GRAD**2


@pytest.mark.parametrize(
    "exact",
    [
        (1 - X**STEP) / (1 - X ** (STEP + 1)) ** 2,
        X * (1 - (STEP + 1) * X**STEP + STEP * X ** (STEP + 1)) / ((1 - X) * (1 - X ** (STEP + 1)) ** 3),
        (X**STEP - Y**STEP) / (X - Y),
        (1 - X**STEP) ** 2 / (1 - Y ** (STEP + 1)) ** 2,
        (1 - X ** Max(0, STEP - 2)) / (1 - X) + 3 * STEP - 3 * Max(0, STEP - 2),
        MARK * (1 - X**STEP) / (1 - X) - 2 * MARK * (1 - Y**STEP) / (1 - Y),
        Sum(MARK * X ** (STEP - PAST) * cos(PAST) ** 2, (PAST, 0, STEP - 1)) / (1 - X ** (STEP + 1)),
        Sum(X ** (STEP - PAST) * (1 - X ** (PAST + 1) + SEEN_LATE), (PAST, 0, STEP - 1)),
    ],
)
def test_a_stabilised_number_is_the_same_number(exact: Expr) -> None:
    """Also with repeated factors below, and with marks before sums that do not close."""
    optimizer = Optimizer(
        "two",
        "m1 + m2",
        [Momentum("grad", "x", "1"), Momentum("grad", "y", "mark")],
        {"x": BETA, "y": BETA, "mark": 1},
    )
    found = stabilised(exact, method_of(optimizer).numbers, (MARK,))
    assert found != exact.xreplace({MARK: Integer(1)})
    for n in (0, 1, 4):
        assert (value(found, n) - value(exact, n)).equals(0)


LAG = 2 / (1 - X) - 1 - 2 * (STEP + 1) * X ** (STEP + 1) / (1 - X ** (STEP + 1))
AT = {STEP: PAST}
BEGUN = Max(0, Min(1, STEP - 1))
"""0 or 1."""
WEIGHT = X ** (STEP - PAST)


def past(term: Expr) -> Expr:
    """``sum_{s<n} term cos(s)^2``, which does not close."""
    return Sum(term * cos(PAST) ** 2, (PAST, 0, STEP - 1))


@pytest.mark.parametrize(
    ("exact", "is_lost"),
    [
        (past(LAG.xreplace(AT)), False),
        (past((X ** (PAST + 1) - Y ** (2 * PAST + 2)) / (X - Y**2)), False),
        (past((X ** (STEP - PAST) - Y ** (STEP - PAST)) / (X - Y)), False),
        (past((X**STEP - Y**PAST) / (X - Y)), True),
        (past(WEIGHT * (1 - X ** (PAST + 1)) - WEIGHT * X * Y * (1 - X**PAST) - WEIGHT * (1 - X) * Y), False),
        (1 - BEGUN + BEGUN * X ** (Max(0, STEP - 1) + 1), False),
        (where(LAG > 5, sqrt((LAG - 4) * (LAG - 2) / LAG), 7), False),
        (where(LAG > 5, sqrt((LAG - 4) * (LAG - 6) / LAG), 7), True),
        (past(where(LAG > 3, LAG - 2, 0).xreplace(AT)), False),
        (past(where(LAG > 3, 0, LAG - 2).xreplace(AT)), True),
    ],
)
def test_numbers_in_sums_that_stay_and_behind_conditions(exact: Expr, is_lost: bool) -> None:
    """Of one step, of the steps between two, or a product; else what depends on both is said to lose digits.

    So is what may be small; what a delay takes out of the first steps is not there later.
    """
    optimizer = Optimizer(
        "two", "m1 + m2", [Momentum("grad", "x", "1"), Momentum("grad", "y", "1")], {"x": BETA, "y": BETA}
    )
    numbers = method_of(optimizer).numbers
    assert loses_digits(exact, numbers) == is_lost
    found = stabilised(exact, numbers)
    for n in (0, 1, 4, 9):
        assert abs((value(found, n) - value(exact, n)).evalf(30)) < 1e-25


def polynomial(
    field: ExponentialField, terms: dict[tuple[tuple[int, ...], int], Expr]
) -> ExponentialPolynomial:
    one = field.number(1).numerator
    read = {place: field.read(each) for place, each in terms.items()}
    assert all(each is not None for each in read.values())
    return ExponentialPolynomial(
        {place: quotient(each.numerator, one * each.denominator) for place, each in read.items()},
        Magnitudes(field),
    )


FIELD = exponential_field([X**STEP, Y**STEP])
MIXED = {
    "a difference of powers": {((1, 0), 0): Integer(1), ((0, 1), 0): Integer(-3), ((0, 0), 0): Integer(1)},
    "with a factor n": {((1, 0), 1): Integer(1), ((0, 1), 0): Integer(-1), ((0, 0), 0): X - Y},
    "with a product": {((1, 1), 0): Integer(2), ((1, 0), 0): Integer(-5), ((0, 1), 1): 1 - X},
}


@pytest.mark.parametrize("terms", MIXED.values(), ids=MIXED)
def test_the_cheapest_path_is_found(terms: dict[tuple[tuple[int, ...], int], Expr]) -> None:
    """No order in which all nodes are taken gives terms of a smaller sum."""
    whole = polynomial(FIELD, terms)
    assert one_signed(whole) is None
    nodes = [node for node, count in whole.nodes.items() for _ in range(count)]

    def cost(order: tuple[tuple[int, ...], ...]) -> float:
        rest, taken, total = whole, (), 0.0
        for node in order:
            taken = (*taken, node)
            total += whole.magnitudes.of(rest.first, len(taken) - 1, tuple(sorted(taken)))
            rest = rest.without(node)
        assert not rest.coefficients
        return total

    found = least(whole)
    assert found is not None
    size = sum(whole.magnitudes.of(term.coefficient, term.shift, term.nodes) for term in found)
    assert size <= min(map(cost, permutations(nodes))) * (1 + 1e-12)
    assert size > 0


def test_the_size_of_a_term_is_that_of_its_definition() -> None:
    """``|c| h_{n - k}``, over the sample points and steps."""
    sizes, nodes, shift = Magnitudes(FIELD), ((0, 0), (1, 0), (1, 1)), 2
    true = 0.0
    for x in _DECAYS:
        for y in _DECAYS:
            values = (1.0, x, x * y)
            for n in (step for step in STEPS if step >= shift):
                products = combinations_with_replacement(values, n - shift)
                true += 3 * sum(prod(each) for each in products)
    assert sizes.of(sizes.integer(-3), shift, nodes) == pytest.approx(true, rel=1e-12)


def test_a_number_that_subtracts_says_so() -> None:
    """Two sums beside one another do not, whatever the sign of a parameter, nor does the count of late steps."""
    optimizer = Optimizer("one", "m1", [Momentum("grad", "x", "c")], {"x": BETA, "c": 1})
    numbers, late = method_of(optimizer).numbers, Max(0, STEP - 1)
    lag = (1 - (STEP + 1) * X**STEP + STEP * X ** (STEP + 1)) / (1 - X)
    assert not loses_digits(X * lag - Symbol("c") * (1 - X**STEP), numbers)
    assert not loses_digits((1 - X**late) / (1 - X) + STEP - late, numbers)
    assert loses_digits((1 - X**STEP) / (1 - X) - X**late, numbers)
    assert not loses_digits((1 - X ** (STEP + 1)) / (1 - X), numbers)
    assert loses_digits(1 - 3 * X**STEP + STEP * X ** (2 * STEP), numbers)
