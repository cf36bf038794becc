"""Elements of the exponential field written back as SymPy, as a person would write them.

Numerator and denominator are factored; a factor is arranged by the powers ``beta^n``, then by n, then by the number N
of batches: ``1 + beta - N (1 - beta)``; ``1 - beta`` is preferred to ``beta - 1``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from math import gcd

from sympy import Add, Expr, Integer, Mul, Pow

from symmem.algebra.exponential import ExponentialField
from symmem.algebra.localised import Terms, localised
from symmem.algebra.rational import Polynomial, Quotient, quotient
from symmem.algebra.symbols import BATCHES

MOST_FACTORED_TERMS = 250
"""A longer polynomial in the powers ``beta^n`` is not factored further than its coefficients are."""

MOST_FACTORED_SIZE = 4_000
"""Terms times variables of a polynomial that is factored at all: a dense one in eight variables takes seconds."""
MOST_FACTORED_DEGREE = 2000
"""In one variable, likewise: the time grows as its square."""

Factor = tuple[Expr, Expr]
"""A base and its exponent: a power is built once, when the product is."""


def write(field: ExponentialField, element: Quotient) -> Expr:
    """The factored SymPy expression equal to ``element``."""
    element = _with_single_signs(field, element)
    if element.is_zero():
        return Integer(0)
    local = localised(field, element)
    written = _written(local.field, local.terms(element.numerator), local.terms(element.denominator))
    return written.xreplace(local.names)


def _with_single_signs(field: ExponentialField, element: Quotient) -> Quotient:
    """The element with ``(-1)^(2n) = 1``, as n is a whole number: the field takes ``(-1)^n`` for any number."""
    if -1 not in field.bases:
        return element
    place = field.bases.index(Integer(-1))
    signs = {field.power_position(place, index) for index in field.indices}
    parts = (element.numerator, element.denominator)
    if not any(exponents[p] > 1 for part in parts for exponents in part.to_dict() for p in signs):
        return element
    above, below = (_reduced(field, part, signs) for part in parts)
    # 1 - (-1)^(2n) below the line is a pole at every n: it is shown as it stands.
    return element if below.is_zero() else quotient(above, below)


def _reduced(field: ExponentialField, polynomial: Polynomial, signs: Collection[int]) -> Polynomial:
    """Every exponent at these places modulo 2."""
    terms: dict[tuple[int, ...], int] = {}
    for exponents, coefficient in polynomial.to_dict().items():
        single = tuple(e % 2 if p in signs else e for p, e in enumerate(exponents))
        terms[single] = terms.get(single, 0) + int(coefficient)
    return field.rationals.polynomial({key: value for key, value in terms.items() if value})


@lru_cache(maxsize=4096)
def _written(field: ExponentialField, above: Terms, below: Terms) -> Expr:
    numerator, denominator = (field.rationals.polynomial(dict(terms)) for terms in (above, below))
    return _product([*_factors(field, numerator, 1), *_factors(field, denominator, -1)])


def numeric_factor(element: Quotient) -> Fraction:
    """The number in front of the written element, with the sign that its factors are normalised by."""
    sign = _trailing_coefficient(element.numerator) * _trailing_coefficient(element.denominator)
    ratio = Fraction(_content(element.numerator), _content(element.denominator))
    return -ratio if sign < 0 else ratio


def _content(polynomial: Polynomial) -> int:
    return gcd(*(int(coefficient) for coefficient in polynomial.to_dict().values()))


def _factors(field: ExponentialField, polynomial: Polynomial, exponent: int) -> list[Factor]:
    content, irreducibles = _split(field, polynomial)
    sign = 1
    factors = []
    for factor, multiplicity in irreducibles:
        if _trailing_coefficient(factor) < 0:
            factor, sign = -factor, sign * (-1) ** multiplicity
        base, power = _sum(field, factor).as_base_exp()
        factors.append((base, power * (exponent * multiplicity)))
    return [(Pow(Integer(sign * int(content)), exponent), Integer(1)), *factors]


def _split(field: ExponentialField, polynomial: Polynomial) -> tuple[int, list[tuple[Polynomial, int]]]:
    """``(number, [(factor, multiplicity), ...])``: irreducible, but a long polynomial in the powers stays whole.

    The numerator of a sum over three decays has thousands of terms and no factors but those of its coefficients.
    """
    terms = polynomial.to_dict()
    if len(terms) <= MOST_FACTORED_TERMS:
        return irreducible_factors(polynomial)
    inside = range(len(field.indices) * (1 + len(field.bases)))
    rows: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
    for exponents, coefficient in terms.items():
        inner = tuple(0 if p in inside else e for p, e in enumerate(exponents))
        rows.setdefault(tuple(exponents[p] for p in inside), {})[inner] = coefficient
    content = reduce(lambda x, y: x.gcd(y), (field.rationals.polynomial(row) for row in rows.values()))
    least = [
        min(exponents[p] if p in inside else 0 for exponents in terms)
        for p in range(len(field.rationals.names))
    ]
    content = content * field.rationals.polynomial({tuple(least): 1})
    number, factors = irreducible_factors(content)
    return number, [*factors, (polynomial / content, 1)]


def irreducible_factors(polynomial: Polynomial) -> tuple[int, list[tuple[Polynomial, int]]]:
    """``(number, [(factor, multiplicity), ...])``; the polynomial whole where it is too large, or its coefficients are.

    A call into FLINT hears no budget and no Ctrl-C: one that could take seconds is not begun.
    """
    degrees = polynomial.degrees()
    variables = sum(degree > 0 for degree in degrees)
    if len(polynomial) * variables > MOST_FACTORED_SIZE or max(degrees, default=0) > MOST_FACTORED_DEGREE:
        return 1, [(polynomial, 1)]
    try:
        number, factors = polynomial.factor()
    except OverflowError:  # python-flint sorts the factors by coefficients, as C integers
        return 1, [(polynomial, 1)]
    return int(number), factors


def _trailing_coefficient(polynomial: Polynomial) -> int:
    """The coefficient of the smallest monomial: the constant one, where there is one."""
    terms = polynomial.to_dict()
    return int(terms[min(terms, key=lambda exponents: (sum(exponents), exponents))])


def _sum(field: ExponentialField, polynomial: Polynomial) -> Expr:
    """An irreducible polynomial, arranged by its powers ``beta^n``, else by n, else by N, else term by term."""
    terms = polynomial.to_dict()
    indices = range(len(field.indices))
    first = len(field.indices) * (1 + len(field.bases))
    powers = range(len(field.indices), first)
    batches = [first + place for place, constant in enumerate(field.constants) if constant == BATCHES]
    for positions in (powers, indices, batches):
        if any(exponents[p] for exponents in terms for p in positions):
            return _arranged(field, terms, positions)
    return Add(*(Mul(Integer(int(c)), *_monomial(field, exponents)) for exponents, c in terms.items()))


def _arranged(field: ExponentialField, terms: dict[tuple[int, ...], int], positions: Sequence[int]) -> Expr:
    groups: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
    for exponents, coefficient in terms.items():
        outer = tuple(e if p in positions else 0 for p, e in enumerate(exponents))
        inner = tuple(0 if p in positions else e for p, e in enumerate(exponents))
        groups.setdefault(outer, {})[inner] = coefficient
    parts = []
    for outer, inner_terms in groups.items():
        coefficient = field.rationals.polynomial(inner_terms)
        powers = [power.as_base_exp() for power in _monomial(field, outer)]
        parts.append(_product([*_factors(field, coefficient, 1), *powers]))
    return Add(*parts)


def _monomial(field: ExponentialField, exponents: tuple[int, ...]) -> list[Expr]:
    return [field.meaning(p, e) for p, e in enumerate(exponents) if e]


def _product(factors: list[Factor]) -> Expr:
    """The product, with ``beta * beta**n`` written ``beta**(n + 1)``, which SymPy leaves apart."""
    exponents: dict[Expr, Expr] = {}
    for base, exponent in factors:
        exponents[base] = exponents.get(base, Integer(0)) + exponent
    return Mul(*(Pow(base, exponent) for base, exponent in exponents.items()))
