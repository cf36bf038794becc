"""Whether an equation is one of the algebra that a proof does: tried with numbers before it is stated.

The last step of a proof knows of a root and of a size its square alone, of another function nothing, and of ``x^n``
that it is a number: ``x^(2 n + 1) = x (x^n)^2``.  So each of them gets a number that is chosen at random, a root and
a size with either sign.  An equation that fails for one choice has no such proof: its theorem is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from mpmath import exp, mpc, mpf, sqrt, workdps
from sympy import Abs, Add, Expr, Mul, Pow, Rational, Symbol, sign

from symmem.algebra.atoms import STEP

_TRIALS, _DIGITS = 6, 40
_NEAR = mpf(10) ** -20


def is_formal(left: Expr, right: Expr, meanings: Mapping[Expr, Expr] | None = None) -> bool:
    """Whether both sides agree for every choice that was tried; what has a meaning is looked up there."""
    with workdps(_DIGITS):
        for trial in range(_TRIALS):
            choice = _Choice(trial, meanings or {})
            x, y = choice.value(left), choice.value(right)
            if abs(x - y) > _NEAR * (1 + abs(x)):
                return False
    return True


class _Choice:
    """One choice of all numbers; an expression has the same one wherever it stands."""

    def __init__(self, trial: int, meanings: Mapping[Expr, Expr]) -> None:
        self._trial = trial
        self._meanings = meanings
        self._known: dict[Expr, mpc] = {}

    def value(self, expression: Expr) -> mpc:
        if expression not in self._known:
            meant = self._meanings.get(expression)
            self._known[expression] = self._computed(expression) if meant is None else self.value(meant)
        return self._known[expression]

    def _computed(self, expression: Expr) -> mpc:
        if isinstance(expression, Rational):
            return mpc(mpf(int(expression.p)) / int(expression.q))
        if isinstance(expression, (Add, Mul)):
            result = mpc(0 if isinstance(expression, Add) else 1)
            for part in map(self.value, expression.args):
                result = result + part if isinstance(expression, Add) else result * part
            return result
        if isinstance(expression, Pow):
            return self._power(expression.base, expression.exp)
        if isinstance(expression, Abs):
            return self._sign(expression) * self.value(expression.args[0])
        if isinstance(expression, sign):
            (inner,) = expression.args
            return self.value(inner) / self.value(Abs(inner, evaluate=False))
        return mpc(self._drawn("value", expression).uniform(0.2, 0.9))

    def _power(self, base: Expr, exponent: Expr) -> mpc:
        if exponent.is_Integer:
            return self.value(base) ** int(exponent)
        if exponent.is_Rational and exponent.q == 2:
            root = Pow(base, Rational(1, 2))
            return self._root(root) if exponent == root.exp else self.value(root) ** int(exponent.p)
        slope = exponent.coeff(STEP)
        rest = exponent - slope * STEP
        if slope.is_Integer and rest.is_Integer:
            return exp(int(slope) * self._logarithm(base)) * self.value(base) ** int(rest)
        return mpc(self._drawn("value", Pow(base, exponent)).uniform(0.2, 0.9))

    def _root(self, root: Pow) -> mpc:
        return self._sign(root) * sqrt(self.value(root.base))

    def _logarithm(self, base: Expr) -> mpc:
        """Of ``base^n``: that of a product is the sum, any other is chosen."""
        if isinstance(base, Mul):
            return sum((self._logarithm(part) for part in base.args), mpc(0))
        if isinstance(base, Pow) and base.exp.is_Integer:
            return int(base.exp) * self._logarithm(base.base)
        return mpc(self._drawn("logarithm", base).uniform(-1, 1))

    def _sign(self, generator: Expr) -> int:
        return self._drawn("sign", generator).choice((-1, 1))

    def _drawn(self, kind: str, expression: Expr) -> Random:
        text = expression.name if isinstance(expression, Symbol) else str(expression)
        return Random(f"{self._trial} {kind} {text}")
