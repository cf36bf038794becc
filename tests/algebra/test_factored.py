"""Writing: irreducible factors where a polynomial is short; a long one is split by its content alone.

The truth is the product multiplied out again by FLINT, and SymPy's own factorisation of the content.
"""

from __future__ import annotations

from math import prod

import pytest
from sympy import Expr, cancel, symbols

from symmem.algebra import factored
from symmem.algebra.exponential import ExponentialField, exponential_field
from symmem.algebra.factored import _split, _written, irreducible_factors, write
from symmem.algebra.rational import RationalField
from symmem.algebra.symbols import BATCHES

n, x, y, z = symbols("n x y z")
FIELD: ExponentialField = exponential_field([x**n, y**n, z])
CONTENT = 6 * x * (1 - x) ** 2 * (x + y)
LONG = (1 + 2 * x**n * z + y**n) ** 2 + n * (x - 3 * z)


def numerator(expression: Expr) -> factored.Polynomial:
    element = FIELD.read(expression)
    assert element is not None
    assert element.denominator.is_one()
    return element.numerator


@pytest.fixture
def few_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long polynomial begins at ten terms; what was written before is forgotten."""
    monkeypatch.setattr(factored, "MOST_FACTORED_TERMS", 10)
    _written.cache_clear()


@pytest.mark.usefixtures("few_terms")
@pytest.mark.parametrize("power", [1, n, x**n, x ** (2 * n) * n])
def test_a_long_polynomial_is_split_by_its_content(power: Expr) -> None:
    """The content in the parameters is factored, the largest monomial in n and the powers too; the rest stays whole."""
    polynomial = numerator((CONTENT * LONG * power).expand())
    number, factors = _split(FIELD, polynomial)
    assert polynomial == number * prod(
        (factor**times for factor, times in factors[1:]), start=factors[0][0] ** factors[0][1]
    )
    assert abs(number) == 6
    *inner, (rest, once) = factors
    assert once == 1
    assert rest in (numerator(LONG.expand()), -numerator(LONG.expand()))
    assert {times for factor, times in inner if factor in (numerator(1 - x), numerator(x - 1))} == {2}


def test_a_short_polynomial_is_factored_whole() -> None:
    number, factors = _split(FIELD, numerator(((1 - x**n) ** 2 * (x + y) * 5).expand()))
    assert abs(number) == 5
    assert sorted(times for _, times in factors) == [1, 2]


@pytest.mark.usefixtures("few_terms")
def test_what_stays_whole_has_the_same_value() -> None:
    element = FIELD.read(CONTENT * LONG / (1 - y))
    assert element is not None
    assert cancel(write(FIELD, element) - CONTENT * LONG / (1 - y)) == 0
    _written.cache_clear()


@pytest.mark.parametrize(("variables", "degree"), [(140, 1), (1, 5000)])
def test_what_would_take_long_to_factor_stays_whole(variables: int, degree: int) -> None:
    """FLINT hears no budget: a sum in 140 variables, from a schedule of cosines, held it for half a minute."""
    field = RationalField(tuple(f"x{k}" for k in range(variables)))
    first, second = (
        sum((field.generator(k) ** degree for k in range(offset, variables, 2)), field.number(1 + offset))
        for offset in (0, 1)
    )
    large = (first * second).numerator
    assert irreducible_factors(large) == (1, [(large, 1)])


def test_the_bound_is_far_above_what_is_written() -> None:
    field = RationalField(("x", "y", "z"))
    x, y, z = (field.generator(k) for k in range(3))
    base = x + y * z + field.number(3)
    number, factors = irreducible_factors((base * base * base * (x - z)).numerator)
    assert (
        number * prod(factor**power for factor, power in factors) == (base * base * base * (x - z)).numerator
    )
    assert sorted(power for _, power in factors) == [1, 3]


def test_a_polynomial_in_the_number_of_batches_is_arranged_by_it() -> None:
    """``1 + x - N (1 - x)`` has two terms, one for each power of N, and the value of the polynomial."""
    field = exponential_field([x, BATCHES])
    source = (1 + x - BATCHES * (1 - x)) / (1 - BATCHES)
    element = field.read(source.expand())
    assert element is not None
    written = write(field, element)
    assert cancel(written - source) == 0
    assert written.has((1 - x) * BATCHES, (x - 1) * BATCHES)
