"""Finite sums with integer bounds, written out term by term: what a given step makes of the sums that stay.

SymPy's own ``doit`` would look for a closed form of the inner sums first, whose bounds are not yet numbers.
"""

from __future__ import annotations

from sympy import Add, Expr, Integer, Sum
from sympy.core.function import AppliedUndef

from symmem.algebra.heads import HEADS


def written_out(expression: Expr) -> Expr:
    """The expression with every sum between integers written out, from the outside in.

    A product with the Hessian is 0 where its vector is: a weight may vanish at the step.
    """
    if isinstance(expression, Sum):
        # SymPy keeps a sum of a sum as one, its outermost index last.
        *inner, (index, lower, upper) = expression.limits
        if isinstance(lower, Integer) and isinstance(upper, Integer):
            summand = Sum(expression.function, *inner) if inner else expression.function
            places = range(int(lower), int(upper) + 1)
            return Add(*(written_out(summand.xreplace({index: Integer(k)})) for k in places))
        return expression
    if not expression.has(Sum) and not any(0 in call.args for call in expression.atoms(AppliedUndef)):
        return expression
    return HEADS.mapped(expression, written_out)
