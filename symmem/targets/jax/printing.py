"""Numbers in JAX: a product of steps is no whole number there, for whole numbers have 32 bits.

``n * n`` of a traced n is negative from n = 46341 on, without a word, where ``1.0 * n * n`` is right.  Sums, exponents
and orders of sums stay whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from sympy import Add, Expr, Max, Min, Mul, Pow, Symbol

from symmem.targets.printing import PRODUCT, Dialect, binding
from symmem.targets.python.printing import PythonPrinter


class JaxPrinter(PythonPrinter):
    """Knows which names are ``whole``: steps, and what was made of them by whole numbers; more may come."""

    def __init__(self, dialect: Dialect, names: Callable[[Symbol], str], whole: Collection[Symbol]) -> None:
        super().__init__(dialect, names=names)
        self._whole = whole

    def _print_Mul(self, expression: Mul) -> str:
        text = super()._print_Mul(expression)
        steps = [factor for factor in expression.args if not factor.is_Number]
        return f"1.0 * {text}" if len(steps) > 1 and is_whole(expression, self._whole) else text

    def _print_Pow(self, expression: Pow) -> str:
        if expression.base.is_Number or not is_whole(expression, self._whole):
            return super()._print_Pow(expression)
        if binding(expression) == PRODUCT:  # a small power is a product
            return f"1.0 * {super()._print_Pow(expression)}"
        base = self.bound(expression.base, PRODUCT)
        return f"(1.0 * {base}) ** {expression.exp}"


def is_whole(expression: Expr, names: Collection[Symbol]) -> bool:
    """Whether it is made of these names and whole numbers, by what leaves them whole."""
    if isinstance(expression, (Add, Mul, Min, Max)):
        return all(is_whole(part, names) for part in expression.args)
    if isinstance(expression, Pow):
        return bool(expression.exp.is_Integer and expression.exp > 0) and is_whole(expression.base, names)
    return bool(expression.is_Integer) or expression in names
