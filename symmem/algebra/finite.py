"""What is no finite number inside an expression: ``1/(x - x)`` is ``zoo``, and ``oo`` is what a limit may leave."""

from __future__ import annotations

from sympy import AccumBounds, Expr, I, Sum, nan, oo, zoo

BEYOND = (nan, zoo, oo, -oo, I, AccumBounds)
"""What is no finite real number."""


def is_finite(expression: Expr) -> bool:
    """Whether no part of it is undefined, infinite or imaginary; the end of an infinite sum is no part."""
    if isinstance(expression, Sum):
        return is_finite(expression.function)
    if expression in (nan, zoo, oo, -oo, I) or isinstance(expression, AccumBounds):
        return False
    return all(is_finite(part) for part in expression.args) if expression.has(*BEYOND) else True
