"""Coefficients as lists of *pieces*, field elements whose decays differ; the lower half of scalars.py.

Pieces with the same decays are added; ``beta1/(1 - beta1)`` and ``beta2/(1 - beta2)`` stay two terms, as a person
writes them, and ten decays do not end over one common denominator.  Where three decays or more meet, the exponentials
``n^j beta1^(a n) beta2^(b n) ...`` are kept apart too: each has a short factor in the decays, their sum has thousands
of terms over one denominator.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import chain, product

from sympy import Add, Expr, Mul, Pow, Symbol

from symmem.algebra.every import every
from symmem.algebra.exponential import ExponentialField
from symmem.algebra.rational import Quotient, product_of, quotient
from symmem.records import record

LEAST_SPLIT_DECAYS = 3
"""From so many decays on, the exponentials of a piece are kept apart: two make some twenty terms, three thousands."""

Place = tuple[frozenset[Symbol], tuple[int, ...]]
"""Pieces of one place are added: the decays, and of three decays or more the exponents of n, s and the powers."""


@record(frozen=True)
class Pieces:
    """The field of an optimizer's coefficients; the decays in it tell pieces apart."""

    field: ExponentialField

    @cached_property
    def decays(self) -> frozenset[Symbol]:
        """The parameters that occur in a decay: they tell pieces apart."""
        return frozenset(symbol for base in self.field.bases for symbol in base.free_symbols)

    @cached_property
    def _decays_of_generators(self) -> tuple[frozenset[Symbol], ...]:
        count = len(self.field.rationals.names)
        return tuple(frozenset(self.field.meaning(p).free_symbols & self.decays) for p in range(count))

    def pieces(self, scalar: Expr) -> list[Quotient] | None:
        """``scalar`` as a sum of elements kept apart by their decays, or None where it is not in the field."""
        if scalar in self.written:
            return [self.written[scalar]]
        if scalar not in self._pieces:
            self._pieces[scalar] = self._read_pieces(scalar)
        return self._pieces[scalar]

    @cached_property
    def _pieces(self) -> dict[Expr, list[Quotient] | None]:
        return {}

    def _read_pieces(self, scalar: Expr) -> list[Quotient] | None:
        if not isinstance(scalar, (Add, Mul)) or len(scalar.free_symbols & self.decays) < 2:
            element = self.field.read(scalar)
            return None if element is None else [element]
        if isinstance(scalar, Add):
            terms = every(map(self.pieces, scalar.args))
            return None if terms is None else merge(self, chain.from_iterable(terms))
        whole, sums = self._split_product(scalar)
        front, factors = self.field.read(whole), every(map(self.pieces, sums))
        if front is None or factors is None:
            return None
        return merge(self, (product_of(choice) for choice in product([front], *factors)))

    def _split_product(self, scalar: Mul) -> tuple[Expr, list[Expr]]:
        """``(whole, sums)``: the factors read as one element, and those that fall apart by their decays.

        A sum in the decays of the denominator stays whole, for no piece could have fewer:
        ``(b1 + b2)/(b1 - b2)`` is one piece, ``(1/(1 - b1) + 1/(1 - b2))/(1 - b3)`` is two.
        """
        below = [factor for factor in scalar.args if isinstance(factor, Pow) and factor.exp.is_negative]
        present = {symbol for factor in below for symbol in factor.free_symbols & self.decays}
        sums = [
            factor
            for factor in scalar.args
            if isinstance(factor, Add)
            and len(factor.free_symbols & self.decays) > 1
            and not factor.free_symbols & self.decays <= present
        ]
        return Mul(*(factor for factor in scalar.args if factor not in sums)), sums

    def support(self, element: Quotient) -> frozenset[Symbol]:
        """The decays that occur in an element."""
        above, below = element.numerator.degrees(), element.denominator.degrees()
        return self._occurring(above) | self._occurring(below)

    def _occurring(self, degrees: tuple[int, ...]) -> frozenset[Symbol]:
        occurring: set[Symbol] = set()
        for decays, degree in zip(self._decays_of_generators, degrees, strict=True):
            if degree > 0:
                occurring |= decays
        return frozenset(occurring)

    def placed(self, element: Quotient) -> list[tuple[Place, Quotient]]:
        """The element with its place; where three decays or more meet, a part for each exponential in its numerator.

        Over a denominator with powers of an index the parts would not be shorter, and it stays whole.
        """
        support = self.support(element)
        if len(support) < LEAST_SPLIT_DECAYS or element.depends_below(self._exponentials):
            return [((support, ()), element)]
        rows: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
        for exponents, coefficient in element.numerator.to_dict().items():
            rows.setdefault(exponents[: len(self._exponentials)], {})[exponents] = coefficient
        if len(rows) == 1:
            return [((support, next(iter(rows))), element)]
        found: list[tuple[Place, Quotient]] = []
        for exponential, row in rows.items():
            part = quotient(self.field.rationals.polynomial(row), element.denominator)
            support = self.support(part)
            found.append(((support, exponential if len(support) >= LEAST_SPLIT_DECAYS else ()), part))
        return found

    @cached_property
    def _exponentials(self) -> range:
        """The positions of the indices and of the powers, which come first."""
        return range(len(self.field.indices) * (1 + len(self.field.bases)))

    @cached_property
    def written(self) -> dict[Expr, Quotient]:
        """What has been written as one piece, to be read back as it is."""
        return {}


def merge(pieces: Pieces, elements: Iterable[Quotient]) -> list[Quotient]:
    """The sum of the elements, those of one place added; a constant joins where one decay is alone."""
    groups: dict[Place, Quotient] = {}
    for element in elements:
        for place, part in pieces.placed(element):
            groups[place] = groups[place] + part if place in groups else part
    constant = groups.pop((frozenset(), ()), None)
    if constant is not None and len(groups) == 1:
        groups = {place: constant + element for place, element in groups.items()}
    elif constant is not None:
        groups[frozenset(), ()] = constant
    return [total for total in groups.values() if not total.is_zero()]
