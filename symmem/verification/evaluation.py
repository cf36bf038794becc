"""Numbers into formulas: walks a SymPy expression by the names of its atoms and nothing else.

This is how a derived formula becomes a vector that can be set beside brute force.  Scalars stand for
vectors wherever a vector is due, so that ``D2L(1)`` is the Hessian times (1, ..., 1).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import mpmath
from mpmath import mpf
from sympy import (
    Abs,
    Add,
    And,
    Expr,
    Float,
    Max,
    Min,
    Mul,
    NumberSymbol,
    Or,
    Pow,
    Product,
    Rational,
    S,
    Sum,
    Symbol,
)
from sympy.core.function import AppliedUndef

from symmem.verification import tensors
from symmem.verification.arithmetic import Value, entrywise, power, spread, usual_function
from symmem.verification.losses import Loss
from symmem.verification.tensors import Layouts
from symmem.verification.vectors import Number, Vector, VerificationError, real, vector

CONTRACTION = re.compile(r"D([1-9][0-9]*)L")
POTENTIAL = re.compile(r"(\w+)_potential")
KINKS: Mapping[str, Callable[..., mpf]] = {
    **{"max": max, "min": min},
    "clip": lambda x, low, high: min(max(x, low), high),
}
"""Functions that a declaration smooths for the theory: here they are themselves."""
GUARD_DIGITS = 10
QUIET_TERMS = 40
"""An infinite sum ends after so many negligible terms in a row: one alone may vanish by chance."""
MOST_TERMS = 400_000
MOST_REMEMBERED = 400_000

COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

VectorMap: TypeAlias = Callable[..., Vector]
"""``f(x, *directions)``: the vector function, or its derivative along the directions; a gradient may have a
``potential(x)``."""
Indices: TypeAlias = Mapping[str, int]


def evaluate(
    expression: Expr,
    values: Mapping[str, Number],
    vectors: Mapping[str, Sequence[Number]],
    loss: Loss | None = None,
    functions: Mapping[str, VectorMap] | None = None,
    *,
    layouts: Layouts | None = None,
    digits: int = 50,
) -> Any:
    """The value of the expression: a list of mpf when it is a vector, else an mpf.

    ``values`` are the scalars by name (parameters, lr, n), ``vectors`` holds theta and, if wanted, m1, ...;
    ``grad``, ``loss`` and ``DkL(...)`` come from ``loss`` at theta, ``grad`` unless it is given.
    ``functions[name](x, *directions)`` serves name, name_jvp, name_jvp2, ...  ``layouts`` are the shapes of the tensors
    that a vector holds one after another; a vector without one is one tensor.
    """
    with mpmath.workdps(digits + GUARD_DIGITS):
        names: dict[str, Value] = {name: real(number) for name, number in values.items()}
        names |= {name: vector(numbers) for name, numbers in vectors.items()}
        one = {name: ((len(value),),) for name, value in names.items() if isinstance(value, tuple)}
        shapes = {**one, **({"grad": one["theta"]} if "theta" in one else {}), **(layouts or {})}
        result = _Walk(names, loss, functions or {}, digits, shapes).value(expression, {})
    return list(result) if isinstance(result, tuple) else result


@dataclass
class _Walk:
    """One evaluation.  Results are remembered by subexpression and by the summation indices free in it."""

    names: dict[str, Value]
    loss: Loss | None
    functions: Mapping[str, VectorMap]
    digits: int
    layouts: Layouts
    free: dict[Expr, frozenset[str]] = field(default_factory=dict)
    known: dict[tuple[Any, ...], Value] = field(default_factory=dict)

    def value(self, expression: Expr, indices: Indices) -> Value:
        if not indices:
            key: tuple[Any, ...] = (expression,)
        else:
            used = self.free_names(expression)
            indices = {name: number for name, number in indices.items() if name in used}
            key = (expression, *sorted(indices.items()))
        if key not in self.known:
            if len(self.known) > MOST_REMEMBERED:
                self.known.clear()  # forgetting costs time, never correctness
            self.known[key] = self.compute(expression, indices)
        return self.known[key]

    def free_names(self, expression: Expr) -> frozenset[str]:
        """The names free in the expression.  SymPy's own attribute walks the whole tree every time."""
        if expression not in self.free:
            self.free[expression] = self.collect_names(expression)
        return self.free[expression]

    def collect_names(self, expression: Expr) -> frozenset[str]:
        if isinstance(expression, Symbol):
            return frozenset([expression.name])
        if not isinstance(expression, (Sum, Product)):
            return frozenset().union(*(self.free_names(part) for part in expression.args))
        names = self.free_names(expression.function)
        for index, lower, upper in expression.limits:
            names = (names - {index.name}) | self.free_names(lower) | self.free_names(upper)
        return names

    def compute(self, expression: Expr, indices: Indices) -> Value:
        if isinstance(expression, Symbol):
            return self.symbol(expression.name, indices)
        if isinstance(expression, Sum):
            return self.sum(expression.function, tuple(expression.limits), indices)
        if isinstance(expression, Product):
            return self.product(expression.function, expression.limits[0], indices)
        if expression.func.__name__ == "where":
            condition, value, otherwise = expression.args
            return self.value(value if self.holds(condition, indices) else otherwise, indices)
        if isinstance(expression, (Rational, Float, NumberSymbol)):
            return _constant(expression)
        parts = [self.value(part, indices) for part in expression.args]
        try:
            if isinstance(expression, AppliedUndef):
                return self.application(expression, parts)
            return _operation(expression, parts)
        except ZeroDivisionError as error:
            raise VerificationError(f"division by zero in {expression}") from error

    def symbol(self, name: str, indices: Indices) -> Value:
        if name in indices:
            return mpf(indices[name])
        if name not in self.names:
            if name == "grad" and self.loss is not None:
                self.names[name] = self.loss.gradient(self.theta())
            elif name == "loss" and self.loss is not None:
                self.names[name] = self.loss.value(self.theta())
            else:
                given = ", ".join(sorted(self.names)) or "none"
                raise VerificationError(f"no value for the symbol {name}: give it one (given: {given})")
        return self.names[name]

    def theta(self) -> Vector:
        theta = self.symbol("theta", {})
        if not isinstance(theta, tuple):
            raise VerificationError("theta must be given as a vector")
        return theta

    def dimension(self) -> int:
        lengths = {len(value) for value in self.names.values() if isinstance(value, tuple)}
        if len(lengths) != 1:
            raise VerificationError(f"give vectors of one length (given: {sorted(lengths) or 'none'})")
        return lengths.pop()

    def application(self, expression: AppliedUndef, parts: list[Value]) -> Value:
        """A contraction of the loss, ``total``, a function of tensors, or an opaque one; and their derivatives."""
        name = expression.func.__name__
        if name in KINKS and name not in self.functions:
            return entrywise(KINKS[name], *parts)
        if (
            name not in self.functions
            and (found := tensors.value_of(expression, parts, self.layouts)) is not None
        ):
            return found
        arguments = [spread(part, self.dimension()) for part in parts]
        if name == "total":
            return sum(arguments[0], mpf(0))
        match = CONTRACTION.fullmatch(name)
        if match:
            if self.loss is None or int(match.group(1)) != len(parts) + 1:
                raise VerificationError(f"{name} takes a loss and {int(match.group(1)) - 1} vectors")
            return self.loss.contraction(self.theta(), *arguments)
        match = POTENTIAL.fullmatch(name)
        if match and match.group(1) in self.functions:
            return _potential_of(self.functions[match.group(1)], name)(*arguments)
        match = tensors.DERIVATIVE.fullmatch(name)
        base, order = (match.group(1), int(match.group(2) or 1)) if match else (name, 0)
        if base not in self.functions or order != len(parts) - 1:
            raise VerificationError(f"no function for {name} with {len(parts)} arguments: give it one")
        return tuple(self.functions[base](*arguments))

    def sum(self, body: Expr, limits: tuple[Any, ...], indices: Indices) -> Value:
        """The last of the limits is the outermost, as in SymPy; an empty range gives 0."""
        if not limits:
            return self.value(body, indices)
        index, first, last = limits[-1]
        lower = _integer(self.value(first, indices), first)
        outer = dict(indices)

        def term(position: int) -> Value:
            return self.sum(body, limits[:-1], {**outer, index.name: position})

        if last is S.Infinity:
            return self.endless_sum(term, lower)
        total: Value = mpf(0)
        for position in range(lower, _integer(self.value(last, indices), last) + 1):
            total = entrywise(lambda x, y: x + y, total, term(position))
        return total

    def product(self, factor: Expr, limits: Any, indices: Indices) -> Value:
        """Factor by factor; 1 where the last index is below the first."""
        index, first, last = limits
        ends = [_integer(self.value(end, indices), end) for end in (first, last)]
        total: Value = mpf(1)
        for position in range(ends[0], ends[1] + 1):
            total = total * self.value(factor, {**indices, index.name: position})
        return total

    def holds(self, condition: Any, indices: Indices) -> bool:
        """Whether the condition of a branch holds."""
        if isinstance(condition, (And, Or)):
            together = all if isinstance(condition, And) else any
            return together(self.holds(part, indices) for part in condition.args)
        if condition in (S.true, S.false):
            return bool(condition)
        left, right = (self.value(side, indices) for side in condition.args)
        return bool(COMPARED[condition.rel_op](left, right))

    def endless_sum(self, term: Callable[[int], Value], lower: int) -> Value:
        """Until QUIET_TERMS in a row are below 10^-(digits + 5) of the sum: enough for geometric decay."""
        total, quiet, small = mpf(0), 0, mpf(10) ** (-self.digits - 5)
        for position in range(lower, lower + MOST_TERMS):
            piece = term(position)
            total = entrywise(lambda x, y: x + y, total, piece)
            quiet = quiet + 1 if _size(piece) <= small * _size(total) else 0
            if quiet == QUIET_TERMS:
                return total
        raise VerificationError(f"an infinite sum has not settled after {MOST_TERMS} terms")


