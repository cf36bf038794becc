"""Formulas at a point, in numbers of many digits: what a witness is found with (mathematics.md section 12).

The loss is a sum of ridges, ``L(x) = sum_j sin(a_j . x + 1) + (a_j . x)^2/2``, so that its tensors are exact:
``D^(k+1) L [v_1, ..., v_k] = sum_j s^(k+1)(a_j . x) (a_j . v_1) ... (a_j . v_k) a_j``.  It has derivatives of every
order, and its Hessian has no special directions.  The verification room has an evaluation of its own, on purpose.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import mpmath
from mpmath import mpf
from sympy import Add, And, Expr, Max, Min, Mul, Pow, Rational, Symbol, lambdify
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from symmem.algebra.atoms import GRAD, LOSS, THETA, TOTAL, is_contraction
from symmem.algebra.heads import HEADS
from symmem.algebra.where import where
from symmem.records import record

DIGITS = 50
Vector: TypeAlias = tuple[mpf, ...]
Value: TypeAlias = "mpf | Vector"
_COMPARED = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


@record(frozen=True)
class Ridges:
    """The loss of a probe, by the rows a_j."""

    rows: tuple[Vector, ...]

    def value(self, point: Vector) -> mpf:
        """The loss itself: the sum of its ridges."""
        return mpmath.fsum(_profile(dot(row, point), 0) for row in self.rows)

    def tensor(self, point: Vector, directions: Sequence[Vector]) -> Vector:
        """``D^(k+1) L [directions]`` for k directions; the gradient for none."""
        total = [mpf(0)] * len(point)
        for row in self.rows:
            size = _profile(dot(row, point), len(directions) + 1)
            for direction in directions:
                size *= dot(row, direction)
            total = [entry + size * a for entry, a in zip(total, row, strict=True)]
        return tuple(total)


def _profile(x: mpf, order: int) -> mpf:
    """``sin(x + 1) + x^2/2`` and its derivatives."""
    wave = mpmath.sin(x + 1 + order * mpmath.pi / 2)
    return wave + (x**2 / 2 if order == 0 else x if order == 1 else mpf(order == 2))


def dot(left: Sequence[mpf], right: Sequence[mpf]) -> mpf:
    """The Euclidean product, rounded once."""
    return mpmath.fdot(left, right)


@record(frozen=True)
class Probe:
    """A loss, a point of R^d, and values for the scalars; vectors may be given to further symbols and slots."""

    loss: Ridges
    point: Vector
    scalars: Mapping[Symbol, Rational]
    vectors: Mapping[Expr, Vector]

    @cached_property
    def _known(self) -> dict[Expr, Value]:
        start: dict[Expr, Value] = {THETA: self.point, GRAD: self.loss.tensor(self.point, ())}
        start[LOSS] = self.loss.value(self.point)
        numbers = {symbol: mpf(int(value.p)) / int(value.q) for symbol, value in self.scalars.items()}
        return {**start, **numbers, **self.vectors}

    def value(self, expression: Expr) -> Value:
        """The value of a scalar or of a vector formula; opaque functions have none here."""
        if expression not in self._known:
            self._known[expression] = self._computed(expression)
        return self._known[expression]

    def vector(self, expression: Expr) -> Vector:
        """The value as a vector: a scalar stands for the vector that has it in every entry."""
        value = self.value(expression)
        return value if isinstance(value, tuple) else (value,) * len(self.point)

    def _computed(self, expression: Expr) -> Value:
        if isinstance(expression, Rational):
            return mpf(int(expression.p)) / int(expression.q)
        if not expression.args:
            return mpmath.mpmathify(expression.evalf(DIGITS))
        if is_contraction(expression):
            return self.loss.tensor(self.point, [self.vector(part) for part in expression.args])
        if expression.func == TOTAL:
            return mpmath.fsum(self.vector(expression.args[0]))
        if isinstance(expression, where):
            condition, chosen, otherwise = expression.args
            return self.value(chosen if self._holds(condition) else otherwise)
        parts = [self.value(part) for part in expression.args]
        return _entrywise(expression, parts)

    def _holds(self, condition: Boolean) -> bool:
        """A condition on the parameters."""
        if isinstance(condition, Relational):
            return bool(_COMPARED[condition.rel_op](self.value(condition.lhs), self.value(condition.rhs)))
        together = all if isinstance(condition, And) else any
        return together(map(self._holds, condition.args))


def _entrywise(expression: Expr, parts: Sequence[Value]) -> Value:
    width = max((len(part) for part in parts if isinstance(part, tuple)), default=0)
    if width == 0:
        return _guarded(expression, [part for part in parts if not isinstance(part, tuple)])
    columns = [part if isinstance(part, tuple) else (part,) * width for part in parts]
    return tuple(_guarded(expression, column) for column in zip(*columns, strict=True))


def _guarded(expression: Expr, numbers: Sequence[mpf]) -> mpf:
    """Not a number where the formula has no value: the point is then no probe."""
    try:
        return _operation(expression, numbers)
    except (ZeroDivisionError, OverflowError):
        return mpmath.nan


def _operation(expression: Expr, numbers: Sequence[mpf]) -> mpf:
    if isinstance(expression, Add):
        return mpmath.fsum(numbers)
    if isinstance(expression, Mul):
        return mpmath.fprod(numbers)
    if isinstance(expression, Pow):
        return mpmath.power(*numbers)
    if isinstance(expression, (Max, Min)):
        return max(numbers) if isinstance(expression, Max) else min(numbers)
    head = HEADS.of(expression)
    if head is None or len(numbers) != 1:
        raise ValueError(f"{expression.func.__name__} has no value at a probe")
    x = Symbol("x")
    return lambdify(x, head.function(x), "mpmath")(numbers[0])
