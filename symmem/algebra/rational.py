"""Exact rational functions in several generators, on python-flint's integer polynomials.

The field behind the exponential-polynomial sums: SymPy's own fields do the same, some fifty times slower.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from operator import add, mul
from typing import Any

from flint import fmpz_mpoly_ctx

from symmem.algebra.polynomial_sizes import STAGE, power, product
from symmem.records import record
from symmem.work import checkpoint

Polynomial = Any
"""A ``flint.fmpz_mpoly``: python-flint ships no types."""


@record(frozen=True)
class RationalField:
    """``Q(x_1, ..., x_r)``; its elements are :class:`Quotient`."""

    names: tuple[str, ...]

    @cached_property
    def context(self) -> Any:
        """FLINT's ring of integer polynomials in these names."""
        return fmpz_mpoly_ctx.get(self.names, "lex")

    @cached_property
    def generators(self) -> tuple[Polynomial, ...]:
        """``x_1, ..., x_r`` as polynomials."""
        return tuple(self.context.gens())

    def number(self, value: int | Fraction) -> Quotient:
        """A rational number as an element."""
        value = Fraction(value)
        return Quotient(self.context.constant(value.numerator), self.context.constant(value.denominator))

    def generator(self, position: int) -> Quotient:
        """``x_i`` as an element, i from 0."""
        return Quotient(self.generators[position], self.context.constant(1))

    def polynomial(self, terms: dict[tuple[int, ...], int]) -> Polynomial:
        """The polynomial with these coefficients, by exponents."""
        return self.context.from_dict(terms)


class Quotient:
    """``numerator / denominator`` in lowest terms, the denominator's leading coefficient positive: unique."""

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: Polynomial, denominator: Polynomial) -> None:
        """Takes coprime polynomials as they are; :func:`quotient` reduces."""
        self.numerator = numerator
        self.denominator = denominator

    def __add__(self, other: Quotient) -> Quotient:
        if self.denominator == other.denominator:
            return quotient(self.numerator + other.numerator, self.denominator)
        return quotient(
            product(self.numerator, other.denominator) + product(other.numerator, self.denominator),
            product(self.denominator, other.denominator),
        )

    def __neg__(self) -> Quotient:
        return Quotient(-self.numerator, self.denominator)

    def __sub__(self, other: Quotient) -> Quotient:
        return self + (-other)

    def __mul__(self, other: Quotient) -> Quotient:
        return quotient(
            product(self.numerator, other.numerator), product(self.denominator, other.denominator)
        )

    def __truediv__(self, other: Quotient) -> Quotient:
        if other.is_zero():
            raise ZeroDivisionError("division by zero in an exact field")
        return quotient(
            product(self.numerator, other.denominator), product(self.denominator, other.numerator)
        )

    def __pow__(self, exponent: int) -> Quotient:
        if exponent >= 0:
            return Quotient(power(self.numerator, exponent), power(self.denominator, exponent))
        if self.is_zero():
            raise ZeroDivisionError("division by zero in an exact field")
        return quotient(power(self.denominator, -exponent), power(self.numerator, -exponent))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Quotient)
            and self.numerator == other.numerator
            and self.denominator == other.denominator
        )

    def __hash__(self) -> int:
        return hash((str(self.numerator), str(self.denominator)))

    def __repr__(self) -> str:
        return f"({self.numerator})/({self.denominator})"

    def is_zero(self) -> bool:
        """Whether it is 0: the form is unique."""
        return bool(self.numerator.is_zero())

    def is_one(self) -> bool:
        """Whether it is 1."""
        return bool(self.numerator == self.denominator)

    def depends_on(self, positions: Sequence[int]) -> bool:
        """Whether a generator at one of these positions occurs."""
        above, below = self.numerator.degrees(), self.denominator.degrees()
        return any(above[i] > 0 or below[i] > 0 for i in positions)

    def depends_below(self, positions: Sequence[int]) -> bool:
        """Whether a generator at one of these positions occurs in the denominator."""
        degrees = self.denominator.degrees()
        return any(degrees[i] > 0 for i in positions)


def quotient(numerator: Polynomial, denominator: Polynomial) -> Quotient:
    """``numerator / denominator`` in lowest terms."""
    if denominator.is_zero():
        raise ZeroDivisionError("division by zero in an exact field")
    checkpoint(STAGE, len(numerator) + len(denominator))
    common = numerator.gcd(denominator)
    if not common.is_one():
        numerator, denominator = numerator / common, denominator / common
    if denominator.leading_coefficient() < 0:
        numerator, denominator = -numerator, -denominator
    return Quotient(numerator, denominator)


def product_of(elements: Iterable[Quotient]) -> Quotient:
    """The product of at least one element."""
    return reduce(mul, elements)


def sum_of(elements: Iterable[Quotient]) -> Quotient:
    """The sum of at least one element: over the least common denominator, reduced once."""
    parts = list(elements)
    denominator = parts[0].denominator
    for part in parts[1:]:
        if part.denominator != denominator:
            denominator = product(denominator, part.denominator / denominator.gcd(part.denominator))
    scaled = (product(part.numerator, denominator / part.denominator) for part in parts)
    return quotient(reduce(add, scaled), denominator)
