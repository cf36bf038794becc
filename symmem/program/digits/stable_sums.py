"""Numbers that depend on n, without the digits that their closed forms lose (mathematics.md section 14).

A sum over the past adds positive numbers, and its closed form subtracts them: for beta = 1 - 1e-8 and n = 1 no digit of
the mean lag of a bias-corrected average is left.  The sums are exponential polynomials in n, and :mod:`.chains` writes
them by complete homogeneous polynomials h_m, which add again:

    beta/(1 - beta) - (n+1) beta^(n+1)/(1 - beta^(n+1)) = beta (1 - beta) h_{n-1}(1, beta, beta) / (1 - beta^(n+1)),

also where decays are equal or nearly so.  In the formulas stand the functions of :mod:`.decay_functions`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from sympy import Add, Dummy, Expr, Max, Mul, S, Sum, Symbol

from symmem.algebra.atoms import STEP, is_scalar
from symmem.algebra.heads import HEADS
from symmem.algebra.ranges import bounds
from symmem.algebra.rational import Quotient
from symmem.algebra.real_functions import with_arguments
from symmem.algebra.scalars import Scalars
from symmem.algebra.where import where
from symmem.program.digits.coefficients import sign as sign_of
from symmem.program.digits.decay_functions import Complete, Shortfall
from symmem.program.digits.kept_sums import kept, subtracts
from symmem.program.digits.late_steps import by_indicator, counted, either, late_step, takes_out_first_steps
from symmem.program.digits.shortfalls import without_cancellation
from symmem.program.digits.signed_sums import may_be_infinite, written_element
from symmem.program.digits.sum_parts import Group, SumParts
from symmem.program.digits.thresholds import Above, difference, known_above


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
    above: tuple[Above, ...] = ()
    """What the condition of the branch says."""

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
        if isinstance(expression, Add):
            # Numbers beside vectors, as in ``a + b/(grad^2 + eps)``, are one number: its parts may cancel.
            scalars = [term for term in expression.args if is_scalar(term) and self._belongs(term)]
            others = [term for term in expression.args if term not in scalars]
            return Add(self.scalar(Add(*scalars)), *(self.expression(term) for term in others))
        head = HEADS.of(expression)
        if head is not None and head.binds:
            return self._kept(expression)
        return HEADS.mapped(expression, self.expression)

    def _belongs(self, factor: Expr) -> bool:
        """Whether the factor of a product is taken with those that depend on n: parts of it may cancel there."""
        return STEP in factor.free_symbols or self.numbers.field.read(factor) is not None

    def scalar(self, scalar: Expr) -> Expr:
        """A number, by the first of these ways that it has: the exact ones, then factor by factor, then its parts."""
        scalar = counted(scalar)
        for way in (
            self._branches,
            self._in_field,
            self._in_wider_field,
            self._whole,
            self._read_late,
            self._product,
        ):
            found = way(scalar)
            if found is not None:
                return found
        return self._by_parts(scalar)

    def _branches(self, scalar: Expr) -> Expr | None:
        """``where(condition, ...)``: the condition is known inside the branch that it opens."""
        if not isinstance(scalar, where):
            return None
        condition, value, otherwise = scalar.args
        inside = replace(self, above=(*self.above, *known_above(condition)))
        return where(self.expression(condition), inside.expression(value), self.expression(otherwise))

    def _whole(self, scalar: Expr) -> Expr | None:
        """A sum over past steps that stays, or a symbol: nothing to take apart."""
        head = HEADS.of(scalar)
        if scalar.args and (head is None or not head.binds):
            return None
        return self._noted(scalar, self._kept(scalar) if scalar.args else scalar)

    def _read_late(self, scalar: Expr) -> Expr | None:
        """A number of the step ``max(0, n - d)`` alone: that of step n, read late."""
        late = late_step(scalar)
        return None if late is None else self.scalar(scalar.xreplace({late: STEP})).xreplace({STEP: late})

    def _product(self, scalar: Expr) -> Expr | None:
        """A product of which some factors have to be taken together, for the pole of one is that of another."""
        if not isinstance(scalar, Mul):
            return None
        if scalar.has(Max):
            # The pole of constants may be that of powers, as in (b2^m - b1^(2 m))/(b2 - b1^2).
            delayed = [factor for factor in scalar.args if late_step(factor) is not None]
            constants = [factor for factor in scalar.args if STEP not in factor.free_symbols]
            together = [*delayed, *constants] if delayed else []
            others = [factor for factor in scalar.args if factor not in together]
            if len(together) > 1 and others:
                return Mul(self.scalar(Mul(*together)), *map(self.scalar, others))
        # What is divided by may be the pole of another factor.
        known = [factor for factor in scalar.args if self.numbers.field.read(factor) is not None]
        others = [factor for factor in scalar.args if factor not in known]
        if others and len(known) > 1 and any(map(subtracts, known)):
            return Mul(self.scalar(Mul(*known)), *map(self.scalar, others))
        return None

    def _by_parts(self, scalar: Expr) -> Expr:
        """Term by term or factor by factor; where a sum cancels still, the first steps of a delay by themselves."""
        found = without_cancellation(with_arguments(scalar, map(self.expression, scalar.args)))
        if not isinstance(scalar, Add):
            return found
        split = by_indicator(scalar, frozenset({STEP})) if _cancels(found) else None
        if split is not None:
            return either(split[0], self.scalar(split[1]), self.scalar(split[2]))
        return self._noted(scalar, found)

    def _in_field(self, scalar: Expr) -> Expr | None:
        """A number of the field by its sums; None where it is none, or is too long."""
        pieces = self.numbers.pieces(scalar)
        if pieces is None:
            return None
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
        large = self._by_thresholds(scalar)
        if large is not None:
            return large
        self.unproven.append(scalar)
        for parts in (apart, whole):
            sum_ = self._added(parts, exact=False)
            if sum_ is not None:
                return sum_
        return None

    def _kept(self, sum_: Expr) -> Expr:
        """A sum that stays, the numbers of its terms without cancellation."""
        return kept(sum_, replace(self, above=()).scalar, self._factored, self.unproven.append)

    def _factored(self, number: Expr) -> Expr:
        """A number of the field as one product; others as they are."""
        element = self.numbers.field.read(number)
        return number if element is None else self.numbers.write(element)

    def _by_thresholds(self, product: Expr) -> Expr | None:
        """Factor by factor, where each that depends on n is a difference that is known to be large."""
        found = []
        for factor in Mul.make_args(product) if self.above else ():
            base, exponent = factor.as_base_exp()
            large = difference(base, self.above, self.numbers) if exponent.is_Integer else None
            if STEP not in factor.free_symbols:
                found.append(self.numbers.tidy(factor))
            elif large is None:
                return None
            else:
                found.append((self.scalar(large[0]) - large[1]) ** exponent)
        return Mul(*found) if found else None

    def _noted(self, scalar: Expr, found: Expr) -> Expr:
        """What was found, with a note where it still subtracts."""
        self.unproven.extend([scalar] if _cancels(found) else [])
        return found

    def _in_wider_field(self, number: Expr) -> Expr | None:
        """A difference that has powers of other parameters in [0, 1], in a field of its own; else None."""
        found = self.numbers.widened(number) if isinstance(number, Add) and subtracts(number) else None
        if found is None or found.pieces(number) is None:
            return None
        others = (bounds(base, found.ranges) for base in found.field.bases)
        is_decay = all(each.is_nonnegative and each.is_within_unit for each in others)
        return replace(self, numbers=found).scalar(number) if is_decay else None

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
                each = written_element(part, self.numbers, exact=exact)
                if each is None:
                    return None
                fronts.append(each[0])
                found.append(each[1])
            differ = exact and any(sign_of(front / fronts[0]) != 1 for front in fronts[1:])
            if differ and any(map(may_be_infinite, fronts)):
                return None
        return Add(*found)

    def _is_short(self, parts: list[Quotient]) -> bool:
        """Whether sums that were joined are no longer than one of one decay."""
        return all(len(self.numbers.support(part)) < 2 for part in parts)


def _cancels(found: Expr) -> bool:
    """Whether a number still subtracts; sums that are written each by itself stand beside one another."""
    bare = found.xreplace({each: Dummy() for each in found.atoms(Sum, Complete, Shortfall)})
    return takes_out_first_steps(found) or subtracts(bare)
