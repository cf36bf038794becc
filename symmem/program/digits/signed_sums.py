"""An element of the field as a quotient of sums of one sign: the numbers that :mod:`.stable_sums` asks for.

    beta/(1 - beta) - (n+1) beta^(n+1)/(1 - beta^(n+1)) = beta (1 - beta) h_{n-1}(1, beta, beta) / (1 - beta^(n+1))

(mathematics.md section 14).
"""

from __future__ import annotations

from sympy import Add, Expr, Integer, Mul, S

from symmem.algebra.atoms import STEP
from symmem.algebra.exponential import ExponentialField
from symmem.algebra.factored import irreducible_factors, numeric_factor
from symmem.algebra.rational import Polynomial, Quotient, quotient
from symmem.algebra.scalars import Scalars
from symmem.program.digits.chains import Coefficients, CompleteTerm, ExponentialPolynomial, least, one_signed
from symmem.program.digits.coefficients import written
from symmem.program.digits.decay_functions import Complete, Whole
from symmem.program.digits.magnitude import Magnitudes, Rates
from symmem.program.digits.sum_parts import moving_factors


def may_be_infinite(front: Quotient) -> bool:
    """Whether it is divided by a difference, as of two decays or of one and 1."""
    factors = irreducible_factors(front.denominator)[1]
    return any(len({int(c) > 0 for c in factor.to_dict().values()}) > 1 for factor, _ in factors)


def written_element(element: Quotient, numbers: Scalars, *, exact: bool) -> tuple[Quotient, Expr] | None:
    """The element as a quotient of sums, and the factor before them; None where a sum is not of n alone.

    ``exact``: None also where no way of writing it has terms of one sign.
    """
    field, one = numbers.field, numbers.field.number(1)
    if not element.depends_on(field.positions(STEP)):
        return element, written(element, field)
    plain, element = _without_plain(field, element)
    # A factor without n, as a difference of parameters, has the sign it has: the sum beside it keeps its digits.
    factor, numerator = moving_factors(field, element.numerator)
    fixed, moving = moving_factors(field, element.denominator)
    above = _sums(field, numerator, fixed, exact=exact)
    below = _sums(field, moving, one.numerator, exact=exact)
    if above is None or below is None:
        return None
    front, parts = quotient(factor, one.numerator), [numbers.write(plain)]
    for terms, power in (*above, *((terms, -power) for terms, power in below)):
        content, rest = with_content(terms, numbers)
        front = front * content**power
        parts.append(rest**power)
    return front, Mul(written(front, field), *parts)


def _without_plain(field: ExponentialField, element: Quotient) -> tuple[Quotient, Quotient]:
    """The factors that depend on n and on no power, as ``2 n + 1``, and the rest."""
    at, powers = field.index_position(STEP), field.power_positions(STEP)
    plain = field.number(1)
    for polynomial, sign in ((element.numerator, 1), (element.denominator, -1)):
        for factor, power in irreducible_factors(polynomial)[1]:
            degrees = factor.degrees()
            if degrees[at] > 0 and not any(degrees[p] > 0 for p in powers):
                plain = plain * quotient(factor, field.number(1).numerator) ** (sign * power)
    return plain, element / plain


Sums = list[tuple[list[CompleteTerm], int]]
"""Factors, each as terms that are added, with its power."""


def _sums(
    field: ExponentialField, polynomial: Polynomial, divisor: Polynomial, *, exact: bool
) -> Sums | None:
    """``polynomial / divisor`` as a product of sums: factor by factor where each is one of one sign, else whole."""
    number, factors = irreducible_factors(polynomial)
    one = field.number(1).numerator
    # What is divided by is left to the longest factor: there it cancels.
    factors.sort(key=lambda pair: (pair[1] == 1, len(pair[0])))
    whole_powers = number == 1 and divisor == one
    found: Sums = []
    for place, (factor, power) in enumerate(factors, start=1):
        if place < len(factors) or whole_powers:
            terms = _terms(field, factor, one, exact=True)
        else:
            terms = _terms(field, factor * number, divisor, exact=True) if power == 1 else None
        found += [] if terms is None else [(terms, power)]
    if factors and len(found) == len(factors):
        return found
    whole = _terms(field, polynomial, divisor, exact=exact)
    return None if whole is None else [(whole, 1)]


def _terms(
    field: ExponentialField, polynomial: Polynomial, divisor: Polynomial, *, exact: bool
) -> list[CompleteTerm] | None:
    """``polynomial / divisor`` as terms; None where another index or too many nodes occur."""
    at, powers = field.index_position(STEP), field.power_positions(STEP)
    others = [p for index in field.indices if index != STEP for p in field.positions(index)]
    rows: dict[tuple[Rates, int], dict[tuple[int, ...], int]] = {}
    for exponents, coefficient in polynomial.to_dict().items():
        if any(exponents[p] for p in others):
            return None
        rates = tuple(int(exponents[p]) for p in powers)
        kept = tuple(0 if p == at or p in powers else int(e) for p, e in enumerate(exponents))
        rows.setdefault((rates, int(exponents[at])), {})[kept] = int(coefficient)
    coefficients: Coefficients = {
        place: quotient(field.rationals.polynomial(row), divisor) for place, row in rows.items()
    }
    whole = ExponentialPolynomial(coefficients, Magnitudes(field))
    if whole.is_long:
        return None
    found = one_signed(whole)
    return found if found is not None or exact else least(whole)


def with_content(terms: list[CompleteTerm], numbers: Scalars) -> tuple[Quotient, Expr]:
    """The common factor of the coefficients, and the sum without it."""
    first = terms[0].coefficient
    above, below = first.numerator, first.denominator
    for term in terms[1:]:
        above, below = above.gcd(term.coefficient.numerator), below.gcd(term.coefficient.denominator)
    content = quotient(above, below)
    if numeric_factor(first / content) < 0:
        content = -content
    parts = []
    for term in terms:
        part = written(term.coefficient / content, numbers.field) * _complete(numbers.field, term)
        parts.append(Whole(part) if isinstance(part, Add) and len(terms) > 1 else part)
    return content, Add(*parts)


def _complete(field: ExponentialField, term: CompleteTerm) -> Expr:
    """``h_{n-k}`` of the nodes; of one node it is a power."""
    nodes = [
        tuple(base for base, rate in zip(field.bases, node, strict=True) for _ in range(rate)) or (S.One,)
        for node in term.nodes
    ]
    order = STEP - Integer(term.shift)
    if len(nodes) == 1 and term.shift == 0:
        return Mul(*(factor**order for factor in nodes[0]))
    return Complete.of(order, nodes)
