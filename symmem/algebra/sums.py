"""Sums over an index and limits n -> infinity of exponential polynomials, in closed form.

``sum_{s=0}^{n-1} s^p r^s`` is ``q(n) r^n - q(0)`` where q is the polynomial with ``r q(s+1) - q(s) = s^p``;
for ``r = 1`` this is Faulhaber's polynomial.  Nothing is guessed: a sum that does not close is None, a limit
that cannot be established is a :class:`Missing`, which says why.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from math import comb

from sympy import Expr, Mul, Pow, Symbol

from symmem.algebra.exponential import ExponentialField
from symmem.algebra.localised import Terms, localised
from symmem.algebra.rational import Polynomial, Quotient, quotient, sum_of
from symmem.algebra.results import Missing, Sentence


def definite_sum(field: ExponentialField, summand: Quotient, index: Symbol, upper: Symbol) -> Quotient | None:
    """``sum_{index=0}^{upper-1} summand`` as an element free of ``index``, or None where it does not close.

    It closes when the denominator contains the index in powers ``beta^index`` alone.

    >>> from sympy import symbols
    >>> from symmem.algebra.exponential import exponential_field
    >>> from symmem.algebra.factored import write
    >>> beta, n, s = symbols("beta n s")
    >>> field = exponential_field([beta**n, beta**s])
    >>> write(field, definite_sum(field, field.read(s * beta**s), s, n))
    (beta - beta**n*(beta + n*(1 - beta)))/(1 - beta)**2
    """
    local = localised(field, summand)
    terms = local.terms(summand.numerator), local.terms(summand.denominator)
    closed = _local_sum(local.field, *terms, index, upper)
    return None if closed is None else local.lifted(closed)


@lru_cache(maxsize=4096)
def _local_sum(
    field: ExponentialField, above: Terms, below: Terms, index: Symbol, upper: Symbol
) -> Quotient | None:
    numerator, denominator = (field.rationals.polynomial(dict(terms)) for terms in (above, below))
    return _definite_sum(field, Quotient(numerator, denominator), index, upper)


def _definite_sum(
    field: ExponentialField, summand: Quotient, index: Symbol, upper: Symbol
) -> Quotient | None:
    powers = field.power_positions(index)
    shift, rest = _split_monomial(field, summand.denominator, powers)
    if any(rest.degrees()[position] > 0 for position in field.positions(index)):
        return None
    groups: dict[tuple[int, tuple[int, ...]], dict[tuple[int, ...], int]] = {}
    at = field.index_position(index)
    for exponents, coefficient in summand.numerator.to_dict().items():
        key = (exponents[at], tuple(exponents[p] - shift[i] for i, p in enumerate(powers)))
        kept = tuple(0 if i == at or i in powers else e for i, e in enumerate(exponents))
        groups.setdefault(key, {})[kept] = coefficient
    parts = [field.number(0)]
    for (degree, rates), coefficients in groups.items():
        closed = _power_sum(field, degree, rates, upper)
        parts.append(quotient(field.rationals.polynomial(coefficients), rest) * closed)
    return sum_of(parts)


def limit(
    field: ExponentialField, element: Quotient, index: Symbol, vanishing: Collection[Expr]
) -> Quotient | Missing:
    """The limit of ``element`` for ``index -> infinity``; the powers of the bases in ``vanishing`` tend to 0."""
    powers = field.power_positions(index)
    fading = in_vanishing_powers(field, element, index, vanishing)
    if isinstance(fading, Missing):
        return fading
    above = _without(field, fading.numerator, powers)
    below = _without(field, fading.denominator, powers)
    if below.is_zero():
        if above.is_zero():
            return Missing(Sentence.of("it depends on which of the decays is the fastest"))
        return Missing(Sentence.of("it grows without bound"))
    if above.is_zero():
        return field.number(0)
    at = field.index_position(index)
    growth = above.degrees()[at] - below.degrees()[at]
    if growth > 0:
        return Missing(Sentence.of("it grows without bound"))
    if growth < 0:
        return field.number(0)
    return quotient(_leading(field, above, at), _leading(field, below, at))


def in_vanishing_powers(
    field: ExponentialField, element: Quotient, index: Symbol, vanishing: Collection[Expr]
) -> Quotient | Missing:
    """The element as a function of generators that tend to 0: of ``base^-index`` where it is 1/base that vanishes.

    A decay may be a quotient of bases: ``p^index`` is ``(p/q)^index q^index`` where p/q vanishes.  ``(-1)^index`` stays
    bounded, and tends to 0 wherever a power stands beside it that does.
    """
    powers = list(zip(field.power_positions(index), field.bases, strict=True))
    fading = [position for position, base in powers if base in vanishing]
    for position, base in powers:
        below = [place for place, other in powers if base / other in vanishing]
        if below and not {base, 1 / base} & {*vanishing} and element.depends_on([position]):
            element = _divided(field, element, position, below[0])
            fading.append(position)
    for position, base in powers:
        if position not in fading and element.depends_on([position]):
            if base == -1 and _always_beside(element, position, fading):
                continue
            if 1 / base not in vanishing:
                return Missing(Sentence.of(f"({base})**{index} is not known to vanish"))
            element = _reciprocal(field, element, position)
    return element


def _always_beside(element: Quotient, position: int, others: list[int]) -> bool:
    """Whether no term above or below has the generator at ``position`` without one of the others."""
    terms = [*element.numerator.to_dict(), *element.denominator.to_dict()]
    return all(any(term[other] for other in others) for term in terms if term[position])


def _power_sum(field: ExponentialField, degree: int, rates: tuple[int, ...], upper: Symbol) -> Quotient:
    """``sum_{s=0}^{upper-1} s^degree r^s`` with ``r = prod bases^rates``."""
    ratio, ratio_to_upper = field.number(1), field.number(1)
    for position, rate in enumerate(rates):
        base = field.read(field.bases[position])
        if base is None:
            raise ValueError(f"the base {field.bases[position]} is not in its own field")
        ratio = ratio * base**rate
        ratio_to_upper = (
            ratio_to_upper * field.rationals.generator(field.power_position(position, upper)) ** rate
        )
    is_one = ratio.is_one() or Mul(*map(Pow, field.bases, rates)) == 1
    polynomial = _faulhaber(field, degree) if is_one else _eulerian(field, degree, ratio)
    if is_one:
        # r = 1 without the powers being absent (bases 1/2 and 1/4, or 1/2 and sqrt(2)): r^n is 1 all the same.
        ratio_to_upper = field.number(1)
    n = field.rationals.generator(field.index_position(upper))
    value = field.number(0)
    for coefficient in reversed(polynomial):
        value = value * n + coefficient
    return value * ratio_to_upper - polynomial[0]


def _eulerian(field: ExponentialField, degree: int, ratio: Quotient) -> list[Quotient]:
    """The coefficients of the polynomial q with ``r q(s+1) - q(s) = s^degree``, for r other than 1."""
    polynomial = [field.number(0)] * (degree + 1)
    for power in range(degree, -1, -1):
        value = field.number(1 if power == degree else 0)
        for higher in range(power + 1, degree + 1):
            value = value - ratio * field.number(comb(higher, power)) * polynomial[higher]
        polynomial[power] = value / (ratio - field.number(1))
    return polynomial


def _faulhaber(field: ExponentialField, degree: int) -> list[Quotient]:
    """The coefficients of the polynomial q with ``q(s+1) - q(s) = s^degree`` and ``q(0) = 0``."""
    polynomial = [field.number(0)] * (degree + 2)
    for power in range(degree, -1, -1):
        value = field.number(1 if power == degree else 0)
        for higher in range(power + 2, degree + 2):
            value = value - field.number(comb(higher, power)) * polynomial[higher]
        polynomial[power + 1] = value / field.number(power + 1)
    return polynomial


def _split_monomial(
    field: ExponentialField, polynomial: Polynomial, positions: tuple[int, ...]
) -> tuple[tuple[int, ...], Polynomial]:
    """``(exponents, rest)``: the largest monomial in the generators at ``positions`` that divides, and the rest."""
    terms = polynomial.to_dict()
    least = tuple(min(exponents[p] for exponents in terms) for p in positions)
    lower = dict(zip(positions, least, strict=True))
    shifted = {
        tuple(e - lower.get(i, 0) for i, e in enumerate(exponents)): c for exponents, c in terms.items()
    }
    return least, field.rationals.polynomial(shifted)


def _reciprocal(field: ExponentialField, element: Quotient, position: int) -> Quotient:
    """The element with 1/x in the place of the generator x there: both polynomials times a power of x."""
    parts = (element.numerator, element.denominator)
    top = max(part.degrees()[position] for part in parts)
    above, below = (
        field.rationals.polynomial(
            {(*e[:position], top - e[position], *e[position + 1 :]): c for e, c in part.to_dict().items()}
        )
        for part in parts
    )
    return quotient(above, below)


def _divided(field: ExponentialField, element: Quotient, position: int, other: int) -> Quotient:
    """The element with x y in the place of the generator x at ``position``, y the one at ``other``."""
    above, below = (
        field.rationals.polynomial(
            {(*e[:other], e[other] + e[position], *e[other + 1 :]): c for e, c in part.to_dict().items()}
        )
        for part in (element.numerator, element.denominator)
    )
    return quotient(above, below)


def _without(field: ExponentialField, polynomial: Polynomial, positions: tuple[int, ...]) -> Polynomial:
    """The polynomial with the generators at ``positions`` put to zero."""
    kept = {e: c for e, c in polynomial.to_dict().items() if not any(e[p] for p in positions)}
    return field.rationals.polynomial(kept)


def _leading(field: ExponentialField, polynomial: Polynomial, at: int) -> Polynomial:
    """The coefficient of the highest power of the generator at ``at``."""
    degree = polynomial.degrees()[at]
    top = {
        tuple(0 if i == at else e for i, e in enumerate(exponents)): coefficient
        for exponents, coefficient in polynomial.to_dict().items()
        if exponents[at] == degree
    }
    return field.rationals.polynomial(top)
