"""SymPy expression -> formula tree: what a mathematician would write.

The first half of the notation room; text.py and latex.py are the second.  Structure only: no call of
factor, together or simplify, so that what is shown is what is held, and reading takes milliseconds.

    sums       a positive term leads; constants before transients; 1 - beta, but 2 n + 1
    products   numbers, h, parameters, sums, then entrywise vectors, then operators; minus signs in front
    fractions  negative powers below; scalar and entrywise fraction apart where one would be unreadable
    operators  D2L(grad) is half the gradient of |grad L|^2, total(grad**2) is |grad L|^2, and so on
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from sympy import Abs, Add, And, Expr, Float, Max, Mul, Pow, Rational, S, Symbol
from sympy import Product as SympyProduct
from sympy import Sum as SympySum
from sympy.core.function import Application, AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from symmem.algebra.atoms import (
    AGO,
    GRAD,
    PAST,
    STEP,
    Kind,
    is_scalar,
    kind,
    moves_with_theta,
)
from symmem.algebra.ranges import bounds
from symmem.algebra.tensor_heads import DOT
from symmem.algebra.where import where
from symmem.notation.decimals import decimal_formula, is_typed, number_formula
from symmem.notation.factors import Factor, Factors
from symmem.notation.formula import (
    Absolute,
    Atom,
    BigSum,
    Call,
    Comparison,
    Conditions,
    Formula,
    Number,
    Power,
    Root,
    Sum,
    Term,
    Verbatim,
    negated,
)
from symmem.notation.operators import OperatorReader
from symmem.notation.ordering import Placed, TermOrder, is_negative, powers
from symmem.notation.symbols import Functions, Names
from symmem.work import checkpoint


def read(expression: Expr, names: Names, functions: Functions) -> Formula:
    """The formula of an expression; `names` (parameter -> LaTeX) gives the order of the parameters."""
    bound = {index for found in expression.atoms(SympySum, SympyProduct) for index in found.variables}
    return _reader(tuple(names), frozenset(bound), tuple(functions.items())).read(expression)


@lru_cache(maxsize=8)
def _reader(
    names: tuple[str, ...],
    bound: frozenset[Symbol],
    functions: tuple[tuple[str, tuple[str, str | None]], ...],
) -> _Reader:
    positions = {name: position for position, name in enumerate(names)}
    return _Reader(TermOrder(positions, bound | {STEP, PAST, AGO}), dict(functions))


def _is_complement(places: list[Placed]) -> bool:
    """A negative number and one other term, or transients alone: beta - 1, beta^n - 1."""
    others = [place for place in places if not place.term.is_Number]
    below_zero = any(place.term.is_Number and is_negative(place.term) for place in places)
    return below_zero and (len(others) == 1 or all(place.transient for place in others))


def _is_negative_but_for_transients(terms: list[Term], places: list[Placed]) -> bool:
    """The terms of the first one's kind, constants where there are some, are all negative."""
    first = places[0].transient
    return all(term.negative for term, place in zip(terms, places, strict=True) if place.transient == first)


def _lead(terms: list[Term], places: list[Placed]) -> list[Term]:
    """A positive term first, if one has the same power of h as the first; of a polynomial in N all positive ones."""
    if places[0].counted:
        return sorted(terms, key=lambda term: term.negative) if terms[0].negative else terms
    for position, term in enumerate(terms):
        if not term.negative and places[position].degree == places[0].degree:
            return [term, *terms[:position], *terms[position + 1 :]]
    return terms


def _flat(terms: list[Term]) -> Iterator[Term]:
    """The terms without brackets around a sum that has no factor."""
    for term in terms:
        if isinstance(term.body, Sum):
            yield from (Term(inner.negative ^ term.negative, inner.body) for inner in term.body.terms)
        else:
            yield term


def _file_decimals(factors: Factors, decimals: list[Float]) -> None:
    """A decimal and the number beside it are one decimal, where that is one: 0.45, and not 0.9/2."""
    whole = Mul(factors.number, *(Rational(str(each)) for each in decimals))
    if decimals and factors.number != 1 and is_typed(whole):
        factors.number = S.One
        factors.scalars.append(Factor((-1,), number_formula(whole), S.NaN))
    else:
        factors.scalars += [Factor((-1,), decimal_formula(each), each) for each in decimals]


