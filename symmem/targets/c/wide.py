"""Expressions as C over numbers with more range, ``symmem_wide`` of the runtime: every operation is a function.

x/sqrt(y + 1)    symmem_div(x, symmem_sqrtw(symmem_add(y, symmem_of(1.0))))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

from sympy import Add, Expr, Integer, Mul, Pow, Rational, S, Symbol, default_sort_key
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean

from symmem.program.digits.decay_functions import Complete
from symmem.targets.c.printing import FUNCTIONS, NUMBER, CPrinter
from symmem.targets.printing import MOST_FACTORS, SUM, Dialect, SourcePrinter, fraction, is_negative, own_name

_NAMES = {
    **{name: f"symmem_{function}w({{}})" for name, function in FUNCTIONS.items()},
    "Abs": "symmem_abs({})",
    "sign": "symmem_signw({})",
    "Min": "symmem_minw({}, {})",
    "Max": "symmem_maxw({}, {})",
}
_DIALECT = Dialect(_NAMES, "symmem_div(symmem_of(1.0), symmem_sqrtw({}))")


class WidePrinter(SourcePrinter):
    """Source text of an expression; ``doubles`` are the symbols that are doubles, all others are wide."""

    def __init__(self, doubles: Iterable[Symbol], names: Callable[[Symbol], str] = own_name) -> None:
        super().__init__(_DIALECT, names=names)
        self.doubles = set(doubles)

    def bound(self, expression: Expr, least: int) -> str:
        """Arguments of functions need no parentheses."""
        return super().bound(expression, min(least, SUM))

    def double(self, expression: Expr) -> str:
        """The expression as a double, computed in double where all of it is."""
        if expression.free_symbols <= self.doubles:
            return CPrinter(NUMBER, names=self._names).source(expression)
        return f"symmem_narrow({self.source(expression)})"

    def condition(self, condition: Boolean) -> str:
        """A comparison of doubles, or several."""
        if isinstance(condition, Relational):
            left, right = map(self.double, condition.args)
            return f"{left} {condition.rel_op} {right}"
        sign = " && " if isinstance(condition, And) else " || "
        return f"({sign.join(map(self.condition, condition.args))})"

    def _print_Symbol(self, symbol: Symbol) -> str:
        name = self._names(symbol)
        return f"symmem_of({name})" if symbol in self.doubles else name

    def _print_Add(self, expression: Add) -> str:
        first, *rest = sorted(expression.args, key=lambda term: (is_negative(term), default_sort_key(term)))
        text = self.source(first)
        for term in rest:
            sign, size = ("sub", -term) if is_negative(term) else ("add", term)
            text = f"symmem_{sign}({text}, {self.source(size)})"
        return text

    def _print_Mul(self, expression: Mul) -> str:
        is_minus = is_negative(expression)
        above, below = fraction(-expression if is_minus else expression)
        text = self._product(above or [S.One])
        text = f"symmem_div({text}, {self._product(below)})" if below else text
        return f"symmem_minus({text})" if is_minus else text

    def _product(self, factors: Iterable[Expr]) -> str:
        return reduce("symmem_mul({}, {})".format, map(self.source, factors))

    def _print_Pow(self, expression: Pow) -> str:
        base, exponent = expression.base, expression.exp
        if exponent in (S.Half, -S.Half):
            return str(super()._print_Pow(expression))
        if is_negative(exponent):
            return f"symmem_div(symmem_of(1.0), {self.source(Pow(base, -exponent))})"
        if exponent.is_Integer and exponent <= MOST_FACTORS and isinstance(base, Symbol):
            return self._product([base] * int(exponent))
        return f"symmem_poww({self.source(base)}, {self.source(exponent)})"

    def _print_Shortfall(self, expression: Expr) -> str:
        return f"symmem_of(symmem_shortfall({', '.join(map(self.double, expression.args))}))"

    def _print_Complete(self, expression: Complete) -> str:
        order, width, *factors = expression.args
        nodes = ", ".join(map(self.double, factors))
        counts = f"{len(factors) // int(width)}, {int(width)}"
        return f"symmem_of(symmem_complete({self.double(order)}, {counts}, (const double[]){{{nodes}}}))"

    def _print_Integer(self, number: Integer) -> str:
        return self._constant(number)

    def _print_Rational(self, number: Rational) -> str:
        return self._constant(number)

    def _print_NumberSymbol(self, number: Expr) -> str:
        return self._constant(number)

    def _constant(self, number: Expr) -> str:
        return f"symmem_of({CPrinter(NUMBER).source(number)})"
