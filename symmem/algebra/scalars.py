"""The exact scalars of one optimizer: its field, and coefficients written from it, piece by piece (pieces.py)."""

from __future__ import annotations

from functools import cached_property
from itertools import chain

from sympy import Abs, Add, Expr, Integer, Mul, Pow, Rational, S, Symbol, sign

from symmem.algebra.atoms import PAST, STEP
from symmem.algebra.every import every
from symmem.algebra.exponential import exponential_field
from symmem.algebra.factored import numeric_factor, write
from symmem.algebra.head import Head
from symmem.algebra.intervals import Interval
from symmem.algebra.pieces import Pieces, merge
from symmem.algebra.ranges import Ranges, bounds
from symmem.algebra.rational import Quotient, quotient
from symmem.algebra.real_functions import replaced
from symmem.algebra.results import Missing
from symmem.algebra.sums import definite_sum, limit
from symmem.algebra.symbols import name_and_directions
from symmem.records import record


@record(frozen=True)
class Scalars(Pieces):
    """The field of an optimizer's coefficients, and the bases whose powers vanish for n -> infinity."""

    vanishing: frozenset[Expr]
    intervals: tuple[tuple[Expr, Interval], ...] = ()
    """Where the parameters lie."""
    degrees: tuple[tuple[str, Rational], ...] = ()
    """The degrees of homogeneity that were declared for open functions."""

    @cached_property
    def ranges(self) -> Ranges:
        """The interval of each parameter."""
        return dict(self.intervals)

    def is_positive(self, scalar: Expr) -> bool:
        """Whether it is above zero for all parameters in their ranges."""
        return bounds(scalar, self.ranges).is_positive

    def degree(self, function: Expr, head: Head) -> Rational | None:
        """The degree of homogeneity of a function, all operands scaled; None where it has none."""
        if head.degree is not None:
            return head.degree
        return dict(self.degrees).get(name_and_directions(function.func.__name__)[0])

    @cached_property
    def _tidied(self) -> dict[Expr, Expr]:
        """What :meth:`tidy` has found: the same scalars come back in every part of a derivation."""
        return {}

    def sum_over_past(self, summand: Quotient) -> Quotient | None:
        """``sum_{s=0}^{n-1} summand``, or None where it does not close."""
        return definite_sum(self.field, summand, PAST, STEP)

    def limit(self, element: Quotient, index: Symbol = STEP) -> Quotient | Missing:
        """The limit of an element for ``index -> infinity``; powers of the decays vanish."""
        return limit(self.field, element, index, self.vanishing)

    @cached_property
    def _expressions(self) -> dict[int, tuple[Quotient, Expr]]:
        """The same by the element itself, which the entry keeps alive."""
        return {}

    def write(self, element: Quotient) -> Expr:
        """The element as an expression, factored."""
        if id(element) in self._expressions:
            return self._expressions[id(element)][1]
        written = write(self.field, element)
        self.field.remember(written, element)
        if self._is_one_piece(element):
            self.written[written] = element
            self._tidied[written] = written
            self._expressions[id(element)] = element, written
        return written

    def _is_one_piece(self, element: Quotient) -> bool:
        """Whether every term has all the decays of the whole, those of its denominator, and nothing is kept apart."""
        below = self._occurring(element.denominator.degrees())
        return self.support(element) == below and len(self.placed(element)) == 1

    def add(self, parts: list[Expr]) -> Expr:
        """The sum of scalars, decay by decay; a plain sum where one of them is not in the field."""
        found = every(map(self.pieces, parts))
        if len(parts) == 1 or found is None:
            return Add(*parts)
        return Add(*(self.write(piece) for piece in merge(self, chain.from_iterable(found))))

    def content(self, coefficients: list[Expr]) -> Expr:
        """The common factor of several coefficients, its sign that of the first; 1 where it is a number.

        Common are the factors of all numerators, and those of all denominators.
        """
        if len(coefficients) < 2 or any(isinstance(c, (Add, Integer)) for c in coefficients):
            return Integer(1)
        elements = every(self.field.read(coefficient) for coefficient in coefficients)
        if elements is None:
            return Integer(1)
        above, below = elements[0].numerator, elements[0].denominator
        for element in elements[1:]:
            above = above.gcd(element.numerator)
            below = below.gcd(element.denominator)
        common = quotient(above, below)
        if numeric_factor(elements[0] / common) < 0:
            common = -common
        content = self.write(common)
        return Integer(1) if content.is_Rational else content

    def split_number(self, scalar: Expr, divisor: Expr = S.One) -> tuple[Expr, Expr]:
        """``(number, core)`` of ``scalar / divisor``: the rational factor in front, and the rest."""
        element = self._whole(scalar, divisor)
        if element is None or element.is_zero():
            return self.ratio(scalar, divisor).as_coeff_Mul()
        number = numeric_factor(element)
        core = self.write(element / self.field.fraction(number))
        return Rational(number.numerator, number.denominator), core

    def _whole(self, scalar: Expr, divisor: Expr) -> Quotient | None:
        """``scalar / divisor`` where it is one piece, else None."""
        above, below = self.written.get(scalar), self.field.read(divisor)
        if above is None and not (isinstance(scalar, Add) and len(scalar.free_symbols & self.decays) > 1):
            above = self.field.read(scalar)
        if above is None or below is None:
            return None
        element = above if below.is_one() else above / below
        return element if len(self.placed(element)) == 1 else None

    def ratio(self, scalar: Expr, divisor: Expr) -> Expr:
        """``scalar / divisor``, in lowest terms."""
        if divisor == 1:
            return scalar
        below = self.field.read(divisor)
        if scalar in self.written and below is not None:
            element = self.written[scalar] / below
            if self._is_one_piece(element):
                return self.write(element)
        return self.tidy(scalar / divisor)

    def divides(self, divisor: Expr, scalar: Expr) -> bool:
        """Whether ``scalar / divisor`` has no other denominator than ``scalar``."""
        if divisor.is_Rational:
            return True
        whole, ratio = self.field.read(scalar), self.field.read(scalar / divisor)
        if whole is None or ratio is None:
            return False
        return whole.denominator.gcd(ratio.denominator) == ratio.denominator

    def tidy(self, scalar: Expr) -> Expr:
        """The scalar in lowest terms and factored, decay by decay; as it is where it is not in the field."""
        if scalar.is_Rational:
            return scalar
        if scalar not in self._tidied:
            settled = self._with_known_signs(scalar)
            pieces = self.pieces(settled)
            if pieces is None:
                beside = self._tidied_beside_symbols(settled)
                self._tidied[scalar] = self._tidied_in_wider_field(settled) if beside is None else beside
            else:
                self._tidied[scalar] = Add(*(self.write(piece) for piece in pieces))
        return self._tidied[scalar]

    def _with_known_signs(self, scalar: Expr) -> Expr:
        """``sign(c) = 1``, ``|c| = c`` and ``sqrt(c^2) = c`` where c is above 0 for all parameters in their ranges.

        A sign and an absolute value of what is below 0 have a minus.
        """
        found: dict[Expr, Expr] = {}
        for each in scalar.atoms(sign, Abs):
            for side in (1, -1):
                if self.is_positive(side * each.args[0]):
                    found[each] = Integer(side) if isinstance(each, sign) else side * each.args[0]
        for root in scalar.atoms(Pow):
            if isinstance(root.exp, Rational) and not isinstance(root.exp, Integer):
                powers = [factor.as_base_exp() for factor in Mul.make_args(root.base)]
                apart = {pair for pair in powers if pair[1] != 1 and self.is_positive(pair[0])}
                inside = Mul(*(Pow(*pair) for pair in powers if pair not in apart))
                found[root] = Mul(Pow(inside, root.exp), *(Pow(b, p * root.exp) for b, p in apart))
        return replaced(scalar, found) if found else scalar

    def _tidied_beside_symbols(self, scalar: Expr) -> Expr | None:
        """With powers of symbols that the field has not, such as h, left in front; None where that is not all."""
        outside = [factor for factor in Mul.make_args(scalar) if self._is_foreign(factor)]
        inside = Mul(*(factor for factor in Mul.make_args(scalar) if factor not in outside))
        pieces = self.pieces(inside) if outside else None
        written = [] if pieces is None else [self.write(piece) for piece in pieces]
        if not written or any(isinstance(piece, Add) for piece in written):
            return None  # a sum, whose numbers would go in front of it and not of the symbols
        return Add(*(Mul(*outside, piece) for piece in written))

    def _is_foreign(self, factor: Expr) -> bool:
        base, exponent = factor.as_base_exp()
        return isinstance(base, Symbol) and exponent.is_Integer and self.field.read(base) is None

    def _tidied_in_wider_field(self, scalar: Expr) -> Expr:
        """With the constants that it brings, such as pi, as further generators; as it is where that does not help."""
        wider = self.widened(scalar)
        pieces = None if wider is None else wider.pieces(scalar)
        return scalar if wider is None or pieces is None else Add(*(wider.write(piece) for piece in pieces))

    def widened(self, scalar: Expr) -> Scalars | None:
        """The field with the constants and powers that a scalar brings; None where it brings none."""
        powers = [base**index for base in self.field.bases for index in self.field.indices]
        field = exponential_field([*self.field.constants, *powers, scalar], self.field.indices)
        return None if field == self.field else Scalars(field, self.vanishing, self.intervals, self.degrees)
