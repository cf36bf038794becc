"""Expressions as source text: what all languages share, precedence, signs, fractions and small powers.

A language is a subclass that spells numbers and powers, and a Dialect that spells functions.  No line passes the
width: ``fitted`` cuts what is too long into named parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import count

from sympy import Add, And, Expr, Integer, Mul, Pow, Rational, S, Symbol, default_sort_key
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean
from sympy.printing.printer import Printer

from symmem.program.digits.decay_functions import Complete
from symmem.program.statements import Assignment, Internal

SUM, PRODUCT, SIGN, POWER, ATOM = range(5)
"""How tightly a text binds: one that binds less than its place asks for stands in parentheses."""
MOST_FACTORS = 4
"""A power of a symbol with a whole exponent up to this is written as a product."""


@dataclass(frozen=True)
class Dialect:
    """How a target spells what entrywise formulas need; ``{}`` is the argument."""

    functions: Mapping[str, str]
    rsqrt: str
    times: str = "*"
    over: str = "/"
    both: str = "({} and {})"
    either: str = "({} or {})"


def own_name(symbol: Symbol) -> str:
    """The name of the symbol itself."""
    return str(symbol.name)


class SourcePrinter(Printer):
    """The base of all printers; ``power`` and the numbers are the language's own."""

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
        self._texts: dict[Expr, str] = {}  # who breaks lines asks for the parts of a sum again and again

    def source(self, expression: Expr) -> str:
        """The source text of an expression."""
        return self.bound(expression, SUM)

    def bound(self, expression: Expr, least: int) -> str:
        """The source, in parentheses where it binds less than ``least``."""
        text = self._texts.get(expression)
        if text is None:
            text = self._texts[expression] = str(self._print(expression))
        return text if binding(expression) >= least else f"({text})"

    def power(self, base: Expr, exponent: Expr) -> str:
        """A power that is neither a root, nor a fraction, nor a small product."""
        raise NotImplementedError

    def minus(self, factor: Expr) -> str:
        """The first factor of a product behind a minus."""
        return f"-{self.bound(factor, PRODUCT)}"

    def _print_Symbol(self, symbol: Symbol) -> str:
        return self._names(symbol)

    def _print_Exp1(self, number: Expr) -> str:
        return str(self._print_NumberSymbol(number))

    def _print_Add(self, expression: Add) -> str:
        first, *rest = sorted(expression.args, key=_reading_order)
        text = self.bound(first, SUM)
        for term in rest:
            sign, size = ("-", -term) if is_negative(term) else ("+", term)
            text += f" {sign} {self.bound(size, PRODUCT)}"
        return text

    def _print_Mul(self, expression: Mul) -> str:
        is_minus = is_negative(expression)
        above, below = fraction(-expression if is_minus else expression)
        above.sort(key=lambda factor: factor not in self._numbers)
        first, *others = above or [S.One]
        factors = [self.minus(first) if is_minus else self.bound(first, PRODUCT)]
        times, over = f" {self._dialect.times} ", self._dialect.over
        top = times.join([*factors, *(self.bound(factor, PRODUCT) for factor in others)])
        if not below:
            return top
        if len(below) == 1:
            return f"{top} {over} {self.bound(below[0], SIGN)}"
        return f"{top} {over} ({times.join(self.bound(factor, PRODUCT) for factor in below)})"

    def _print_Pow(self, expression: Pow) -> str:
        base, exponent = expression.base, expression.exp
        if exponent == -S.Half:
            return self._dialect.rsqrt.format(self.source(base))
        if exponent == S.Half:
            return self._dialect.functions["sqrt"].format(self.source(base))
        if is_negative(exponent):
            return f"{self._print(S.One)} {self._dialect.over} {self.bound(Pow(base, -exponent), SIGN)}"
        if _is_small(base, exponent):
            return f" {self._dialect.times} ".join([self.source(base)] * int(exponent))
        return self.power(base, exponent)

    def condition(self, condition: Boolean) -> str:
        """A comparison, or several with words between them."""
        if isinstance(condition, Relational):
            left, right = (self.source(side) for side in condition.args)
            return f"{left} {condition.rel_op} {right}"
        form = self._dialect.both if isinstance(condition, And) else self._dialect.either
        return reduce(form.format, map(self.condition, condition.args))

    def _print_Min(self, expression: Expr) -> str:
        return self._nested(expression)

    def _print_Max(self, expression: Expr) -> str:
        return self._nested(expression)

    def _nested(self, expression: Expr) -> str:
        """min(x, min(y, z)): libraries take two."""
        form = self._dialect.functions[expression.func.__name__]
        # A vector first: who takes a vector and a number asks for this order.
        ordered = sorted(
            expression.args, key=lambda x: (x.free_symbols <= self._numbers, default_sort_key(x))
        )
        return reduce(form.format, map(self.source, ordered))

    def _print_Function(self, expression: Expr) -> str:
        arguments = [self.source(argument) for argument in expression.args]
        return self._dialect.functions[expression.func.__name__].format(*arguments)

    def _print_conjugate(self, expression: Expr) -> str:
        """SymPy writes ``|x|`` so where it cannot tell that x is real; here every value is."""
        return self.bound(expression.args[0], ATOM)

    def _print_Whole(self, expression: Expr) -> str:
        (inner,) = expression.args
        return self.bound(inner, ATOM)


