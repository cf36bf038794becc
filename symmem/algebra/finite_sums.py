"""Finite sums with integer bounds, written out term by term: what a given step makes of the sums that stay.

SymPy's own ``doit`` would look for a closed form of the inner sums first, whose bounds are not yet numbers.
"""

from __future__ import annotations

from sympy import Add, Expr, Integer, Sum
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import TOTAL, contraction, is_contraction, opaque_derivative, opaque_parts


def written_out(expression: Expr) -> Expr:
    """The expression with every sum between integers written out, from the outside in."""
    if isinstance(expression, Sum):
        index, lower, upper = expression.limits[0]
        if isinstance(lower, Integer) and isinstance(upper, Integer):
            places = range(int(lower), int(upper) + 1)
            return Add(*(written_out(expression.function.xreplace({index: Integer(k)})) for k in places))
        return expression
    if not expression.has(Sum):
        return expression
    parts = [written_out(part) for part in expression.args]
    if is_contraction(expression):
        return contraction(*parts)
    if isinstance(expression, AppliedUndef) and expression.func != TOTAL:
        return opaque_derivative(opaque_parts(expression)[0], *parts)
    return expression.func(*parts)
