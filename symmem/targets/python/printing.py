"""Expressions as Python source, spaced as a formatter leaves it; each dialect spells its functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sympy import Add, Expr, Integer, Mul, Pow, Rational, S, Symbol, default_sort_key
from sympy.printing.printer import Printer

_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(5)
MOST_FACTORS = 4
"""A power with a whole exponent up to this is written as a product."""


@dataclass(frozen=True)
class Dialect:
    """How a target spells what entrywise formulas need; ``{}`` is the argument."""

    functions: Mapping[str, str]
    rsqrt: str


def own_name(symbol: Symbol) -> str:
    return str(symbol.name)


class PythonPrinter(Printer):
    """Source text of an expression; parentheses where Python needs them."""

    def __init__(
        self,
        dialect: Dialect,
        numbers: frozenset[Symbol] = frozenset(),
        names: Callable[[Symbol], str] = own_name,
    ) -> None:
        """``numbers`` stand first in a product, so that they are multiplied before a vector is touched."""
        super().__init__()
        self._dialect = dialect
        self._numbers = numbers
        self._names = names

    def source(self, expression: Expr) -> str:
        return self._at(expression, _SUM)

    def _at(self, expression: Expr, least: int) -> str:
        """The source, in parentheses where it binds less than ``least``."""
        text = str(self._print(expression))
        return text if _binding(expression) >= least else f"({text})"

    def _print_Symbol(self, symbol: Symbol) -> str:
        return self._names(symbol)

    def _print_Integer(self, number: Integer) -> str:
        return str(int(number))

    def _print_Rational(self, number: Rational) -> str:
        return f"{int(number.p)} / {int(number.q)}"

    def _print_NumberSymbol(self, number: Expr) -> str:
        return repr(float(number))

    def _print_Exp1(self, number: Expr) -> str:
        return repr(float(number))

    def _print_Add(self, expression: Add) -> str:
        terms = sorted(expression.args, key=_reading_order)
        first, *rest = terms
        text = self._at(first, _SUM)
        for term in rest:
            sign, size = ("-", -term) if _is_negative(term) else ("+", term)
            text += f" {sign} {self._at(size, _PRODUCT)}"
        return text

    def _print_Mul(self, expression: Mul) -> str:
        negative = _is_negative(expression)
        above, below = _fraction(-expression if negative else expression)
        above.sort(key=lambda factor: factor not in self._numbers)
        factors = [self._at(factor, _PRODUCT) for factor in above] or ["1"]
        if negative:
            # A formatter sets parentheses around a power that follows a sign.
            is_power = above and _binding(above[0]) == _POWER
            factors[0] = f"-({factors[0]})" if is_power else f"-{factors[0]}"
        top = " * ".join(factors)
        if not below:
            return top
        if len(below) == 1:
            return f"{top} / {self._at(below[0], _SIGN)}"
        return f"{top} / ({' * '.join(self._at(factor, _PRODUCT) for factor in below)})"

    def _print_Pow(self, expression: Pow) -> str:
        base, exponent = expression.base, expression.exp
        if exponent == -S.Half:
            return self._dialect.rsqrt.format(self.source(base))
        if exponent == S.Half:
            return self._dialect.functions["sqrt"].format(self.source(base))
        if _is_negative(exponent):
            return f"1 / {self._at(Pow(base, -exponent), _SIGN)}"
        if isinstance(base, Symbol) and exponent.is_Integer and exponent <= MOST_FACTORS:
            return " * ".join([self.source(base)] * int(exponent))
        simple = all(isinstance(part, (Symbol, Integer)) for part in (base, exponent))
        left, right = self._at(base, _ATOM), self._at(exponent, _ATOM)
        return f"{left}**{right}" if simple else f"{left} ** {right}"

    def _print_Function(self, expression: Expr) -> str:
        arguments = [self.source(argument) for argument in expression.args]
        return self._dialect.functions[expression.func.__name__].format(*arguments)


def _is_negative(expression: Expr) -> bool:
    return expression.as_coeff_Mul()[0].is_negative is True


def _reading_order(term: Expr) -> tuple[bool, bool, object]:
    """n + 1, and 1 - beta: what is added first, a number after the rest of it."""
    return _is_negative(term), bool(term.is_Number), default_sort_key(term)


def _fraction(expression: Expr) -> tuple[list[Expr], list[Expr]]:
    """Factors above and below the line; roots stay above: 1/sqrt(x) is a function of its own."""
    above: list[Expr] = []
    below: list[Expr] = []
    for factor in expression.as_ordered_factors():
        if isinstance(factor, Rational):
            above += [Integer(factor.p)] if factor.p != 1 else []
            below += [Integer(factor.q)] if factor.q != 1 else []
        elif isinstance(factor, Pow) and _is_negative(factor.exp) and factor.exp != -S.Half:
            below.append(Pow(factor.base, -factor.exp))
        else:
            above.append(factor)
    return above, below


def _binding(expression: Expr) -> int:
    if isinstance(expression, Add):
        return _SUM
    if _is_negative(expression):
        return _SIGN if expression.is_Integer else _SUM
    if isinstance(expression, Mul) or (isinstance(expression, Rational) and expression.q != 1):
        return _PRODUCT
    if isinstance(expression, Pow):
        if expression.exp in (S.Half, -S.Half):
            return _PRODUCT
        whole = isinstance(expression.base, Symbol) and expression.exp.is_Integer
        product = whole and expression.exp <= MOST_FACTORS
        return _PRODUCT if product or _is_negative(expression.exp) else _POWER
    return _ATOM
