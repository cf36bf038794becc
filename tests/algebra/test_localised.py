"""Closed forms that differ by the names of their symbols are worked out once: the names come back right."""

from __future__ import annotations

from itertools import permutations

import pytest
from sympy import Expr, Rational, cancel, symbols

from symmem.algebra.exponential import ExponentialField, exponential_field
from symmem.algebra.factored import _written, write
from symmem.algebra.localised import localised
from symmem.algebra.sums import definite_sum

n, s = symbols("n s")
NAMES = symbols("b0:12 x0 x1 eps")
FIELD: ExponentialField = exponential_field([name**n for name in NAMES] + [Rational(1, 3) ** n])


def element(x: Expr, y: Expr) -> Expr:
    return (1 - x ** (n + 1)) * (2 - y) * x**2 / ((1 - x) * (x - y) ** 2)


@pytest.mark.parametrize(("i", "j"), list(permutations((0, 2, 10, 12, 13), 2)))
def test_written_as_it_was_read(i: int, j: int) -> None:
    """Among them x0 and x1, the names that the small field uses itself."""
    expression = element(NAMES[i], NAMES[j])
    read = FIELD.read(expression)
    assert read is not None
    assert cancel(write(FIELD, read) - expression) == 0
    local = localised(FIELD, read)
    assert len(local.field.rationals.names) == len(local.positions) < len(FIELD.rationals.names)


def test_renamed_elements_share_one_writing() -> None:
    """The second pair in the same order of names finds the first one's."""
    first, second = (FIELD.read(element(NAMES[i], NAMES[j])) for i, j in ((3, 4), (5, 7)))
    assert first is not None
    assert second is not None
    write(FIELD, first)
    before = _written.cache_info().hits
    assert write(FIELD, second) == write(FIELD, first).xreplace({NAMES[3]: NAMES[5], NAMES[4]: NAMES[7]})
    assert _written.cache_info().hits >= before + 1


@pytest.mark.parametrize(("i", "j"), [(0, 1), (1, 0), (12, 13), (13, 12)])
def test_sums_come_home(i: int, j: int) -> None:
    x, y = NAMES[i], NAMES[j]
    summand = FIELD.read(s * x**s * y ** (n - s))
    assert summand is not None
    closed = definite_sum(FIELD, summand, s, n)
    assert closed is not None
    for steps in range(4):
        expected = sum((k * x**k * y ** (steps - k) for k in range(steps)), Rational(0))
        assert cancel(write(FIELD, closed).xreplace({n: Rational(steps)}) - expected) == 0


def test_a_base_that_is_a_number() -> None:
    read = FIELD.read(Rational(1, 3) ** n / (1 - Rational(1, 3) ** (n + 1)))
    assert read is not None
    assert cancel(write(FIELD, read).xreplace({n: Rational(2)}) - Rational(1, 9) / (1 - Rational(1, 27))) == 0
