"""``where(condition, value, otherwise)``: a number with two branches, for what depends on the step alone.

A function of its own beside SymPy's Piecewise, which is folded into every product and sum that it meets: here a factor
in front of a branch stays in front, and a sum over steps keeps its weights.
"""

from __future__ import annotations

from sympy import Expr, Function
from sympy.logic.boolalg import Boolean


class where(Function):  # noqa: N801  # the name that formulas show
    """The value where the condition holds, else the other one; chosen as soon as the condition is known."""

    nargs = 3

    @classmethod
    def eval(cls, condition: Boolean, value: Expr, otherwise: Expr) -> Expr | None:
        """One of the two, where the condition is true or false."""
        if condition == True:  # noqa: E712  # SymPy's own truth
            return value
        return otherwise if condition == False else None  # noqa: E712

    def _eval_derivative(self, s: Expr) -> Expr:
        """Branch by branch; SymPy asks for it when it puts a sum over choices in order to print it."""
        condition, value, otherwise = self.args
        return where(condition, value.diff(s), otherwise.diff(s))

    def _eval_is_commutative(self) -> bool:
        return True
