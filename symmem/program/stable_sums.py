"""Numbers that depend on n, without the digits that their closed forms lose (mathematics.md section 14).

A sum over the past adds positive numbers, and its closed form subtracts them: for beta = 1 - 1e-8 and n = 1 no digit of
the mean lag of a bias-corrected average is left.  The sums are exponential polynomials in n, and :mod:`.chains` writes
them by complete homogeneous polynomials h_m, which add again:

    beta/(1 - beta) - (n+1) beta^(n+1)/(1 - beta^(n+1)) = beta (1 - beta) h_{n-1}(1, beta, beta) / (1 - beta^(n+1)),

also where decays are equal or nearly so.  In the formulas stand the functions of :mod:`.decay_functions`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from sympy import Add, Expr, Integer, Max, Mul, S, Symbol

from symmem.algebra.atoms import STEP, is_scalar
from symmem.algebra.exponential import ExponentialField
from symmem.algebra.factored import irreducible_factors, numeric_factor
from symmem.algebra.heads import HEADS
from symmem.algebra.rational import Polynomial, Quotient, quotient
from symmem.algebra.scalars import Scalars
from symmem.program.chains import Coefficients, ExponentialPolynomial, Term, least, one_signed
from symmem.program.coefficients import sign as sign_of
from symmem.program.coefficients import written
from symmem.program.decay_functions import Complete, Whole
from symmem.program.late_steps import counted, late_step, takes_out_first_steps
from symmem.program.magnitude import Magnitudes, Rates
from symmem.program.shortfalls import without_cancellation
from symmem.program.sum_parts import Group, SumParts, moving_factors


def stabilised(expression: Expr, numbers: Scalars, marks: tuple[Symbol, ...] = ()) -> Expr:
    """The formula with every scalar that depends on n as a sum of one sign, where it is an exponential polynomial.

    ``marks`` are symbols of the field that stand for 1 and tell sums apart.  In the sums that stay, and elsewhere,
    ``1 - beta^k`` is written without its cancellation.
    """
    return _walked(expression, numbers, marks)[0]


def loses_digits(expression: Expr, numbers: Scalars, marks: tuple[Symbol, ...] = ()) -> bool:
    """Whether the stabilised formula has a scalar for which no sum of one sign was found."""
    return _walked(expression, numbers, marks)[1]


@lru_cache(maxsize=128)  # several targets are written from one derivation
def _walked(expression: Expr, numbers: Scalars, marks: tuple[Symbol, ...]) -> tuple[Expr, bool]:
    walk = _Stable(numbers, marks)
    found = walk.expression(expression).xreplace(dict.fromkeys(marks, S.One))
    return found, bool(walk.unproven)


@dataclass(frozen=True)
class _Stable:
    """The walk through one formula."""

    numbers: Scalars
    marks: tuple[Symbol, ...]
    unproven: list[Expr] = field(default_factory=list)
    """The scalars for which no sum of one sign was found."""

    def expression(self, expression: Expr) -> Expr:
        """A vector or a number."""
        if not expression.free_symbols & {*self.numbers.field.indices, *self.marks}:
            return expression
        if is_scalar(expression):
            return self.scalar(expression)
        if isinstance(expression, Mul):
            scalars = [factor for factor in expression.args if is_scalar(factor) and self._belongs(factor)]
            others = [factor for factor in expression.args if factor not in scalars]
            return Mul(self.scalar(Mul(*scalars)), *(self.expression(factor) for factor in others))
        head = HEADS.of(expression)
        if head is not None and head.binds:
            return without_cancellation(expression)
        return HEADS.mapped(expression, self.expression)

    def _belongs(self, factor: Expr) -> bool:
        """Whether the factor of a product is taken with those that depend on n: parts of it may cancel there."""
        return STEP in factor.free_symbols or self.numbers.field.read(factor) is not None

    def scalar(self, scalar: Expr) -> Expr:
        """A number: its sums one by one where each has one sign, else their pieces, else all, else its parts."""
        scalar = counted(scalar)
        pieces = self.numbers.pieces(scalar)
        if pieces is not None:
            parting = self._parts
            whole = [parting.joined([part for group in parting.by_mark(pieces) for part in group])]
            apart = parting.by_mark(parting.joined(pieces))
            is_shorter = sum(map(len, apart)) > len(whole[0]) and self._is_short(whole[0])
            ways = [self._added(parts, exact=True) for parts in (whole if is_shorter else [], apart) if parts]
            proven: list[Expr] = [way for way in ways if way is not None]
            if proven:
                return min(proven, key=lambda sum_: sum_.count_ops())
            for parts in parting.finest(pieces):
                single = self._added(parts, exact=True)
                if single is not None:
                    return single
            self.unproven.append(scalar)
            for parts in (apart, whole):
                sum_ = self._added(parts, exact=False)
                if sum_ is not None:
                    return sum_
        head = HEADS.of(scalar)
        if not scalar.args or (head is not None and head.binds):
            return self._noted(scalar, without_cancellation(scalar))
        late = late_step(scalar)
        if late is not None:
            return self.scalar(scalar.xreplace({late: STEP})).xreplace({STEP: late})
        if isinstance(scalar, Mul) and scalar.has(Max):
            together = [factor for factor in scalar.args if late_step(factor) is not None]
            others = [factor for factor in scalar.args if factor not in together]
            if len(together) > 1 and others:
                return Mul(self.scalar(Mul(*together)), *(self.scalar(factor) for factor in others))
        found = without_cancellation(scalar.func(*(self.expression(part) for part in scalar.args)))
        return self._noted(scalar, found) if isinstance(scalar, Add) else found

    def _noted(self, scalar: Expr, found: Expr) -> Expr:
        """What was found, with a note where it still subtracts."""
        self.unproven.extend([scalar] if takes_out_first_steps(found) else [])
        return found

    @cached_property
    def _parts(self) -> SumParts:
        return SumParts(self.numbers, self.marks)

    def _added(self, groups: list[Group], *, exact: bool) -> Expr | None:
        """The parts of all groups, written; ``exact``: None where one has no sign, or a pole that another takes away.

        ``(1 - q)/(1 - a)`` as ``1/(1 - a) - q/(1 - a)`` has two parts of one sign each, and no digits near a = 1.
        """
        found: list[Expr] = []
        for group in groups:
            fronts: list[Quotient] = []
            for part in group:
                each = _written(part, self.numbers, exact=exact)
                if each is None:
                    return None
                fronts.append(each[0])
                found.append(each[1])
            differ = exact and any(sign_of(front / fronts[0]) != 1 for front in fronts[1:])
            if differ and any(map(_may_be_infinite, fronts)):
                return None
        return Add(*found)

    def _is_short(self, parts: list[Quotient]) -> bool:
        """Whether sums that were joined are no longer than one of one decay."""
        return all(len(self.numbers.support(part)) < 2 for part in parts)


def _may_be_infinite(front: Quotient) -> bool:
    """Whether it is divided by a difference, as of two decays or of one and 1."""
    factors = irreducible_factors(front.denominator)[1]
    return any(len({int(c) > 0 for c in factor.to_dict().values()}) > 1 for factor, _ in factors)


def _written(element: Quotient, numbers: Scalars, *, exact: bool) -> tuple[Quotient, Expr] | None:
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


Sums = list[tuple[list[Term], int]]
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
) -> list[Term] | None:
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


def with_content(terms: list[Term], numbers: Scalars) -> tuple[Quotient, Expr]:
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


def _complete(field: ExponentialField, term: Term) -> Expr:
    """``h_{n-k}`` of the nodes; of one node it is a power."""
    nodes = [
        tuple(base for base, rate in zip(field.bases, node, strict=True) for _ in range(rate)) or (S.One,)
        for node in term.nodes
    ]
    order = STEP - Integer(term.shift)
    if len(nodes) == 1 and term.shift == 0:
        return Mul(*(factor**order for factor in nodes[0]))
    return Complete.of(order, nodes)