def _potential_of(function: VectorMap, name: str) -> Callable[..., mpf]:
    found = getattr(function, "potential", None)
    if not callable(found):
        raise VerificationError(f"no function for {name}: give {function!r} a potential")
    return found


def _size(value: Value) -> mpf:
    return max(abs(entry) for entry in value) if isinstance(value, tuple) else abs(value)


def _integer(value: Value, bound: Expr) -> int:
    if isinstance(value, tuple) or not mpmath.isint(value):
        raise VerificationError(f"the bound {bound} of a sum is not an integer")
    return int(value)


def _constant(expression: Expr) -> mpf:
    if isinstance(expression, Rational) and expression.q != 0:
        return mpf(expression.p) / expression.q
    if isinstance(expression, Float):
        return mpf(expression._mpf_)
    if expression is S.Exp1:
        return +mpmath.e
    if expression is S.Pi:
        return +mpmath.pi
    raise VerificationError(f"{expression} is not a number that can be put into a formula")


def _operation(expression: Expr, parts: list[Value]) -> Value:
    if isinstance(expression, Add):
        return entrywise(lambda *terms: mpmath.fsum(terms), *parts)
    if isinstance(expression, Mul):
        return entrywise(lambda *factors: mpmath.fprod(factors), *parts)
    if isinstance(expression, Pow):
        return entrywise(power, *parts)
    if isinstance(expression, Abs):
        return entrywise(abs, *parts)
    if isinstance(expression, (Max, Min)):
        return entrywise(max if isinstance(expression, Max) else min, *parts)
    return entrywise(usual_function(expression.func.__name__), *parts)