class _Reader(OperatorReader):
    def read(self, expression: Expr) -> Formula:
        negative, formula = self.signed(expression)
        return negated(formula) if negative else formula

    def signed(self, expression: Expr) -> tuple[bool, Formula]:
        """`(negative, formula)` with the sign taken out in front."""
        checkpoint("the layout of the formulas")
        if isinstance(expression, Add):
            return self.sum(expression, flip=False)
        if expression == 0:
            return False, Number(0)
        key = (expression, self.plain, False, False)
        if key not in self.known:
            self.known[key] = self._product(expression)
        return self.known[key]

    # sums

    def sum(self, expression: Add, flip: bool, minus: bool = False) -> tuple[bool, Formula]:
        """`(flipped, sum)`: the terms in order, a positive one first.

        With `flip` the sign of all terms may be changed, because whoever asks can write a minus in front:

            -a - b              -> -(a + b)                    all are negative
            beta - 1            -> -(1 - beta)                 the complement of a number is written that way
            1 - N               -> -(N - 1)                    there are two batches at least
            -(beta^n - c), c>0  -> c - beta^n, with `minus`    a minus stands in front, and only transients are positive
        """
        key = (expression, self.plain, flip, minus)
        if key not in self.known:
            self.known[key] = self._sum(expression, flip, minus)
        return self.known[key]

    def _sum(self, expression: Add, flip: bool, minus: bool) -> tuple[bool, Formula]:
        places = self.order.terms(expression)
        terms = [Term(*self.signed(place.term)) for place in places]
        flipped = flip and (
            all(term.negative for term in terms)
            or (places[0].counted and terms[0].negative)
            or (_is_complement(places) and not self.order.is_index(expression))
            or (minus and _is_negative_but_for_transients(terms, places))
        )
        if flipped:
            terms = [Term(not term.negative, term.body) for term in terms]
        return flipped, Sum(tuple(_flat(_lead(terms, places))))

    # products

    def _product(self, expression: Expr) -> tuple[bool, Formula]:
        factors = Factors()
        decimals: list[Float] = []
        # What an operator has in front of it joins the other factors first: eps D[eps v] has eps^2, h D[v/h] has no h.
        joined: dict[Expr, Expr] = {}
        pending = list(powers(expression))
        while pending:
            base, exponent = pending.pop(0)
            if base.is_Rational and exponent == 1:
                factors.times(base)
            elif base.is_Float and exponent == 1:
                factors.negative ^= bool(base.is_negative)
                decimals.append(abs(base))
            elif isinstance(base, AppliedUndef) and exponent == 1:
                scalar, formula = self.operator(base)
                pending = [*(power for power in powers(scalar) if power[0] != 1), *pending]
                self._file(factors, base, formula)
            else:
                joined[base] = joined.get(base, S.Zero) + exponent
        # Sums come last: whether a sum changes its sign depends on the sign of the rest.
        for base, exponent in sorted(joined.items(), key=lambda power: isinstance(power[0], Add)):
            if exponent != 0:
                self._file_power(factors, base, exponent)
        _file_decimals(factors, decimals)
        return factors.negative, factors.formula()

    def _file(self, factors: Factors, base: Expr, formula: Formula) -> None:
        """File an operator, a norm or an opaque function."""
        if is_scalar(base):
            factors.vectors.append(Factor(self.order.vector(base), formula, base))
        else:
            factors.operators.append(formula)

    def _file_power(self, factors: Factors, base: Expr, exponent: Expr) -> None:
        below = is_negative(exponent)
        exponent = -exponent if below else exponent
        if isinstance(base, Pow) and base.base == GRAD and base.exp.is_Integer and base.exp.is_even:
            # (grad^2)^(1/2) is |grad|: true for real vectors, and how a person writes it.
            base, exponent = Abs(GRAD), base.exp * exponent
        if isinstance(base, Add) and exponent.is_Integer:
            flipped, shown = self.sum(base, flip=True, minus=factors.negative and not below and exponent == 1)
            factors.negative ^= flipped and bool(exponent.is_odd)
        else:
            compound = isinstance(base, (Add, Mul, Pow, AppliedUndef)) or base.is_Rational
            shown = self.read(base) if compound else self._single(base)
        if base.func == DOT and base.args[0] == base.args[1]:
            # The square of a norm: (|x|^2)^(1/2) is |x|.
            shown, exponent = self.tensor_norm(base), 2 * exponent
        formula = self._power(base, shown, exponent)
        if not below and (isinstance(base, SympySum) or kind(base) is Kind.TENSOR):
            factors.operators.append(formula)
        elif is_scalar(base) and not moves_with_theta(base):
            target = factors.scalars_below if below else factors.scalars
            target.append(
                Factor(self.order.scalar(base, exponent), formula, base if exponent == 1 else S.NaN)
            )
        else:
            target = factors.vectors_below if below else factors.vectors
            target.append(Factor(self.order.vector(base), formula, base))

    def _power(self, base: Expr, shown: Formula, exponent: Expr) -> Formula:
        if exponent == 1:
            return shown
        if exponent == Rational(1, 2):
            return Root(shown)
        if base == GRAD and exponent.is_Integer and exponent.is_even:
            shown = Absolute(shown)
        return Power(shown, self.read(exponent))

    def _single(self, expression: Expr) -> Formula:
        """What is neither sum nor product nor power."""
        if isinstance(expression, Symbol):
            return Atom(expression.name)
        if expression in (S.Infinity, S.Pi):
            return Atom(str(expression))
        if isinstance(expression, Abs):
            (inside,) = expression.args  # |-x| is |x|
            return Absolute(self.sum(inside, True)[1] if isinstance(inside, Add) else self.signed(inside)[1])
        if isinstance(expression, SympySum):
            body = self.read(expression.function)
            for index, lower, upper in expression.limits:
                body = BigSum(Atom(index.name), self.read(lower), self.read(upper), body)
            return body
        if isinstance(expression, SympyProduct):
            ((index, lower, upper),) = expression.limits
            ends = self.read(lower), self.read(upper)
            return BigSum(Atom(index.name), *ends, self.read(expression.function), True)
        if isinstance(expression, where):
            condition, *values = expression.args
            return Call("where", (self._condition(condition), *map(self.read, values)))
        if isinstance(expression, Max) and len(expression.args) == 2 and S.Zero in expression.args:
            (other,) = (each for each in expression.args if each != 0)
            if bounds(other, {}).is_nonnegative:  # a step is not below 0: max(0, min(1, n)) is min(1, n)
                return self.read(other)
        if isinstance(expression, Application):
            name = {"Min": "min", "Max": "max"}.get(expression.func.__name__, expression.func.__name__)
            return Call(name, tuple(self.read(argument) for argument in expression.args))
        if isinstance(expression, Float):
            return decimal_formula(expression)
        return Verbatim(str(expression))

    def _condition(self, condition: Boolean) -> Formula:
        if isinstance(condition, Relational):
            return Comparison(self.read(condition.lhs), condition.rel_op, self.read(condition.rhs))
        parts = tuple(self._condition(part) for part in condition.args)
        return Conditions("and" if isinstance(condition, And) else "or", parts)