def is_negative(expression: Expr) -> bool:
    """Whether a minus is written in front."""
    return expression.as_coeff_Mul()[0].is_negative is True


def _is_small(base: Expr, exponent: Expr) -> bool:
    return isinstance(base, Symbol) and exponent.is_Integer and 0 < exponent <= MOST_FACTORS


def _reading_order(term: Expr) -> tuple[bool, bool, object]:
    """n + 1, and 1 - beta: what is added first, a number after the rest of it."""
    return is_negative(term), bool(term.is_Number), default_sort_key(term)


def fraction(expression: Expr) -> tuple[list[Expr], list[Expr]]:
    """Factors above and below the line; roots stay above: 1/sqrt(x) is a function of its own."""
    above: list[Expr] = []
    below: list[Expr] = []
    for factor in expression.as_ordered_factors():
        if isinstance(factor, Rational):
            above += [Integer(factor.p)] if factor.p != 1 else []
            below += [Integer(factor.q)] if factor.q != 1 else []
        elif isinstance(factor, Pow) and is_negative(factor.exp) and not _stays_above(factor):
            below.append(Pow(factor.base, -factor.exp))
        else:
            above.append(factor)
    return above, below


def _stays_above(power: Pow) -> bool:
    """A root, and 2**(-n): below the line it would be larger than any number of a machine."""
    return power.exp == -S.Half or (isinstance(power.base, Integer) and bool(power.exp.free_symbols))


def binding(expression: Expr) -> int:
    """How strongly the outermost operation binds: SUM, PRODUCT, SIGN, POWER or ATOM."""
    if isinstance(expression, Add):
        return SUM
    if is_negative(expression):
        return SIGN if expression.is_Integer else SUM
    if isinstance(expression, Mul) or (isinstance(expression, Rational) and expression.q != 1):
        return PRODUCT
    if isinstance(expression, Pow):
        root = expression.exp in (S.Half, -S.Half)
        product = _is_small(expression.base, expression.exp)
        return PRODUCT if root or product or is_negative(expression.exp) else POWER
    return ATOM


def part_names() -> Callable[[], Symbol]:
    """Names for the parts of a value that is too long for a line."""
    names = (Internal(f"p{k}") for k in count(1))
    return lambda: next(names)


def fitted(
    value: Expr, printer: SourcePrinter, fresh: Callable[[], Symbol], room: int, width: int
) -> tuple[list[Assignment], Expr]:
    """Parts of the value with new names, and the value in those names, short enough for the room.

    Every part fits a line ``name = part`` of the width, but for the call of a long sum, which is broken at its nodes.
    """
    parts: list[Assignment] = []
    while len(printer.source(value)) > room and value.args and not isinstance(value, Complete):
        longest = max(value.args, key=lambda part: (len(printer.source(part)), default_sort_key(part)))
        if not longest.args and len(value.args) > 2 and isinstance(value, (Add, Mul)):
            half = len(value.args) // 2
            longest, rest = value.func(*value.args[:half]), value.args[half:]
        else:
            rest = tuple(part for part in value.args if part is not longest)
        if not longest.args:
            break
        name = fresh()
        inner, short = fitted(longest, printer, fresh, width - len(printer.source(name)) - 3, width)
        parts += [*inner, (name, short)]
        if isinstance(value, (Add, Mul)):
            value = value.func(name, *rest)
        else:
            value = value.func(*(name if each is longest else each for each in value.args))
    return parts, value
