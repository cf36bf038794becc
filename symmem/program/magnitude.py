"""How large the terms of a sum are, and of which sign: what decides between two ways of writing it.

Decays lie in [0, 1].  A coefficient is evaluated factor by factor; a factor that is no sum of positive terms, no
distance from 1 and no difference of two inputs is counted with the absolute values of its monomials, which is what the
rounding errors are measured by.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product

from symmem.algebra.exponential import ExponentialField
from symmem.algebra.factored import irreducible_factors
from symmem.algebra.rational import Polynomial, Quotient
from symmem.records import record

Rates = tuple[int, ...]
"""The exponents of the powers ``base^n`` in a term, one for each base."""
STEPS = (1, 2, 5, 60)
"""The steps at which terms are compared."""
_DECAYS = (Fraction(1, 2), Fraction(9999, 10000), Fraction(9, 10))
_OTHERS = (Fraction(37, 10), Fraction(37, 100))
"""Values of parameters that are no decays themselves, the first for which the decays made of them are."""


def signed(value: Quotient) -> int:
    """1 or -1 where the value has this sign for all decays and parameters in [0, 1], as far as one can see; else 0."""
    return _sign(value.numerator) * _sign(value.denominator)


def _sign(polynomial: Polynomial) -> int:
    number, factors = irreducible_factors(polynomial)
    sign = 1 if number > 0 else -1
    for factor, multiplicity in factors:
        sign *= _sign_of_factor(factor) ** multiplicity
    return sign


def _sign_of_factor(factor: Polynomial) -> int:
    """Of an irreducible polynomial: its terms have one sign, or it is ``1 - monomial``."""
    terms = {tuple(map(int, exponents)): int(c) for exponents, c in factor.to_dict().items()}
    if all(c > 0 for c in terms.values()):
        return 1
    if all(c < 0 for c in terms.values()):
        return -1
    constant = terms.get((0,) * len(next(iter(terms))), 0)
    return constant if len(terms) == 2 and set(terms.values()) == {1, -1} else 0


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
        for point in self._points:
            below = float(abs(_evaluated(coefficient.denominator, point)))
            size = float("inf") if below == 0 else _size(coefficient.numerator, point) / below
            values = _complete_upto(tuple(self._number(node, point) for node in nodes), max(STEPS))
            total += size * sum(values[step - shift] for step in STEPS if step >= shift)
        return total

    def _number(self, node: Rates, point: tuple[Fraction, ...]) -> float:
        value = self.value(node)
        return float(_evaluated(value.numerator, point) / _evaluated(value.denominator, point))

    @cached_property
    def _points(self) -> tuple[tuple[Fraction, ...], ...]:
        """Values of all generators: the decays that are parameters in every way, then the rest."""
        count = len(self.field.indices) * (1 + len(self.field.bases))
        constants, bases = self.field.constants, set(self.field.bases)
        free = [constant for constant in constants if constant in bases]
        found = []
        for other in _OTHERS:
            for chosen in product(_DECAYS, repeat=min(len(free), 2)):
                given = dict(zip(free, (*chosen, *_DECAYS * len(free)), strict=False))
                point = (Fraction(0),) * count + tuple(given.get(each, other) for each in constants)
                if all(0 < self._number(node, point) < 1 for node in self._single):
                    found.append(point)
            if found:
                break
        return tuple(found)

    @cached_property
    def _single(self) -> list[Rates]:
        size = len(self.field.bases)
        return [tuple(int(i == j) for j in range(size)) for i in range(size)]


def _size(polynomial: Polynomial, point: tuple[Fraction, ...]) -> float:
    """The absolute value, by factors; of an unclear factor the sum of the absolute values of its monomials."""
    number, factors = irreducible_factors(polynomial)
    size = float(abs(number))
    for factor, multiplicity in factors:
        exact = _sign_of_factor(factor) != 0 or _is_difference(factor)
        value = abs(_evaluated(factor, point)) if exact else _evaluated(factor, point, absolute=True)
        size *= float(value) ** multiplicity
    return size


def _is_difference(factor: Polynomial) -> bool:
    """``x - y`` of two generators."""
    terms = factor.to_dict()
    return len(terms) == 2 and all(sum(map(int, e)) == 1 and abs(int(c)) == 1 for e, c in terms.items())


def _evaluated(
    polynomial: Polynomial, point: tuple[Fraction, ...], *, absolute: bool = False
) -> Fraction:
    total = Fraction(0)
    for exponents, coefficient in polynomial.to_dict().items():
        term = Fraction(abs(int(coefficient)) if absolute else int(coefficient))
        for value, exponent in zip(point, exponents, strict=True):
            if exponent:
                term *= value ** int(exponent)
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
