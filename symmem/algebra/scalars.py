"""The exact scalars of one optimizer: its field, and sums of elements that are kept apart on purpose.

A coefficient is a list of *pieces*, field elements whose decays differ.  Pieces with the same decays are
added; ``beta1/(1 - beta1)`` and ``beta2/(1 - beta2)`` stay two terms, as a person writes them, and ten
decays do not end over one common denominator.  Where three decays or more meet, the exponentials
``n^j beta1^(a n) beta2^(b n) ...`` are kept apart too: each has a short factor in the decays, their sum has thousands
of terms over one denominator.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field as entry
from functools import cached_property
from itertools import product

from sympy import Add, Expr, Integer, Mul, Pow, Rational, S, Symbol

from symmem.algebra.atoms import PAST, STEP
from symmem.algebra.exponential import ExponentialField, exponential_field
from symmem.algebra.factored import numeric_factor, write
from symmem.algebra.ranges import Ranges
from symmem.algebra.rational import Quotient, product_of, quotient
from symmem.algebra.results import Missing
from symmem.algebra.sums import definite_sum, limit
from symmem.records import record

LEAST_SPLIT_DECAYS = 3
"""From so many decays on, the exponentials of a piece are kept apart: two make some twenty terms, three thousands."""

Place = tuple[frozenset[Symbol], tuple[int, ...]]
"""Pieces of one place are added: the decays, and of three decays or more the exponents of n, s and the powers."""


@record(frozen=True)
class Scalars:
    """The field of an optimizer's coefficients, and the bases whose powers vanish for n -> infinity."""

    field: ExponentialField
    vanishing: frozenset[Expr]
    ranges: Ranges = entry(default_factory=dict, compare=False, repr=False)
    """Where the parameters lie."""

    @cached_property
    def _tidied(self) -> dict[Expr, Expr]:
        """What :meth:`tidy` has found: the same scalars come back in every part of a derivation."""
        return {}

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
        if scalar in self._written:
            return [self._written[scalar]]
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
            parts = [self.pieces(term) for term in scalar.args]
            return None if any(part is None for part in parts) else merge(self, _chain(parts))
        whole, sums = self._split_product(scalar)
        front = self.field.read(whole)
        parts = [self.pieces(factor) for factor in sums]
        if front is None or any(part is None for part in parts):
            return None
        lists = [[front], *(part for part in parts if part is not None)]
        return merge(self, (product_of(choice) for choice in product(*lists)))

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

    def sum_over_past(self, summand: Quotient) -> Quotient | None:
        """``sum_{s=0}^{n-1} summand``, or None where it does not close."""
        return definite_sum(self.field, summand, PAST, STEP)

    def limit(self, element: Quotient, index: Symbol = STEP) -> Quotient | Missing:
        """The limit of an element for ``index -> infinity``; powers of the decays vanish."""
        return limit(self.field, element, index, self.vanishing)

    @cached_property
    def _written(self) -> dict[Expr, Quotient]:
        """What has been written as one piece, to be read back as it is."""
        return {}

    @cached_property
    def _expressions(self) -> dict[int, tuple[Quotient, Expr]]:
        """The same by the element itself, which the entry keeps alive."""
        return {}

    def write(self, element: Quotient) -> Expr:
        """The element as an expression, factored."""
        if id(element) in self._expressions:
            return self._expressions[id(element)][1]
        written = write(self.field, element)
        self.field.remember(written, element)
        if self._is_one_piece(element):
            self._written[written] = element
            self._tidied[written] = written
            self._expressions[id(element)] = element, written
        return written

    def _is_one_piece(self, element: Quotient) -> bool:
        """Whether every term has all the decays of the whole, those of its denominator, and nothing is kept apart."""
        below = self._occurring(element.denominator.degrees())
        return self.support(element) == below and len(self.placed(element)) == 1

    def add(self, parts: list[Expr]) -> Expr:
        """The sum of scalars, decay by decay; a plain sum where one of them is not in the field."""
        found = [self.pieces(part) for part in parts]
        if len(parts) == 1 or any(pieces is None for pieces in found):
            return Add(*parts)
        return Add(*(self.write(piece) for piece in merge(self, _chain(found))))

    def content(self, coefficients: list[Expr]) -> Expr:
        """The common factor of several coefficients, its sign that of the first; 1 where it is a number.

        Common are the factors of all numerators, and those of all denominators.
        """
        if len(coefficients) < 2 or any(isinstance(c, (Add, Integer)) for c in coefficients):
            return Integer(1)
        elements = [self.field.read(coefficient) for coefficient in coefficients]
        known = [element for element in elements if element is not None]
        if len(known) < len(elements):
            return Integer(1)
        above, below = known[0].numerator, known[0].denominator
        for element in known[1:]:
            above = above.gcd(element.numerator)
            below = below.gcd(element.denominator)
        common = quotient(above, below)
        if numeric_factor(known[0] / common) < 0:
            common = -common
        content = self.write(common)
        return Integer(1) if content.is_Rational else content

    def split_number(self, scalar: Expr, divisor: Expr = S.One) -> tuple[Expr, Expr]:
        """``(number, core)`` of ``scalar / divisor``: the rational factor in front, and the rest."""
        element = self._whole(scalar, divisor)
        if element is None or element.is_zero():
            return self.ratio(scalar, divisor).as_coeff_Mul()
        number = numeric_factor(element)
        core = self.write(element / self.field.fraction(number))
        return Rational(number.numerator, number.denominator), core

    def _whole(self, scalar: Expr, divisor: Expr) -> Quotient | None:
        """``scalar / divisor`` where it is one piece, else None."""
        above, below = self._written.get(scalar), self.field.read(divisor)
        if above is None and not (isinstance(scalar, Add) and len(scalar.free_symbols & self.decays) > 1):
            above = self.field.read(scalar)
        if above is None or below is None:
            return None
        element = above if below.is_one() else above / below
        return element if len(self.placed(element)) == 1 else None

    def ratio(self, scalar: Expr, divisor: Expr) -> Expr:
        """``scalar / divisor``, in lowest terms."""
        if divisor == 1:
            return scalar
        below = self.field.read(divisor)
        if scalar in self._written and below is not None:
            element = self._written[scalar] / below
            if self._is_one_piece(element):
                return self.write(element)
        return self.tidy(scalar / divisor)

    def divides(self, divisor: Expr, scalar: Expr) -> bool:
        """Whether ``scalar / divisor`` has no other denominator than ``scalar``."""
        if divisor.is_Rational:
            return True
        whole, ratio = self.field.read(scalar), self.field.read(scalar / divisor)
        if whole is None or ratio is None:
            return False
        return whole.denominator.gcd(ratio.denominator) == ratio.denominator

    def tidy(self, scalar: Expr) -> Expr:
        """The scalar in lowest terms and factored, decay by decay; as it is where it is not in the field."""
        if scalar.is_Rational:
            return scalar
        if scalar not in self._tidied:
            pieces = self.pieces(scalar)
            if pieces is None:
                self._tidied[scalar] = self._tidied_in_wider_field(scalar)
            else:
                self._tidied[scalar] = Add(*(self.write(piece) for piece in pieces))
        return self._tidied[scalar]

    def _tidied_in_wider_field(self, scalar: Expr) -> Expr:
        """With the constants that it brings, such as pi, as further generators; as it is where that does not help."""
        powers = [base**index for base in self.field.bases for index in self.field.indices]
        field = exponential_field([*self.field.constants, *powers, scalar], self.field.indices)
        wider = Scalars(field, self.vanishing, self.ranges)
        pieces = wider.pieces(scalar) if field != self.field else None
        return scalar if pieces is None else Add(*(wider.write(piece) for piece in pieces))


def merge(scalars: Scalars, elements: Iterable[Quotient]) -> list[Quotient]:
    """The sum of the elements, those of one place added; a constant joins where one decay is alone."""
    groups: dict[Place, Quotient] = {}
    for element in elements:
        for place, part in scalars.placed(element):
            groups[place] = groups[place] + part if place in groups else part
    constant = groups.pop((frozenset(), ()), None)
    if constant is not None and len(groups) == 1:
        groups = {place: constant + element for place, element in groups.items()}
    elif constant is not None:
        groups[frozenset(), ()] = constant
    return [total for total in groups.values() if not total.is_zero()]


def _chain(parts: Iterable[list[Quotient] | None]) -> list[Quotient]:
    return [element for part in parts if part is not None for element in part]
