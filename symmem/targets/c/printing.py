"""Expressions as C: every number has the type it is computed in, so that a float is never widened on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Expr, Integer, Pow, Rational, S, Symbol

from symmem.targets.python.printing import MOST_FACTORS, Dialect, PythonPrinter

_MATHEMATICS = {
    "sqrt": "sqrt", "Abs": "fabs", "exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "tan": "tan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "atan": "atan",
}  # fmt: skip


@dataclass(frozen=True)
class Precision:
    """A type of C: its name, the suffix of its functions and the suffix of its numbers."""

    type: str
    functions: str
    numbers: str
    guarded: bool
    """Whether 1/x and 1/sqrt(x) give NaN where x is not a positive finite number."""


FLOAT = Precision("float", "f", "f", guarded=True)
DOUBLE = Precision("double", "", "", guarded=True)
NUMBER = Precision("double", "", "", guarded=False)
EXTENDED = Precision("long double", "l", "L", guarded=False)


class CPrinter(PythonPrinter):
    """Source text of an expression in one precision."""

    def __init__(self, precision: Precision, numbers: frozenset[Symbol] = frozenset()) -> None:
        super().__init__(Dialect(_functions(precision), _rsqrt(precision)), numbers)
        self._precision = precision

    def _print_Integer(self, number: Integer) -> str:
        return self._literal(float(number)) if abs(int(number)) < 2**53 else self._ratio(number)

    def _print_Rational(self, number: Rational) -> str:
        return self._ratio(number)

    def _print_NumberSymbol(self, number: Expr) -> str:
        return f"{number.evalf(25)}{self._precision.numbers}"

    def _print_Exp1(self, number: Expr) -> str:
        return self._print_NumberSymbol(number)

    def _print_Pow(self, expression: Pow) -> str:
        base, exponent = expression.base, expression.exp
        suffix = self._precision.functions
        if exponent == S.NegativeOne and self._precision.guarded:
            return f"symmem_reciprocal{suffix}({self.source(base)})"
        product = isinstance(base, Symbol) and exponent.is_Integer and 0 < exponent <= MOST_FACTORS
        if product or exponent in (S.Half, -S.Half, S.NegativeOne):
            return str(super()._print_Pow(expression))
        return f"pow{suffix}({self.source(base)}, {self.source(exponent)})"

    def _literal(self, value: float) -> str:
        return f"{value!r}{self._precision.numbers}"

    def _ratio(self, number: Rational) -> str:
        """A number that is no small integer: its nearest double, or more digits where they count."""
        digits = 40 if self._precision is EXTENDED else 17
        text = str(number.evalf(digits))
        return f"{text if '.' in text or 'e' in text else text + '.0'}{self._precision.numbers}"


def _functions(precision: Precision) -> Mapping[str, str]:
    spelled = {name: f"{function}{precision.functions}({{}})" for name, function in _MATHEMATICS.items()}
    return {**spelled, "sign": f"symmem_sign{precision.functions}({{}})"}


def _rsqrt(precision: Precision) -> str:
    if precision.guarded:
        return f"symmem_rsqrt{precision.functions}({{}})"
    return f"1.0{precision.numbers} / sqrt{precision.functions}({{}})"
