"""Is an expression zero?  A normal form for expressions with roots, powers of n and functions.

Every root, every power with a symbolic exponent and every function becomes a generator; what is left is a rational
function of generators, in which the relations of the roots, R^q = base, are used up.  A form that comes out as 0 is
zero wherever all bases are positive; another form may still be zero, and nothing is claimed of it.

    sqrt(v/(1 - b)) - sqrt(v)/sqrt(1 - b)  ->  R_v/R_{1-b} - R_v/R_{1-b}  ->  0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sympy import (
    Add,
    Dummy,
    Expr,
    Integer,
    Mul,
    Poly,
    Pow,
    Rational,
    S,
    Symbol,
    expand,
    factor_list,
    fraction,
    together,
)

Sample = Mapping[Symbol, Rational]
"""Numbers at which a factor under a root shows its sign."""


@dataclass
class Normal:
    """The generators of one comparison; expressions that are read with one Normal can be compared.

    ``signed`` are symbols that may have either sign: what contains one is not taken out of a root.
    """

    sample: Sample
    signed: set[Symbol] = field(default_factory=set)
    generators: dict[object, Symbol] = field(default_factory=dict)
    roots: dict[Symbol, tuple[int, Expr]] = field(default_factory=dict)

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
        key = (expression.func, tuple(self._canonical(part) for part in expression.args))
        return self._generator(key)

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
        """``base^(p/q)`` as powers of the q-th roots of its irreducible factors, each taken with its positive sign."""
        result: Expr = S.One
        for part, sign in zip(fraction(together(base)), (1, -1), strict=True):
            content, factors = factor_list(self._reduced(expand(part)))
            signed = Integer(1)
            for factor, multiplicity in factors:
                if not self.signed.isdisjoint(self.written(factor).free_symbols):
                    result *= self._one_root(expand(factor**multiplicity), exponent.q) ** (exponent.p * sign)
                    continue
                if self._is_negative(factor):
                    factor, signed = -factor, signed * (-1) ** multiplicity
                result *= self._one_root(expand(factor), exponent.q) ** (exponent.p * multiplicity * sign)
            result *= self._number_root(content * signed, exponent.q) ** (exponent.p * sign)
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

    def _is_negative(self, factor: Expr) -> bool:
        value = self.written(factor).xreplace(dict(self.sample))
        return bool(value.is_number and value.is_real and value < 0)

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
