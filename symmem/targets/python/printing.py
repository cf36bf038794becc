"""Expressions as Python source, spaced as a formatter leaves it; each dialect spells its functions."""

from __future__ import annotations

from sympy import Expr, Integer, Rational, Symbol

from symmem.program.digits.decay_functions import Complete
from symmem.targets.printing import ATOM, POWER, PRODUCT, SourcePrinter, binding


class PythonPrinter(SourcePrinter):
    """Source text of an expression; parentheses where Python needs them."""

    def power(self, base: Expr, exponent: Expr) -> str:
        """A formatter sets no spaces where base and exponent are names or numbers."""
        simple = all(isinstance(part, (Symbol, Integer)) for part in (base, exponent))
        left, right = self.bound(base, ATOM), self.bound(exponent, ATOM)
        return f"{left}**{right}" if simple else f"{left} ** {right}"

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
