"""Coefficients made of decays: their sign, and a way to write them in which nothing cancels.

Decays lie in [0, 1].  An irreducible factor is a sum of terms of one sign, or the difference of two inputs, or it is
expanded over ``x^j (1-x)^(d-j)`` in every generator x (Bernstein): where these coefficients have one sign so has the
factor, and its digits are kept.  The worked example: ``2 - x - y = 2 (1-x)(1-y) + x (1-y) + (1-x) y``.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import comb, prod

from sympy import Add, Expr, Integer, Mul

from symmem.algebra.atoms import is_scalar
from symmem.algebra.exponential import ExponentialField
from symmem.algebra.factored import irreducible_factors
from symmem.algebra.rational import Polynomial, Quotient
from symmem.algebra.real_functions import with_arguments

Terms = tuple[tuple[tuple[int, ...], int], ...]
"""A polynomial: exponents and coefficients."""
MOST_WEIGHTS = 12
"""A factor with more Bernstein coefficients is not expanded."""


def sign(value: Quotient) -> int:
    """1 or -1 where the value has this sign for all generators in [0, 1], as far as one can see; else 0."""
    return _sign(value.numerator) * _sign(value.denominator)


def _sign(polynomial: Polynomial) -> int:
    number, factors = irreducible_factors(polynomial)
    found = 1 if number > 0 else -1
    for factor, multiplicity in factors:
        found *= sign_of_factor(_terms(factor)) ** multiplicity
    return found


def is_clear(factor: Polynomial) -> bool:
    """Whether a factor is written so that it keeps its digits."""
    terms = _terms(factor)
    return sign_of_factor(terms) != 0 or _is_difference(terms)


def is_difference(factor: Polynomial) -> bool:
    """Whether a factor is ``x - y`` of two generators: it has either sign, and keeps its digits."""
    return _is_difference(_terms(factor))


def _terms(polynomial: Polynomial) -> Terms:
    return tuple((tuple(map(int, exponents)), int(c)) for exponents, c in polynomial.to_dict().items())


@lru_cache(maxsize=4096)
def sign_of_factor(terms: Terms) -> int:
    """Of an irreducible polynomial, by its coefficients or its Bernstein coefficients."""
    weights = [c for _, c in terms] if _is_plain(terms) else list(bernstein(terms).values())
    if not weights:
        return 0
    return 1 if min(weights) >= 0 else -1 if max(weights) <= 0 else 0


def _is_plain(terms: Terms) -> bool:
    return len({c > 0 for _, c in terms}) == 1


def _is_difference(terms: Terms) -> bool:
    """``x - y`` of two generators."""
    return len(terms) == 2 and all(sum(exponents) == 1 and abs(c) == 1 for exponents, c in terms)


@lru_cache(maxsize=4096)
def bernstein(terms: Terms) -> dict[tuple[int, ...], int]:
    """``w_j`` of ``sum_j w_j prod x^j (1-x)^(d-j)``; empty where there are too many.

    For ``x^e = x^e (x + (1-x))^(d-e)``: ``w_j = sum_{e<=j} c_e prod C(d-e, j-e)``.
    """
    degrees = [max(column) for column in zip(*(exponents for exponents, _ in terms), strict=True)]
    if prod(degree + 1 for degree in degrees) > MOST_WEIGHTS:
        return {}
    return {
        place: sum(
            c * prod(comb(d - e, j - e) for d, e, j in zip(degrees, exponents, place, strict=True))
            for exponents, c in terms
            if all(e <= j for e, j in zip(exponents, place, strict=True))
        )
        for place in product(*(range(degree + 1) for degree in degrees))
    }


def written(value: Quotient, field: ExponentialField) -> Expr:
    """The value as a product of its factors, each in the way that keeps its digits."""
    return Mul(_product(value.numerator, field), 1 / _product(value.denominator, field))


def cleared(expression: Expr, field: ExponentialField) -> Expr:
    """The formula with every sum that vanishes where all decays are 1, as ``x + y - 2 x y``, written over (1 - x)."""
    if not expression.args:
        return expression
    parts = [cleared(part, field) for part in expression.args]
    value = field.read(expression) if isinstance(expression, Add) and is_scalar(expression) else None
    if value is None or not value.denominator.is_constant() or not _clears(value.numerator):
        return with_arguments(expression, parts)
    return written(value, field)


def _clears(polynomial: Polynomial) -> bool:
    """Whether it is 0 where all generators are 1, no difference of two terms, and all its factors can be cleared."""
    terms = _terms(polynomial)
    vanishes = len(terms) > 2 and sum(c for _, c in terms) == 0
    return vanishes and all(is_clear(factor) for factor, _ in irreducible_factors(polynomial)[1])


def _product(polynomial: Polynomial, field: ExponentialField) -> Expr:
    number, factors = irreducible_factors(polynomial)
    found: list[Expr] = [Integer(number)]
    for factor, multiplicity in factors:
        terms = _terms(factor)
        if min(terms, key=lambda term: (sum(term[0]), term[0]))[1] < 0:  # 1 - beta, not beta - 1
            terms = tuple((exponents, -c) for exponents, c in terms)
            found.append(Integer(-1) ** multiplicity)
        found.append(_factor(terms, field) ** multiplicity)
    return Mul(*found)


def _factor(terms: Terms, field: ExponentialField) -> Expr:
    if not _is_plain(terms) and not _is_difference(terms) and sign_of_factor(terms) != 0:
        degrees = [max(column) for column in zip(*(exponents for exponents, _ in terms), strict=True)]
        return Add(*(_weighted(field, place, degrees, w) for place, w in bernstein(terms).items() if w))
    return Add(*(_weighted(field, exponents, exponents, c) for exponents, c in terms))


def _weighted(
    field: ExponentialField, place: tuple[int, ...], degrees: list[int] | tuple[int, ...], weight: int
) -> Expr:
    """``weight prod x^j (1-x)^(d-j)``."""
    factors: list[Expr] = [Integer(weight)]
    for position, (j, d) in enumerate(zip(place, degrees, strict=True)):
        if d:
            factors += [field.meaning(position, j), (1 - field.meaning(position)) ** (d - j)]
    return Mul(*factors)
