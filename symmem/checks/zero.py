"""Is an expression zero?  A normal form for expressions with roots, powers of n and functions.

Every root, every power with a symbolic exponent and every function becomes a generator; what is left is a rational
function of generators, in which the relations of the roots, R^q = base, are used up.  A form that comes out as 0 is
zero wherever both sides are real; another form may still be zero, and nothing is claimed of it.  A factor is taken out
of a root with the sign that its range proves, and stays inside where none is proved:

    sqrt(v/(1 - b)) - sqrt(v)/sqrt(1 - b)  ->  R_v/R_{1-b} - R_v/R_{1-b}  ->  0       for b in [0, 1)
    sqrt(c^2) - c  ->  R_{c^2} - c, not 0, for c in (-1, 1);  c - c = 0 for c in [0, 1)
    sign((1 - b) v) - sign(v)  ->  s_v - s_v  ->  0    for b in [0, 1): the sign has the degree 0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sympy import (
    Abs,
    Add,
    Dummy,
    Expr,
    Mul,
    Poly,
    Pow,
    Rational,
    S,
    Symbol,
    Tuple,
    default_sort_key,
    expand,
    factor_list,
    fraction,
    together,
)
from sympy.concrete.expr_with_limits import ExprWithLimits

from symmem.algebra.atoms import STEP
from symmem.algebra.head import Head
from symmem.algebra.heads import HEADS
from symmem.algebra.intervals import Interval
from symmem.algebra.signs import is_positive, sign_of


@dataclass
class Normal:
    """The generators of one comparison; expressions that are read with one Normal can be compared.

    ``ranges`` are those of its symbols; one without a range may have either sign.  The symbols that have one from the
    beginning are constants, with the step; others, that come later, are memories.
    """

    ranges: dict[Expr, Interval]
    generators: dict[object, Symbol] = field(default_factory=dict)
    roots: dict[Symbol, tuple[int, Expr]] = field(default_factory=dict)
    constants: frozenset[Expr] = frozenset()
    degrees: Mapping[str, Rational] = field(default_factory=dict)
    """Of the open functions that declare one."""

    def __post_init__(self) -> None:
        self.constants = frozenset({*self.ranges, STEP})

    def is_zero(self, expression: Expr) -> bool:
        """Whether the expression is zero, as far as the relations of its roots tell."""
        above = self.numerator(self.read(expression))
        return above == 0

    def numerator(self, read: Expr) -> Expr:
        """The numerator over a common denominator, with every root below its own degree."""
        return self._reduced(expand(fraction(together(read))[0]))

    def ratio(self, above: Expr, below: Expr) -> Expr:
        """The quotient of two expressions, in generators: the constant that it is, if it is one.

        Roots can hide it: with R^2 = 1 - b, ``R x + e`` is R times ``x + e R/(1 - b)``.  Two polynomials with a
        constant quotient have that of their leading coefficients, too.
        """
        up, down = (fraction(together(self.read(part))) for part in (above, below))
        left, right = self._reduced(expand(up[0] * down[1])), self._reduced(expand(up[1] * down[0]))
        quotient = together(left / right).cancel()
        moving = [symbol for symbol in left.free_symbols if not self.is_constant(symbol)]
        if right == 0 or not moving or all(self.is_constant(symbol) for symbol in quotient.free_symbols):
            return quotient
        moving.sort(key=default_sort_key)
        (exponents, first), theirs = Poly(left, *moving).terms()[0], dict(Poly(right, *moving).terms())
        return (first / theirs[exponents]).factor() if exponents in theirs else quotient

    def is_constant(self, symbol: Symbol) -> bool:
        """Whether a symbol, or a root, is the same at every step and every entry: of a base that is proved positive.

        ``sqrt(c^2)``, with c of either sign, is none: what it equals is another thing on either side.
        """
        if symbol not in self.roots:
            return symbol in self.constants and symbol != STEP
        base = self.written(self.roots[symbol][1])
        return base.free_symbols <= self.constants - {STEP} and is_positive(base, self.ranges)

    def read(self, expression: Expr) -> Expr:
        """The expression in generators."""
        if expression.is_Symbol or expression.is_Number:
            return expression
        if isinstance(expression, (Add, Mul)):
            return expression.func(*(self.read(part) for part in expression.args))
        if isinstance(expression, Pow):
            return self._power(self.read(expression.base), expression.exp)
        if isinstance(expression, Abs):
            return self._root(self.read(expression.args[0]) ** 2, S.Half)
        if isinstance(
            expression, ExprWithLimits
        ):  # a product over steps: its index and its ends stay what they are
            within = tuple(Tuple(at, *map(self._canonical, ends)) for at, *ends in expression.limits)
            return self._generator((expression.func, (self._canonical(expression.function), *within)))
        parts = tuple(self._canonical(part) for part in expression.args)
        head, degree = HEADS.of(expression), self.degree(expression)
        if head is not None and head.linear_from == 0 and head.operands is None:
            return self._multilinear(expression, head, parts)
        if len(parts) == 1 and degree is not None:
            factor, rest = self._factor(parts[0])
            return self._power(factor, degree) * self._generator((expression.func, (rest,)))
        return self._generator((expression.func, parts))

    def degree(self, expression: Expr) -> Rational | None:
        """p with ``f(c x) = c^p f(x)`` for c > 0: of a function of the language, or declared of an open one."""
        head = HEADS.of(expression)
        if head is None or head.degree is not None:
            return None if head is None else head.degree
        return self.degrees.get(head.name)

    def _multilinear(self, expression: Expr, head: Head, parts: tuple[Expr, ...]) -> Expr:
        """``f(c u, d v) = c d f(u, v)``, and ``f(v, u)`` where the head is symmetric."""
        factors, rests = zip(*(self._factor(part, signed=True) for part in parts), strict=True)
        if head.is_symmetric:
            rests = tuple(sorted(rests, key=default_sort_key))
        return Mul(*factors) * self._generator((expression.func, rests))

    def _factor(self, part: Expr, signed: bool = False) -> tuple[Expr, Expr]:
        """``(c, v)`` with ``part = c v``, c the same at every step and every entry, and c > 0 unless it is ``signed``:
        ``f(c v) = c^degree f(v)`` for c > 0, and ``c f(v)`` for every c where f is linear."""
        if part == 0:
            return S.One, part
        taken = S.One
        for side, power in zip(fraction(part), (1, -1), strict=True):
            content, factors = factor_list(side)
            taken *= (content if signed else abs(content)) ** power
            for factor, multiplicity in factors:
                written = self.written(factor)
                if not written.free_symbols <= self.constants:
                    continue
                for side_of_0 in (factor,) if signed else (factor, -factor):
                    if signed or is_positive(self.written(side_of_0), self.ranges):
                        taken *= side_of_0 ** (power * multiplicity)
        return taken, together(part / taken).cancel()

    def written(self, read: Expr) -> Expr:
        """Generators replaced by what they stand for."""
        meanings = {symbol: base ** Rational(1, degree) for symbol, (degree, base) in self.roots.items()}
        meanings |= {
            symbol: key[0](*key[1:]) if key[0] is Pow else key[0](*key[1])  # type: ignore[index]
            for key, symbol in self.generators.items()
            if symbol not in meanings
        }
        previous = None
        while previous != read:
            previous, read = read, read.xreplace(meanings)
        return read

    def _canonical(self, part: Expr) -> Expr:
        """One form for equal rational functions of the generators."""
        return together(self.read(part)).cancel()

    def _power(self, base: Expr, exponent: Expr) -> Expr:
        if exponent.is_Integer:
            return base**exponent
        if exponent.is_Rational:
            return self._root(base, exponent)
        whole, rest = S.Zero, S.Zero
        for term in Add.make_args(expand(exponent)):
            if term.is_Integer:
                whole += term
            else:
                rest += term
        number, core = rest.as_coeff_Mul()
        if number.is_Integer:  # beta^(2n) is the square of beta^n
            return base**whole * self._generator((Pow, self._canonical(base), core)) ** number
        return base**whole * self._generator((Pow, self._canonical(base), rest))

    def _root(self, base: Expr, exponent: Rational) -> Expr:
        """``base^(p/q)``: q-th roots of factors without a sign change, of squares, and of all that is left together."""
        result: Expr = S.One
        for part, side in zip(fraction(together(base)), (1, -1), strict=True):
            content, factors = factor_list(self._reduced(expand(part)))
            power, mixed = exponent.p * side, S.One
            for factor, multiplicity in factors:
                sign = sign_of(self.written(factor), self.ranges)
                if sign is None:  # x^3 under a root is x^2 x, and the root of x^2 is |x|
                    square = self._one_root(expand(factor**2), exponent.q)
                    result *= square ** (multiplicity // 2 * power)
                    mixed *= factor ** (multiplicity % 2)
                    continue
                direction = sign.direction or 1
                content *= direction**multiplicity
                result *= self._one_root(expand(direction * factor), exponent.q) ** (multiplicity * power)
            if mixed != 1:
                inside = expand(mixed if content > 0 else -mixed)
                result *= self._one_root(inside, exponent.q) ** power
                content = abs(content)
            result *= self._number_root(content, exponent.q) ** power
        return result

    def _number_root(self, number: Expr, degree: int) -> Expr:
        if number == 1:
            return S.One
        exact = Pow(number, Rational(1, degree))
        return exact if exact.is_Rational else self._one_root(number, degree)

    def _one_root(self, factor: Expr, degree: int) -> Expr:
        symbol = self._generator((Pow, factor, Rational(1, degree)))
        self.roots[symbol] = (degree, factor)
        return symbol

    def _generator(self, key: object) -> Symbol:
        if key not in self.generators:
            self.generators[key] = Dummy(f"x{len(self.generators)}")
        return self.generators[key]

    def _reduced(self, polynomial: Expr) -> Expr:
        """R^k with k at least the degree q is base^(k div q) R^(k mod q)."""
        for symbol, (degree, base) in reversed(self.roots.items()):
            if not polynomial.has(symbol):
                continue
            terms = Poly(polynomial, symbol).terms()
            polynomial = expand(
                Add(*(c * base ** (power // degree) * symbol ** (power % degree) for (power,), c in terms))
            )
        return polynomial
