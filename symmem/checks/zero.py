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
    expand,
    factor_list,
    fraction,
    together,
)
from sympy.concrete.expr_with_limits import ExprWithLimits

from symmem.algebra.atoms import STEP
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
        """The quotient of two expressions in lowest terms, in generators."""
        up, down = (fraction(together(self.read(part))) for part in (above, below))
        quotient = self._reduced(expand(up[0] * down[1])) / self._reduced(expand(up[1] * down[0]))
        return together(quotient).cancel()

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
        head = HEADS.of(expression)
        if len(parts) == 1 and head is not None and head.degree is not None:
            factor, rest = self._positive_factor(parts[0])
            return factor**head.degree * self._generator((expression.func, (rest,)))
        return self._generator((expression.func, parts))

    def _positive_factor(self, part: Expr) -> tuple[Expr, Expr]:
        """``(c, v)`` with ``part = c v`` and c > 0 the same at every step and every entry: f(c v) = c^degree f(v)."""
        taken = S.One
        for side, power in zip(fraction(part), (1, -1), strict=True):
            content, factors = factor_list(side)
            taken *= abs(content) ** power
            for factor, multiplicity in factors:
                written = self.written(factor)
                if not written.free_symbols <= self.constants:
                    continue
                for signed in (factor, -factor):
                    if is_positive(self.written(signed), self.ranges):
                        taken *= signed ** (power * multiplicity)
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
