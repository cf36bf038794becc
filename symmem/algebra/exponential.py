"""Exponential polynomials: the exact field in which gains, weights and finite-n sums live.

An element is a rational function of the parameters, of an index such as n, and of the powers ``beta^n``.
Distinct bases are independent generators, so a bias correction cancels its gain by an ordinary gcd.
Summation and limits are in :mod:`symmem.algebra.sums`; writing back is in :mod:`symmem.algebra.factored`.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

from sympy import Add, Expr, Integer, Mul, Pow, Rational, Symbol, sqrt

from symmem.algebra.atoms import PAST, STEP, is_scalar
from symmem.algebra.rational import Quotient, RationalField
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
        if isinstance(expression, Symbol) and sqrt(expression) in self.constants:
            root = self.read(sqrt(expression))
            return None if root is None else root**2
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
        if isinstance(exponent, Integer):
            element = self.read(base)
            return None if element is None else element ** int(exponent)
        if _is_root(base, exponent) and sqrt(base) in self.constants:
            element = self.read(sqrt(base))
            return None if element is None else element ** int(exponent.p)
        slopes = linear_exponent(exponent, self.indices)
        if slopes is None:
            return None
        result = self.number(1)
        for factor in Mul.make_args(base):
            if isinstance(factor, Pow) and isinstance(factor.exp, Integer):
                inner = self._read_power(factor.base, factor.exp * exponent)
            elif decaying(factor) in self.bases:
                place = self.bases.index(decaying(factor))
                sign = 1 if decaying(factor) == factor else -1
                inner = self.read(factor)
                inner = None if inner is None else inner ** slopes[-1]
                for index, slope in zip(self.indices, slopes[:-1], strict=True):
                    power = self.rationals.generator(self.power_position(place, index)) ** (sign * slope)
                    inner = None if inner is None else inner * power
            else:
                return None
            if inner is None:
                return None
            result = result * inner
        return result


def _is_root(base: Expr, exponent: Expr) -> bool:
    """Whether ``base**exponent`` is an odd power of the square root of a symbol."""
    return isinstance(base, Symbol) and isinstance(exponent, Rational) and exponent.q == 2


def decaying(base: Expr) -> Expr:
    """The base of a generator: 1/2 for 2, since SymPy writes ``(1/2)**n`` as ``2**(-n)``."""
    return 1 / base if isinstance(base, Integer) and base > 1 else base


def linear_exponent(exponent: Expr, indices: Iterable[Symbol]) -> tuple[int, ...] | None:
    """``(a, c, ..., d)`` of the exponent ``a n + c s + ... + d`` with integers, or None."""
    slopes, rest = [], exponent.expand()
    for index in indices:
        slope = rest.coeff(index, 1)
        slopes.append(slope)
        rest = rest - slope * index
    slopes.append(rest)
    if not all(isinstance(slope, Integer) for slope in slopes):
        return None
    return tuple(int(slope) for slope in slopes)


def exponential_field(expressions: Iterable[Expr], indices: tuple[Symbol, ...] = INDICES) -> ExponentialField:
    """The smallest field that holds the scalars among ``expressions`` as far as they can be held."""
    constants: dict[Expr, None] = {}
    bases: dict[Expr, None] = {}
    seen: set[Expr] = set()
    pending = list(expressions)
    while pending:
        expression = pending.pop(0)
        if expression in seen or expression.is_Rational or expression in indices:
            continue
        seen.add(expression)
        if isinstance(expression, Symbol):
            if is_scalar(expression):
                constants[expression] = None
        elif isinstance(expression, Pow) and not isinstance(expression.exp, Integer):
            if linear_exponent(expression.exp, indices) is not None:
                for factor in Mul.make_args(expression.base):
                    base = factor.base if isinstance(factor, Pow) and factor.exp.is_Integer else factor
                    bases[decaying(base)] = None
                    pending.append(base)
            elif is_scalar(expression) and not expression.free_symbols & set(indices):
                root = sqrt(expression.base) if _is_root(expression.base, expression.exp) else expression
                constants[root] = None
            else:
                pending.extend(expression.args)
        elif isinstance(expression, (Add, Mul, Pow)) or not is_scalar(expression):
            pending.extend(expression.args)
        elif not expression.free_symbols & set(indices):
            constants[expression] = None
        else:
            pending.extend(expression.args)
    # A root is a generator in the place of its square.
    squares = {root.base for root in constants if isinstance(root, Pow) and _is_root(root.base, root.exp)}
    kept = [constant for constant in constants if constant not in squares]
    ordered = sorted(kept, key=lambda constant: constant.sort_key())
    return ExponentialField(tuple(ordered), tuple(sorted(bases, key=lambda base: base.sort_key())), indices)
