"""The directional derivative: the one engine behind every order of every derivation.

Four rules give everything (mathematics.md section 3): theta along v is v; the gradient along v is D2L(v); DkL(u, ...)
along v is D(k+1)L(u, ..., v) plus the derivatives of its arguments; an entrywise expression obeys the chain rule.
What each function contributes stands in its :class:`~symmem.algebra.head.Head`; here is the walk.
"""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Add, Expr, Mul, Pow, S, Symbol, log

from symmem.algebra.atoms import (
    GRAD,
    LOSS,
    THETA,
    Kind,
    contraction,
    kind,
    moves_with_theta,
    slot,
    terms_of,
    total,
)
from symmem.algebra.head import Head
from symmem.algebra.heads import HEADS, Heads, labels_of, operands_of
from symmem.work import checkpoint


def along(direction: Expr) -> dict[Expr, Expr]:
    """The derivatives of theta, the gradient and the loss when theta moves along ``direction``."""
    return {THETA: direction, GRAD: contraction(direction), LOSS: total(GRAD * direction)}


def slope_in(expression: Expr, symbol: Symbol) -> Expr:
    """``a`` with ``D expression [v] = a v`` when the vector ``symbol`` moves along v.

    Where there is no such a, because entries are joined, what is returned has the ``slot`` of the direction in it: it
    is no scalar, and equals no multiple of another slope by chance.
    """
    if kind(expression) is not Kind.TENSOR and not moves_with_theta(expression):
        return derivative(expression, {symbol: S.One})
    place = slot(0)
    return Add(*(term / place for term in terms_of(derivative(expression, {symbol: place}))))


def derivative(expression: Expr, velocities: Mapping[Expr, Expr], heads: Heads = HEADS) -> Expr:
    """``d/dt expression`` at t = 0 when every symbol x moves as ``x + t velocities[x]``.

    Symbols without a velocity are constant.  A contraction ``DkL`` moves with theta alone, so a caller
    who moves ``grad`` moves theta with it (see :func:`along`).

    >>> derivative(GRAD**2, along(GRAD))
    2*grad*D2L(grad)
    >>> derivative(contraction(GRAD), along(GRAD))
    D2L(D2L(grad)) + D3L(grad, grad)
    """
    return _Differentiation(velocities, heads).of(expression)


class _Differentiation:
    """One differentiation: the velocities, and the derivatives found so far (expressions share parts)."""

    def __init__(self, velocities: Mapping[Expr, Expr], heads: Heads) -> None:
        self._velocities = velocities
        self._heads = heads
        self._known: dict[Expr, Expr] = {}

    def of(self, expression: Expr) -> Expr:
        if expression not in self._known:
            checkpoint("the derivatives of Phi and g")
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
        head = self._heads.of(expression)
        if head is None:
            raise NotImplementedError(f"no rule for the derivative of {expression.func.__name__}")
        return self._function(expression, head)

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

    def _function(self, expression: Expr, head: Head) -> Expr:
        """What the point's motion brings, and the function of the motion of each operand in which it is linear."""
        operands, labels = operands_of(expression, head), labels_of(expression, head)
        terms = []
        if head.moves_with_theta:
            terms.append(self._heads.moved(head, operands, self._velocities.get(THETA, S.Zero)))
        elif head.has_point:
            terms.append(self._heads.moved(head, operands, self.of(operands[0]), labels))
        for position, operand in enumerate(operands):
            if (rate := self.of(operand)) == 0:
                continue
            if position > 0 and not head.is_linear_in(position):
                raise NotImplementedError(f"no rule for the derivative of {head.name}")
            if head.is_linear_in(position):
                moved = (*operands[:position], rate, *operands[position + 1 :])
                terms.append(self._heads.applied(head, moved, labels))
        return Add(*terms)
