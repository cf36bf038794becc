"""SymPy expression -> formula tree: what a mathematician would write.

The first half of the notation room; text.py and latex.py are the second.  Structure only: no call of
factor, together or simplify, so that what is shown is what is held, and reading takes milliseconds.

    sums       a positive term leads; constants before transients; 1 - beta, but 2 n + 1
    products   numbers, h, parameters, sums, then entrywise vectors, then operators; minus signs in front
    fractions  negative powers below; scalar and entrywise fraction apart where one would be unreadable
    operators  D2L(grad) is half the gradient of |grad L|^2, total(grad**2) is |grad L|^2, and so on
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sympy import Abs, Add, Expr, Float, Function, Mul, Pow, Rational, S, Symbol
from sympy import Sum as SympySum
from sympy.core.function import Application, AppliedUndef

from symmem.algebra.atoms import (
    AGO,
    GRAD,
    LOSS,
    PAST,
    STEP,
    TOTAL,
    Kind,
    contraction_order,
    is_contraction,
    is_scalar,
    kind,
    opaque_parts,
    split_scalar,
)
from symmem.algebra.norms import NormShape, gradient_shape, total_shape
from symmem.notation.decimals import decimal_formula
from symmem.notation.factors import Factor, Factors
from symmem.notation.formula import (
    Absolute,
    Atom,
    BigSum,
    Call,
    Derivative,
    Directional,
    Formula,
    Gradient,
    Inner,
    Literal,
    Norm,
    Number,
    Power,
    Root,
    Sum,
    Term,
    Total,
    negated,
)
from symmem.notation.ordering import Order, Placed, is_negative, powers
from symmem.notation.symbols import Functions

HESSIAN = Function("D2L")


def read(expression: Expr, names: Mapping[str, str], functions: Functions) -> Formula:
    """The formula of an expression; `names` (parameter -> LaTeX) gives the order of the parameters."""
    bound = {variable for found in expression.atoms(SympySum) for variable in found.variables}
    positions = {name: position for position, name in enumerate(names)}
    return _Reader(Order(positions, frozenset(bound | {STEP, PAST, AGO})), functions).read(expression)


def _lead(terms: list[Term], places: list[Placed]) -> list[Term]:
    """A positive term first, if one has the same power of h as the first."""
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


@dataclass(frozen=True)
class _Reader:
    order: Order
    functions: Functions
    plain: bool = False
    """Inside an operator a Hessian stays a Hessian: (nabla^2 L)^2 grad, not nabla^2 L of a gradient."""

    def read(self, expression: Expr) -> Formula:
        negative, formula = self.signed(expression)
        return negated(formula) if negative else formula

    def signed(self, expression: Expr) -> tuple[bool, Formula]:
        """`(negative, formula)` with the sign taken out in front."""
        if isinstance(expression, Add):
            return self._sum(expression, flip=False)
        if expression == 0:
            return False, Number(0)
        return self._product(expression)

    # sums

    def _sum(self, expression: Add, flip: bool, minus: bool = False) -> tuple[bool, Formula]:
        """`(flipped, sum)`: the terms in order, a positive one first.

        With `flip` the sign of all terms may be changed: when all are negative, or to write 1 - beta for
        beta - 1; where a minus stands in front, also when only transients are positive.
        """
        places = self.order.terms(expression)
        terms = [Term(*self.signed(place.term)) for place in places]
        constant = [t for t, p in zip(terms, places, strict=True) if p.transient == places[0].transient]
        others = [place for place in places if not place.term.is_Number]
        below_zero = any(place.term.is_Number and is_negative(place.term) for place in places)
        complement = below_zero and (len(others) == 1 or all(place.transient for place in others))
        flipped = flip and (
            all(term.negative for term in terms)
            or (complement and not self.order.is_index(expression))
            or (minus and all(term.negative for term in constant))
        )
        if flipped:
            terms = [Term(not term.negative, term.body) for term in terms]
        return flipped, Sum(tuple(_flat(_lead(terms, places))))

    # products

    def _product(self, expression: Expr) -> tuple[bool, Formula]:
        factors = Factors()
        # Sums come last: whether a sum changes its sign depends on the sign of the rest.
        pending = sorted(powers(expression), key=lambda power: isinstance(power[0], Add))
        while pending:
            base, exponent = pending.pop(0)
            if base.is_Rational and exponent == 1:
                factors.times(base)
            elif base.is_Float and exponent == 1:
                factors.negative ^= bool(base.is_negative)
                factors.scalars.append(Factor((-1,), decimal_formula(abs(base)), base))
            elif isinstance(base, AppliedUndef) and exponent == 1:
                scalar, formula = self._operator(base)
                pending = [*(power for power in powers(scalar) if power[0] != 1), *pending]
                self._file(factors, base, formula)
            else:
                self._file_power(factors, base, exponent)
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
            flipped, shown = self._sum(
                base, flip=True, minus=factors.negative and not below and exponent == 1
            )
            factors.negative ^= flipped and bool(exponent.is_odd)
        else:
            compound = isinstance(base, (Add, Mul, Pow, AppliedUndef)) or base.is_Rational
            shown = self.read(base) if compound else self._single(base)
        formula = self._power(base, shown, exponent)
        if not below and (isinstance(base, SympySum) or kind(base) is Kind.TENSOR):
            factors.operators.append(formula)
        elif is_scalar(base) and base != LOSS and not base.has(TOTAL):
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
            return Absolute(self.read(expression.args[0]))
        if isinstance(expression, SympySum):
            body = self.read(expression.function)
            for index, lower, upper in expression.limits:
                body = BigSum(Atom(index.name), self.read(lower), self.read(upper), body)
            return body
        if isinstance(expression, Application):
            return Call(expression.func.__name__, tuple(self.read(argument) for argument in expression.args))
        if isinstance(expression, Float):
            return decimal_formula(expression)
        return Literal(str(expression))

    # operators: each is linear, so the scalars of its slots are written in front

    def _slot(self, slot: Expr) -> tuple[Expr, Formula]:
        """`(scalar, formula)` of a slot in which the operator is linear."""
        scalar, vector = split_scalar(slot)
        if vector == 1:
            scalar, vector = S.One, slot
        inside = replace(self, plain=True)
        if isinstance(vector, AppliedUndef):
            factor, formula = inside._operator(vector)
            return scalar * factor, formula
        if isinstance(vector, Add):
            flipped, formula = inside._sum(vector, flip=True)
        else:
            flipped, formula = inside.signed(vector)
        return (-scalar if flipped else scalar), formula

    def _operator(self, atom: AppliedUndef) -> tuple[Expr, Formula]:
        """`(scalar, formula)` with atom = scalar * formula."""
        if atom.func == TOTAL:
            return self._total(atom.args[0])
        if contraction_order(atom) == 2:
            return self._hessian(atom.args[0])
        if is_contraction(atom):
            scalars, slots = zip(*map(self._slot, atom.args), strict=True)
            return Mul(*scalars), Derivative("loss", contraction_order(atom), None, slots)
        name, point, directions = opaque_parts(atom)
        if not directions:
            return S.One, Call(name, (replace(self, plain=True).read(point),))
        scalars, slots = zip(*map(self._slot, directions), strict=True)
        at = replace(self, plain=True).read(point)
        if self.functions.get(name, ("", None))[1] is None:
            return Mul(*scalars), Directional(name, at, slots)
        return Mul(*scalars), Derivative(name, len(slots) + 1, at, slots)

    def _hessian(self, direction: Expr) -> tuple[Expr, Formula]:
        """D2L of a direction: the gradient of a named norm, a sum of such, or the Hessian applied."""
        scalar, vector = split_scalar(direction)
        if not self.plain:
            named = gradient_shape(vector)
            if named is not None:
                return scalar * named[0], Gradient(self._norm(named[1]))
            if isinstance(vector, Add) and self._splits(vector):
                parts = Add(*(Mul(c, HESSIAN(v)) for c, v in map(split_scalar, vector.args)))
                flipped, formula = self._sum(parts, flip=True)
                return (-scalar if flipped else scalar), formula
        repeat = 1
        while contraction_order(vector) == 2:
            factor, vector = split_scalar(vector.args[0])
            scalar, repeat = scalar * factor, repeat + 1
        factor, slot = self._slot(vector)
        return scalar * factor, Derivative("loss", 2, None, (slot,), repeat)

    def _splits(self, direction: Add) -> bool:
        """Whether the Hessian of a sum is written by terms: named norms, one at least, and plain vectors."""
        vectors = [split_scalar(term)[1] for term in direction.args]
        named = [gradient_shape(vector) is not None for vector in vectors]
        return any(named) and all(n or v.is_Symbol for n, v in zip(named, vectors, strict=True))

    def _norm(self, shape: NormShape) -> Formula:
        inside = replace(self, plain=True)
        norm = Norm(inside.read(shape.vector), tuple(inside.read(part) for part in shape.index))
        return norm if shape.power == 1 else Power(norm, Number(shape.power))

    def _total(self, summand: Expr) -> tuple[Expr, Formula]:
        """The sum of the entries: a norm, an inner product, a contracted tensor, or a plain sum."""
        scalar, vector = split_scalar(summand)
        shape = total_shape(vector)
        if shape is not None:
            return scalar, self._norm(shape)
        inside = replace(self, plain=True)
        pair = sorted(
            Mul.make_args(vector), key=lambda part: (kind(part) is Kind.TENSOR, self.order.vector(part))
        )
        if len(pair) == 2 and all(part.is_Symbol or isinstance(part, AppliedUndef) for part in pair):
            (left_scalar, left), (right_scalar, right) = map(self._slot, pair)
            scalar *= left_scalar * right_scalar
            if isinstance(right, Derivative) and right.field == "loss" and right.order > 2:
                slots = (left, *right.slots)
                return scalar, Derivative(right.field, right.order, right.point, slots, right.repeat)
            return scalar, Inner(left, right)
        if vector == 1:
            return S.One, Total(inside.read(summand))
        factor, body = self._slot(vector)
        return scalar * factor, Total(body)
