"""The ways in which a number that depends on n falls apart into sums, each of which may have one sign by itself.

A sum over the past has a mark (:mod:`symmem.derivation.marked_sums`), its pieces have decays and denominators of their
own, and a parameter that is no decay may have either sign: ``lag - c (1 - beta^n)/(1 - beta^(n+1))`` is two sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from sympy import Symbol

from symmem.algebra.atoms import STEP
from symmem.algebra.exponential import ExponentialField
from symmem.algebra.factored import irreducible_factors
from symmem.algebra.rational import Polynomial, Quotient, quotient
from symmem.algebra.scalars import Scalars
from symmem.records import record

Exponents = tuple[int, ...]
Group = list[Quotient]
"""Parts of one sum over the past, which has one sign: where they do not, what they add up to has lost digits."""


@record(frozen=True)
class SumParts:
    """Of the numbers of one field, with these marks in it."""

    numbers: Scalars
    marks: tuple[Symbol, ...]

    def by_mark(self, pieces: Sequence[Quotient]) -> list[Group]:
        """Every piece, once for each product of marks in its numerator; a group for each product."""
        found: dict[Exponents, Group] = {}
        for piece in pieces:
            for key, part in self._of_marks(piece).items():
                found.setdefault(key, []).append(part)
        return list(found.values())

    def joined(self, pieces: Sequence[Quotient]) -> list[Quotient]:
        """Those over the same function of n added up: parts of a sum over two decays may nearly cancel."""
        groups: dict[str, Quotient] = {}
        for piece in pieces:
            key = str(moving_factors(self.numbers.field, piece.denominator)[1])
            groups[key] = groups[key] + piece if key in groups else piece
        return [total for total in groups.values() if not total.is_zero()]

    def finest(self, pieces: Sequence[Quotient]) -> list[list[Group]]:
        """By marks, each piece or all pieces of a mark, and then by parameters too."""
        marked = self.by_mark(pieces), [[part] for part in self._of_each_mark(pieces)]
        return [*marked, *map(self._by_parameter, marked)]

    def _of_each_mark(self, pieces: Sequence[Quotient]) -> list[Quotient]:
        """All pieces with the same product of marks as one: where a sum over the past has several denominators."""
        found: dict[Exponents, Quotient] = {}
        for piece in pieces:
            for key, part in self._of_marks(piece).items():
                found[key] = found[key] + part if key in found else part
        return [part for part in found.values() if not part.is_zero()]

    def _of_marks(self, piece: Quotient) -> dict[Exponents, Quotient]:
        """By the product of marks, which are then 1."""
        places = self._marked
        return self._split(piece, places, lambda e: tuple(0 if p in places else x for p, x in enumerate(e)))

    def _by_parameter(self, groups: Sequence[Group]) -> list[Group]:
        """Every piece, once for each product of parameters that are no decays; a group for each product."""
        found: list[Group] = []
        for group in groups:
            own: dict[Exponents, Group] = {}
            for piece in group:
                for key, part in self._split(piece, self._free, lambda e: e).items():
                    own.setdefault(key, []).append(part)
            found += own.values()
        return found

    @cached_property
    def _marked(self) -> list[int]:
        """Where the marks stand."""
        return self._places(lambda constant: constant in self.marks)

    @cached_property
    def _free(self) -> list[int]:
        """Where the parameters stand that are no decays."""
        return self._places(lambda constant: not constant.free_symbols & self.numbers.decays)

    def _places(self, is_wanted: Callable[[Symbol], bool]) -> list[int]:
        field = self.numbers.field
        first = len(field.rationals.names) - len(field.constants)
        return [first + place for place, constant in enumerate(field.constants) if is_wanted(constant)]

    def _split(
        self, piece: Quotient, places: list[int], kept: Callable[[Exponents], Exponents]
    ) -> dict[Exponents, Quotient]:
        """The parts of the numerator by their exponents at these places, each with those that are ``kept``."""
        rows: dict[Exponents, dict[Exponents, int]] = {}
        for exponents, coefficient in piece.numerator.to_dict().items():
            rows.setdefault(tuple(exponents[p] for p in places), {})[kept(exponents)] = coefficient
        field = self.numbers.field.rationals
        return {key: quotient(field.polynomial(row), piece.denominator) for key, row in rows.items()}


def moving_factors(field: ExponentialField, polynomial: Polynomial) -> tuple[Polynomial, Polynomial]:
    """The factors that do not depend on n, and those that do."""
    positions = field.positions(STEP)
    content, factors = irreducible_factors(polynomial)
    fixed, moving = field.number(content).numerator, field.number(1).numerator
    for factor, multiplicity in factors:
        if any(factor.degrees()[position] > 0 for position in positions):
            moving = moving * factor**multiplicity
        else:
            fixed = fixed * factor**multiplicity
    return fixed, moving
