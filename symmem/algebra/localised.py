"""Elements of a large field seen in a small one: closed forms that differ by the names of their symbols are one.

Ten decays make a hundred pairs, and each pair asks for the same sum and the same factored writing.  An element is moved
to the field of those generators that occur in it, its symbols renamed x0, x1, ... in their order; there the work is
done once, and the result is renamed back.

    (1 - b7^n)/(1 - b7)  ->  (1 - x0^n)/(1 - x0),   names {x0: b7}
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache

from sympy import Expr, Symbol

from symmem.algebra.exponential import ExponentialField
from symmem.algebra.rational import Polynomial, Quotient
from symmem.algebra.symbols import BATCHES
from symmem.records import record

Terms = tuple[tuple[tuple[int, ...], int], ...]
"""A polynomial as a hashable: (exponents, coefficient) for each term."""


@record(frozen=True)
class Localised:
    """A small field, and what its generators are in the large one."""

    field: ExponentialField
    home: ExponentialField
    positions: tuple[int, ...]
    """The position in the home field of each generator of the small one."""
    symbols: tuple[tuple[Symbol, Symbol], ...]
    """Pairs (name in the small field, symbol of the home field)."""

    @cached_property
    def names(self) -> dict[Symbol, Symbol]:
        """From the names in the small field to the symbols of the home field."""
        return dict(self.symbols)

    def terms(self, polynomial: Polynomial) -> Terms:
        """A polynomial of the home field in the generators of the small one."""
        positions = self.positions
        return tuple((tuple(e[p] for p in positions), int(c)) for e, c in polynomial.to_dict().items())

    def lifted(self, element: Quotient) -> Quotient:
        """An element of the small field, in the home field."""
        return Quotient(self._lifted(element.numerator), self._lifted(element.denominator))

    def _lifted(self, polynomial: Polynomial) -> Polynomial:
        size = len(self.home.rationals.names)
        terms = {}
        for exponents, coefficient in polynomial.to_dict().items():
            row = [0] * size
            for position, exponent in zip(self.positions, exponents, strict=True):
                row[position] = exponent
            terms[tuple(row)] = coefficient
        return self.home.rationals.polynomial(terms)


def localised(field: ExponentialField, element: Quotient) -> Localised:
    """The smallest field of renamed symbols that holds the element."""
    above, below = element.numerator.degrees(), element.denominator.degrees()
    return _localised(
        field, tuple(p for p, (u, d) in enumerate(zip(above, below, strict=True)) if u > 0 or d > 0)
    )


@lru_cache(maxsize=4096)
def _localised(field: ExponentialField, used: tuple[int, ...]) -> Localised:
    count = len(field.indices)
    bases = sorted({(p - count) // count for p in used if count <= p < count * (1 + len(field.bases))})
    constants = [p - count * (1 + len(field.bases)) for p in used if p >= count * (1 + len(field.bases))]
    kept = [field.constants[c] for c in constants]
    symbols = _symbols([*kept, *(field.bases[b] for b in bases)])
    # A base has to be readable: the constants in it, sqrt(beta) in the place of beta among them, belong here too.
    raised = [field.bases[b] for b in bases]
    within = [c for c in field.constants if c.free_symbols and c.free_symbols <= set(symbols)]
    needed = {*kept, *within, *(c for c in field.constants if any(base.has(c) for base in raised))}
    constants = [c for c, constant in enumerate(field.constants) if constant in needed]
    # The number of batches keeps its name: a form is arranged by it.
    new = {symbol: Symbol(f"x{number}") for number, symbol in enumerate(symbols) if symbol != BATCHES}
    small = ExponentialField(
        tuple(field.constants[c].xreplace(new) for c in constants),
        tuple(field.bases[b].xreplace(new) for b in bases),
        field.indices,
    )
    positions = [
        *range(count),
        *(field.power_position(b, index) for b in bases for index in field.indices),
        *(count * (1 + len(field.bases)) + c for c in constants),
    ]
    return Localised(small, field, tuple(positions), tuple((n, old) for old, n in new.items()))


def _symbols(expressions: Iterable[Expr]) -> list[Symbol]:
    found = {symbol for expression in expressions for symbol in expression.free_symbols}
    return sorted(found, key=lambda symbol: symbol.sort_key())
