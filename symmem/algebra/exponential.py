"""Exponential polynomials: the exact field in which gains, weights and finite-n sums live.

An element is a rational function of the parameters, of an index such as n, and of the powers ``beta^n``.
Distinct bases are independent generators, so a bias correction cancels its gain by an ordinary gcd.
Summation and limits are in :mod:`symmem.algebra.sums`; writing back is in :mod:`symmem.algebra.factored`.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from math import lcm

from sympy import Add, Expr, Integer, Mul, Pow, Rational, S, Symbol

from symmem.algebra.atoms import PAST, STEP, is_scalar
from symmem.algebra.every import every
from symmem.algebra.heads import HEADS, labels_of
from symmem.algebra.powers import (
    above_one,
    common_powers,
    decaying,
    is_power_of_number,
    is_root,
    linear_exponent,
    root_degree,
)
from symmem.algebra.rational import Quotient, RationalField, product_of
from symmem.records import record

INDICES = (STEP, PAST)


@record(frozen=True)
class ExponentialField:
    """``Q(constants)(n, s, base^n, base^s, ...)``.

    ``constants`` are the generators free of the indices: parameters, and scalars such as ``sqrt(eps)`` that
    are not rational in them.  ``bases`` are what is raised to an index.
    """

    constants: tuple[Expr, ...]
    bases: tuple[Expr, ...]
    indices: tuple[Symbol, ...] = INDICES

    @cached_property
    def rationals(self) -> RationalField:
        """The field of rational functions in which the elements are held."""
        size = len(self.indices) * (1 + len(self.bases)) + len(self.constants)
        return RationalField(tuple(f"g{position}" for position in range(size)))

    @cached_property
    def _known(self) -> dict[Expr, Quotient | None]:
        return {}

    @cached_property
    def _roots(self) -> dict[Expr, int]:
        """``{eps: 4}`` where ``eps**(1/4)`` is a generator."""
        return {root.base: int(root.exp.q) for root in self.constants if is_root(root)}

    def index_position(self, index: Symbol) -> int:
        """Which generator is this index."""
        return self.indices.index(index)

    def power_position(self, base: int, index: Symbol) -> int:
        """The position of the generator ``bases[base] ** index``."""
        return len(self.indices) * (1 + base) + self.index_position(index)

    def power_positions(self, index: Symbol) -> tuple[int, ...]:
        """Which generators are powers ``base^index`` of this index."""
        return tuple(self.power_position(base, index) for base in range(len(self.bases)))

    def positions(self, index: Symbol) -> tuple[int, ...]:
        """All generators that depend on ``index``."""
        return (self.index_position(index), *self.power_positions(index))

    def meaning(self, position: int, exponent: int = 1) -> Expr:
        """The SymPy expression that the generator at ``position``, to the given power, stands for."""
        count = len(self.indices)
        if position < count:
            return Pow(self.indices[position], exponent)
        base, index = divmod(position - count, count)
        if base < len(self.bases):
            # Not Pow(beta**n, 2): SymPy would ask first whether it may multiply the exponents.
            return Pow(self.bases[base], exponent * self.indices[index])
        return Pow(self.constants[position - count * (1 + len(self.bases))], exponent)

    def number(self, value: int) -> Quotient:
        """An integer as an element."""
        return self.rationals.number(value)

    def fraction(self, value: Fraction) -> Quotient:
        """A rational number as an element."""
        return self.rationals.number(value)

    def read(self, expression: Expr) -> Quotient | None:
        """The element equal to ``expression``, or None where it is not in the field."""
        if expression not in self._known:
            self._known[expression] = self._read(expression)
        return self._known[expression]

    def remember(self, expression: Expr, element: Quotient) -> None:
        """An element that was written as this expression: nobody has to read it again."""
        self._known[expression] = element

    def _read(self, expression: Expr) -> Quotient | None:
        if isinstance(expression, Rational):
            return self.rationals.number(Fraction(int(expression.p), int(expression.q)))
        if expression in self.constants:
            position = len(self.indices) * (1 + len(self.bases)) + self.constants.index(expression)
            return self.rationals.generator(position)
        if expression in self.indices:
            return self.rationals.generator(self.index_position(expression))
        if expression in self._roots:
            return self._read_power(expression, S.One)
        if isinstance(expression, Pow):
            return self._read_power(expression.base, expression.exp)
        if isinstance(expression, (Add, Mul)):
            elements = [self.read(argument) for argument in expression.args]
            result = self.number(0 if isinstance(expression, Add) else 1)
            for element in elements:
                if element is None:
                    return None
                result = result + element if isinstance(expression, Add) else result * element
            return result
        return None

    def _read_power(self, base: Expr, exponent: Expr) -> Quotient | None:
        """``base**exponent``: an integer power, an odd power of a root, or one that is linear in the indices.

        In the field of ``beta**n`` the generators are n, s, beta^n, beta^s, beta, and ``beta**(n + 1)`` is the product
        of two of them, ``beta^n`` and ``beta``:

            >>> from sympy import symbols
            >>> beta, n = symbols("beta n")
            >>> field = exponential_field([beta**n])
            >>> field.read(beta**(n + 1)) == field.read(beta**n) * field.read(beta)
            True
        """
        if base in self._roots and isinstance(exponent * self._roots[base], Integer):
            degree = self._roots[base]
            element = self.read(Pow(base, Rational(1, degree)))
            return None if element is None else element ** int(exponent * degree)
        if isinstance(exponent, Integer):
            element = self.read(base)
            return None if element is None else element ** int(exponent)
        slopes = linear_exponent(exponent, self.indices)
        if slopes is None:
            return self._read_power_of_number(base, exponent)
        factors = every(self._read_factor(factor, exponent, slopes) for factor in Mul.make_args(base))
        return None if factors is None else product_of(factors)

    def _read_power_of_number(self, base: Expr, exponent: Expr) -> Quotient | None:
        """``2**(-a - n/2)``, into which SymPy draws ``2**(-a)`` and ``sqrt(2)**(-n)`` together, factor by factor."""
        if not isinstance(base, Rational) or base <= 0:
            return None
        if isinstance(exponent, Rational):
            root = Pow(base, exponent)
            return self.read(root) if root in self.constants or not isinstance(root, Pow) else None
        if isinstance(exponent, Add):
            factors = every(self._read_power(base, term) for term in exponent.args)
            return None if factors is None else product_of(factors)
        degree = root_degree(exponent, self.indices)
        slopes = linear_exponent(degree * exponent, self.indices)
        if degree > 1 and slopes is not None:
            return self._read_factor(Pow(base, Rational(1, degree)), degree * exponent, slopes)
        base, exponent = above_one(base, exponent)
        for constant in filter(is_power_of_number, self.constants):
            times = exponent / constant.exp
            if constant.base == base and isinstance(times, Integer):
                generator = self.read(constant)
                return None if generator is None else generator ** int(times)
        return None

    def _read_factor(self, factor: Expr, exponent: Expr, slopes: tuple[int, ...]) -> Quotient | None:
        """``factor**exponent`` for the exponent ``a n + c s + d``: generators to the powers a, c, and ``factor**d``."""
        if isinstance(factor, Pow) and isinstance(factor.exp, Integer):
            return self._read_power(factor.base, factor.exp * exponent)
        base, constant = decaying(factor), self.read(factor)
        if base not in self.bases or constant is None:
            return None
        *rates, offset = slopes
        # 2**n is the generator (1/2)**n to the power -1.
        sign = 1 if base == factor else -1
        result = constant**offset
        for index, rate in zip(self.indices, rates, strict=True):
            position = self.power_position(self.bases.index(base), index)
            result = result * self.rationals.generator(position) ** (sign * rate)
        return result


def exponential_field(expressions: Iterable[Expr], indices: tuple[Symbol, ...] = INDICES) -> ExponentialField:
    """The smallest field that holds the scalars among ``expressions`` as far as they can be held.

    >>> from sympy import sqrt, symbols
    >>> beta, eps, n = symbols("beta eps n")
    >>> field = exponential_field([(1 - beta) / (1 - beta ** (n + 1)), sqrt(eps)])
    >>> field.constants, field.bases
    ((beta, sqrt(eps)), (beta,))
    """
    constants: set[Expr] = set()
    roots: dict[Expr, int] = {}
    numbers: set[tuple[Expr, Expr]] = set()
    bases: set[Expr] = set()
    seen: set[Expr] = set()
    pending = list(expressions)
    while pending:
        expression = pending.pop()
        if expression in seen or expression.is_Rational or expression in indices:
            continue
        seen.add(expression)
        raised = _raised_to_an_index(expression, indices)
        if raised:
            bases |= {decaying(base) for base in raised}
            pending.extend(raised)
        elif not _is_constant_generator(expression, indices):
            pending.extend(() if _has_labels(expression) else expression.args)
        elif is_power_of_number(expression):
            numbers |= {above_one(expression.base, term) for term in Add.make_args(expression.exp)}
        elif is_root(expression):
            roots[expression.base] = lcm(roots.get(expression.base, 1), int(expression.exp.q))
        else:
            constants.add(expression)
    # A root is a generator in the place of its powers, sqrt(eps) in that of eps.
    found = {Pow(base, Rational(1, degree)) for base, degree in roots.items()}
    found |= common_powers(numbers)
    return ExponentialField(_ordered(constants - {*roots} | found), _ordered(bases), indices)


def _has_labels(expression: Expr) -> bool:
    """Whether it binds an index or chooses by a condition: nothing inside is a number of the field."""
    head = HEADS.of(expression)
    return head is not None and bool(labels_of(expression, head))


def _raised_to_an_index(expression: Expr, indices: tuple[Symbol, ...]) -> list[Expr]:
    """The bases p, q of ``(p q)**(a n + c s + d)``; none where the expression is not of this form, as ``n**n``."""
    if not isinstance(expression, Pow) or isinstance(expression.exp, Integer):
        return []
    if expression.base.free_symbols & set(indices):
        return []
    if linear_exponent(expression.exp, indices) is None:
        return []
    factors = Mul.make_args(expression.base)
    return [f.base if isinstance(f, Pow) and f.exp.is_Integer else f for f in factors]


def _is_constant_generator(expression: Expr, indices: tuple[Symbol, ...]) -> bool:
    """Whether it is a parameter, or a scalar free of the indices that is not rational in its parts, as exp(eps)."""
    if isinstance(expression, (Add, Mul)) or (isinstance(expression, Pow) and expression.exp.is_Integer):
        return False
    return is_scalar(expression) and not expression.free_symbols & set(indices)


def _ordered(expressions: Iterable[Expr]) -> tuple[Expr, ...]:
    return tuple(sorted(expressions, key=lambda expression: expression.sort_key()))
