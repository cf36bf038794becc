"""Expressions as Python source, spaced as a formatter leaves it; each dialect spells its functions."""

from __future__ import annotations

from sympy import Expr, Integer, Pow, Rational, Symbol

from symmem.program.digits.decay_functions import Complete
from symmem.targets.printing import ATOM, POWER, PRODUCT, SourcePrinter, binding, is_negative


class PythonPrinter(SourcePrinter):
    """Source text of an expression; parentheses where Python needs them."""

    def power(self, base: Expr, exponent: Expr) -> str:
        """A formatter sets no spaces where base and exponent are names or numbers."""
        simple = all(isinstance(part, (Symbol, Integer)) for part in (base, exponent))
        left, right = self.bound(base, ATOM), self.bound(exponent, ATOM)
        if _is_whole(base) and exponent.free_symbols:
            left += ".0"  # JAX has whole powers of whole numbers: 4**(s - n) is 0 there
        return f"{left}**{right}" if simple else f"{left} ** {right}"

    def _print_Pow(self, expression: Pow) -> str:
        """``1/2**n`` as ``(1/2)**n``: a whole number of n digits fits in no type of JAX, and in no float."""
        base, exponent = expression.base, expression.exp
        if _is_whole(base) and exponent.free_symbols and is_negative(exponent):
            return self.power(1 / base, -exponent)
        return super()._print_Pow(expression)

    def minus(self, factor: Expr) -> str:
        """A formatter sets parentheses around a power that follows a sign."""
        text = self.bound(factor, PRODUCT)
        return f"-({text})" if binding(factor) == POWER else f"-{text}"

    def arguments(self, sum_: Complete) -> list[str]:
        """The order, and the nodes; one that is a product is given by its factors."""
        nodes = [[self.source(factor) for factor in node] for node in sum_.nodes]
        spelled = [f"_Product({', '.join(node)})" if len(node) > 1 else node[0] for node in nodes]
        return [self.source(sum_.args[0]), *spelled]

    @property
    def complete(self) -> str:
        """The function that adds the products: of one step, or of many at once."""
        return self._dialect.functions.get("Complete", "_complete")

    def _print_Complete(self, expression: Complete) -> str:
        return f"{self.complete}({', '.join(self.arguments(expression))})"

    def _print_Integer(self, number: Integer) -> str:
        return str(int(number))

    def _print_Rational(self, number: Rational) -> str:
        return f"{int(number.p)} / {int(number.q)}"

    def _print_NumberSymbol(self, number: Expr) -> str:
        return repr(float(number))


def _is_whole(base: Expr) -> bool:
    """A whole number whose powers grow; those of -1 are exact as they are."""
    return isinstance(base, Integer) and bool(base > 1)
