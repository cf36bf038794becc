"""Expressions as C: every number has the type it is computed in, so that a float is never widened on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Expr, Integer, Pow, Rational, S, Symbol

from symmem.program.digits.decay_functions import Complete
from symmem.targets.printing import Dialect, SourcePrinter, own_name

FUNCTIONS = {
    "sqrt": "sqrt", "Abs": "fabs", "exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "tan": "tan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "atan": "atan", "erf": "erf",
}  # fmt: skip
"""The functions of C's library that have one argument, by their names in SymPy."""


@dataclass(frozen=True)
class Precision:
    """A type of C: its name, the suffix of its functions and the suffix of its numbers."""

    type: str
    functions: str
    numbers: str
    digits: int
    guarded: bool
    """Whether 1/x and 1/sqrt(x) give NaN where x is infinite: such an entry is computed again."""

    @property
    def is_wide(self) -> bool:
        """Whether operations are functions."""
        return self.type == "symmem_wide"

    def number(self, value: int) -> str:
        """A whole number of this type."""
        return f"symmem_of({value})" if self.is_wide else str(value)

    def gathered(self, total: str, sign: str) -> tuple[str, str]:
        """What stands before and behind a value that is added to the total, or multiplied with it."""
        if not self.is_wide:
            return f"{total} {sign}= ", ";"
        return f"{total} = symmem_{'add' if sign == '+' else 'mul'}({total}, ", ");"

    @property
    def dialect(self) -> Dialect:
        """The functions of C's library for this type."""
        end = self.functions
        functions = {name: f"{function}{end}({{}})" for name, function in FUNCTIONS.items()}
        functions["sign"] = f"symmem_sign{end}({{}})"
        functions["Shortfall"] = "symmem_shortfall({}, {})"
        functions |= {"Min": f"fmin{end}({{}}, {{}})", "Max": f"fmax{end}({{}}, {{}})"}
        plain = f"1.0{self.numbers} / sqrt{end}({{}})"
        rsqrt = f"symmem_rsqrt{end}({{}})" if self.guarded else plain
        return Dialect(functions, rsqrt, both="({} && {})", either="({} || {})")


FLOAT = Precision("float", "f", "f", 17, guarded=True)
DOUBLE = Precision("double", "", "", 17, guarded=True)
NUMBER = Precision("double", "", "", 17, guarded=False)
WIDE = Precision("symmem_wide", "w", "", 17, guarded=False)
"""With more range: its expressions are printed by :mod:`symmem.targets.c.wide`."""


class CPrinter(SourcePrinter):
    """Source text of an expression in one precision."""

    def __init__(
        self,
        precision: Precision,
        numbers: frozenset[Symbol] = frozenset(),
        names: Callable[[Symbol], str] = own_name,
    ) -> None:
        super().__init__(precision.dialect, numbers, names)
        self._precision = precision

    def double(self, expression: Expr) -> str:
        """The expression where a double is asked for."""
        return self.source(expression)

    def power(self, base: Expr, exponent: Expr) -> str:
        """``pow(base, exponent)`` in this type."""
        return f"pow{self._precision.functions}({self.source(base)}, {self.source(exponent)})"

    def _print_Pow(self, expression: Pow) -> str:
        base, exponent = expression.base, expression.exp
        if exponent == S.NegativeOne and self._precision.guarded:
            return f"symmem_reciprocal{self._precision.functions}({self.source(base)})"
        if exponent.is_negative and exponent not in (-S.Half, S.NegativeOne):
            return self.power(base, exponent)
        return str(super()._print_Pow(expression))

    def _print_Complete(self, expression: Complete) -> str:
        order, _, *factors = map(self.source, expression.args)
        width = int(expression.args[1])
        counts = f"{len(factors) // width}, {width}"
        return f"symmem_complete({order}, {counts}, (const double[]){{{', '.join(factors)}}})"

    def _print_Integer(self, number: Integer) -> str:
        exact = abs(int(number)) < 2**53
        return f"{float(number)!r}{self._precision.numbers}" if exact else self._decimal(number)

    def _print_Rational(self, number: Rational) -> str:
        return self._decimal(number)

    def _print_NumberSymbol(self, number: Expr) -> str:
        return self._decimal(number)

    def _decimal(self, number: Expr) -> str:
        """A number that is no small integer, with more digits than the type holds."""
        text = str(number.evalf(self._precision.digits))
        point = "" if "." in text or "e" in text else ".0"
        return f"{text}{point}{self._precision.numbers}"
