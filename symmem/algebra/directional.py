"""The directional derivative: the one engine behind every order of every derivation.

Four rules give everything: theta along v is v; the gradient along v is D2L(v); DkL(u, ...) along v is
D(k+1)L(u, ..., v) plus the derivatives of its arguments; an entrywise expression obeys the chain rule.
Opaque functions, ``total`` and finite sums bring one rule each.
"""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Add, Expr, Mul, Pow, S, Sum, Symbol, log, sign
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import (
    GRAD,
    LOSS,
    THETA,
    TOTAL,
    contraction,
    is_contraction,
    opaque_derivative,
    opaque_parts,
    total,
)


def along(direction: Expr) -> dict[Expr, Expr]:
    """The derivatives of theta, the gradient and the loss when theta moves along ``direction``."""
    return {THETA: direction, GRAD: contraction(direction), LOSS: total(GRAD * direction)}


def derivative(expression: Expr, velocities: Mapping[Expr, Expr]) -> Expr:
    """``d/dt expression`` at t = 0 when every symbol x moves as ``x + t velocities[x]``.

    Symbols without a velocity are constant.  A contraction ``DkL`` moves with theta alone, so a caller
    who moves ``grad`` moves theta with it (see :func:`along`).
    """
    return _Differentiation(velocities).of(expression)


class _Differentiation:
    """One differentiation: the velocities, and the derivatives found so far (expressions share parts)."""

    def __init__(self, velocities: Mapping[Expr, Expr]) -> None:
        self._velocities = velocities
        self._known: dict[Expr, Expr] = {}

    def of(self, expression: Expr) -> Expr:
        if expression not in self._known:
            self._known[expression] = self._rule(expression)
        return self._known[expression]

    def _rule(self, expression: Expr) -> Expr:
        if isinstance(expression, Symbol):
            return self._velocities.get(expression, S.Zero)
        if not expression.args:
            return S.Zero
        if isinstance(expression, Add):
            return Add(*(self.of(term) for term in expression.args))
        if isinstance(expression, Mul):
            return self._product(expression)
        if isinstance(expression, Pow):
            return self._power(expression)
        if isinstance(expression, Sum):
            inner = self.of(expression.function)
            return Sum(inner, *expression.limits) if inner != 0 else S.Zero
        if isinstance(expression, AppliedUndef):
            return self._applied(expression)
        return self._entrywise(expression)

    def _product(self, expression: Mul) -> Expr:
        terms = []
        for position, factor in enumerate(expression.args):
            rate = self.of(factor)
            if rate != 0:
                terms.append(Mul(*expression.args[:position], rate, *expression.args[position + 1 :]))
        return Add(*terms)

    def _power(self, expression: Pow) -> Expr:
        base, exponent = expression.base, expression.exp
        # Parts that do not move are left out, not multiplied by zero: SymPy would first ask whether they are finite.
        terms = []
        if (rate := self.of(base)) != 0:
            terms.append(exponent * base ** (exponent - 1) * rate)
        if (rate := self.of(exponent)) != 0:
            terms.append(log(base) * expression * rate)
        return Add(*terms)

    def _applied(self, expression: AppliedUndef) -> Expr:
        if expression.func == TOTAL:
            return total(self.of(expression.args[0]))
        if is_contraction(expression):
            return self._contraction(expression)
        name, point, directions = opaque_parts(expression)
        terms = [opaque_derivative(name, point, *directions, self.of(point))]
        for position, direction in enumerate(directions):
            moved = (*directions[:position], self.of(direction), *directions[position + 1 :])
            terms.append(opaque_derivative(name, point, *moved))
        return Add(*terms)

    def _contraction(self, expression: AppliedUndef) -> Expr:
        vectors = expression.args
        terms = [contraction(*vectors, self._velocities.get(THETA, S.Zero))]
        for position, vector in enumerate(vectors):
            terms.append(contraction(*vectors[:position], self.of(vector), *vectors[position + 1 :]))
        return Add(*terms)

    def _entrywise(self, expression: Expr) -> Expr:
        if len(expression.args) != 1:
            raise NotImplementedError(f"no rule for the derivative of {expression.func.__name__}")
        rate = self.of(expression.args[0])
        if rate == 0 or expression.func == sign:
            # sign is constant away from its jump; the declaration's assumptions carry the warning.
            return S.Zero
        return expression.fdiff(1) * rate
