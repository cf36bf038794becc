"""How large the terms of a sum are: what decides between two ways of writing it where terms differ in sign.

A coefficient is evaluated factor by factor; a factor that cannot be written without cancellation is counted with the
absolute values of its monomials, which is what its rounding error is measured by.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from itertools import product

from symmem.algebra.exponential import ExponentialField
from symmem.algebra.factored import irreducible_factors
from symmem.algebra.rational import Polynomial, Quotient
from symmem.program.digits.coefficients import is_clear
from symmem.records import record

Rates = tuple[int, ...]
"""The exponents of the powers ``base^n`` in a term, one for each base."""
Terms = dict[tuple[int, ...], int]
"""The coefficients of a polynomial, by exponents."""
Factors = tuple[int, list[tuple[Terms, bool, int]]]
"""A number, and factors: their terms, whether each can be written without cancellation, and its multiplicity."""
STEPS = (1, 2, 5, 60)
"""The steps at which terms are compared."""
_HUGE, MOST_EXPONENT = 10**300, 100
_DECAYS = (0.5, 1 - 2.0**-6)
"""Short binary numbers: polynomials of low degree are exact at them."""
_OTHERS = (3.75, 0.375)
"""Values of parameters that are no decays themselves, the first for which the decays made of them are."""


@record(frozen=True)
class Magnitudes:
    """The values of nodes in an exact field, and the sizes of terms on its sample points."""

    field: ExponentialField

    @cached_property
    def zero(self) -> Quotient:
        """0 as an element."""
        return self.field.number(0)

    def integer(self, value: int) -> Quotient:
        """An integer as an element."""
        return self.field.number(value)

    def value(self, node: Rates) -> Quotient:
        """``prod base^rate``."""
        if node not in self._values:
            found = self.integer(1)
            for base, rate in zip(self.field.bases, node, strict=True):
                element = self.field.read(base)
                assert element is not None, f"the base {base} is not in its own field"
                found = found * element**rate
            self._values[node] = found
        return self._values[node]

    @cached_property
    def _values(self) -> dict[Rates, Quotient]:
        return {}

    def of(self, coefficient: Quotient, shift: int, nodes: tuple[Rates, ...]) -> float:
        """``|coefficient| h_{n-shift}(nodes)``, added over the sample points and steps."""
        total = 0.0
        above, divisor = _factors(coefficient.numerator), coefficient.denominator.to_dict()
        for point in self._points:
            below = abs(_evaluated(divisor, point))
            size = float("inf") if below == 0 else _size(above, point) / below
            values = _complete_upto(tuple(self._number(node, point) for node in nodes), max(STEPS))
            total += size * sum(values[step - shift] for step in STEPS if step >= shift)
        return total

    def _number(self, node: Rates, point: tuple[float, ...]) -> float:
        if (node, point) not in self._numbers:
            value = self.value(node)
            below = _evaluated(value.denominator.to_dict(), point)
            above = _evaluated(value.numerator.to_dict(), point)
            self._numbers[node, point] = above / below if below else math.inf
        return self._numbers[node, point]

    @cached_property
    def _numbers(self) -> dict[tuple[Rates, tuple[float, ...]], float]:
        return {}

    @cached_property
    def _points(self) -> tuple[tuple[float, ...], ...]:
        """Values of all generators: the decays that are parameters in every way, then the rest."""
        count = len(self.field.indices) * (1 + len(self.field.bases))
        constants, bases = self.field.constants, set(self.field.bases)
        free = [constant for constant in constants if constant in bases]
        found = []
        for other in _OTHERS:
            for chosen in product(_DECAYS, repeat=min(len(free), 2)):
                given = dict(zip(free, (*chosen, *_DECAYS * len(free)), strict=False))
                point = (0.0,) * count + tuple(given.get(each, other) for each in constants)
                if all(0 < self._number(node, point) < 1 for node in self._single):
                    found.append(point)
            if found:
                break
        return tuple(found)

    @cached_property
    def _single(self) -> list[Rates]:
        size = len(self.field.bases)
        return [tuple(int(i == j) for j in range(size)) for i in range(size)]


def _factors(polynomial: Polynomial) -> Factors:
    number, factors = irreducible_factors(polynomial)
    return number, [(factor.to_dict(), is_clear(factor), multiplicity) for factor, multiplicity in factors]


def _size(factors: Factors, point: tuple[float, ...]) -> float:
    """The absolute value, by factors; of an unclear factor the sum of the absolute values of its monomials."""
    number, rest = factors
    size = float(min(_HUGE, abs(number)))
    for terms, clear, multiplicity in rest:
        value = _evaluated(terms, point, absolute=not clear)
        for _ in range(multiplicity):  # a product can be infinite, a power is an error then
            size *= abs(value)
    return size


def _evaluated(terms: Terms, point: tuple[float, ...], *, absolute: bool = False) -> float:
    total = 0.0
    for exponents, coefficient in terms.items():
        number = max(-_HUGE, min(_HUGE, int(coefficient)))  # what a float can hold
        term = float(abs(number) if absolute else number)
        for value, exponent in zip(point, exponents, strict=True):
            if exponent:
                term *= value ** min(int(exponent), MOST_EXPONENT)
        total += term
    return total


@lru_cache(maxsize=1024)
def _complete_upto(nodes: tuple[float, ...], last: int) -> list[float]:
    """``h_0, ..., h_last``, the coefficients of ``prod 1/(1 - node x)``."""
    values = [1.0] + [0.0] * last
    for node in nodes:
        for place in range(1, last + 1):
            values[place] += node * values[place - 1]
    return values
