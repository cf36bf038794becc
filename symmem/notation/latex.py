r"""Formula tree -> LaTeX, whole or broken into lines for `aligned`.

Standard amsmath; the symbols and macros are `symbols.Macros`.  Brackets grow (\left( \right)) only around
something tall; a bracket that is broken over lines has a fixed size (\biggl( \biggr)).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Expr

from symmem.notation.formula import (
    Absolute,
    Atom,
    BigSum,
    Call,
    Derivative,
    Directional,
    Formula,
    Fraction,
    Gradient,
    Inner,
    Literal,
    Norm,
    Number,
    Power,
    Product,
    Root,
    Sum,
    Total,
    is_bare,
    is_open,
    starts_with_digit,
)
from symmem.notation.reading import read
from symmem.notation.symbols import Functions, Macros, Speller

_OPERATORS = frozenset(
    ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min", "arcsin", "arccos", "arctan")
)
_RENAMED = {"Max": "max", "Min": "min", "asin": "arcsin", "acos": "arccos", "atan": "arctan"}
_TALL = re.compile(r"\\frac|\\sum|\\left")
_STYLED = re.compile(r"\\(?:mathcal|boldsymbol|mathrm|operatorname|sqrt)\{([^{}]*)\}")
_FRACTION = re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}")
_SCRIPT = re.compile(r"[_^]\{([^{}]*)\}")


def latex(
    expression: Expr,
    *,
    names: Mapping[str, str],
    functions: Functions | None = None,
    macros: Macros | None = None,
    arguments: bool = False,
) -> str:
    """The expression as LaTeX for math mode; the keywords are those of `text`, and the author's macros."""
    printer = _Printer(Speller(names, functions or {}, macros or Macros(), arguments))
    return printer.tex(read(expression, names, functions or {}))


def latex_lines(
    expression: Expr,
    *,
    names: Mapping[str, str],
    functions: Functions | None = None,
    macros: Macros | None = None,
    arguments: bool = False,
    budget: int = 70,
) -> tuple[str, ...]:
    r"""The LaTeX in lines of about `budget` printed characters, broken at the outer operators.

    Each line after the first begins with its operator, so that `" \\\\\n&\\quad ".join(lines)` behind
    `M &= ` is the body of an `aligned`.
    """
    printer = _Printer(Speller(names, functions or {}, macros or Macros(), arguments))
    return tuple(printer.lines(read(expression, names, functions or {}), budget))


def printed_width(source: str) -> int:
    """About how many characters wide the LaTeX is in print: a fraction is as wide as its wider part."""

    def wider(match: re.Match[str]) -> str:
        return max(match.group(1), match.group(2), key=len)

    flat = re.sub(r"\\(?:left|right|[bB]igg?[lr]?)\b|\\[,;!]|\\quad", "", source)
    previous = ""
    while previous != flat:
        previous = flat
        for pattern in (_STYLED, _SCRIPT):
            flat = pattern.sub(r"\1", flat)
        flat = _FRACTION.sub(wider, re.sub(r"\\(?!frac)[A-Za-z]+", "x", flat))
    return len(flat.replace(" ", "").replace("{}", ""))


def _brackets(body: str, left: str = "(", right: str = ")") -> str:
    if _TALL.search(body):
        return rf"\left{left} {body} \right{right}"
    if "(" in body:
        return rf"\bigl{left}{body}\bigr{right}"
    return left + body + right


@dataclass(frozen=True)
class _Printer:
    speller: Speller

    @property
    def macros(self) -> Macros:
        return self.speller.macros

    def tex(self, formula: Formula) -> str:
        match formula:
            case Number(value):
                return str(value)
            case Atom(name):
                return self.speller.latex(name)
            case Literal(literal):
                return r"\text{" + literal + "}"
            case Sum(terms):
                last = len(terms) - 1
                parts = [self._term(t.negative, t.body, i == 0, i == last) for i, t in enumerate(terms)]
                return " ".join(parts)
            case Product(factors):
                return " ".join(self._factors(factors))
            case Fraction(numerator, denominator):
                return rf"\frac{{{self.tex(numerator)}}}{{{self._denominator(denominator)}}}"
            case Power(base, exponent):
                return f"{self._base(base)}^{{{self._exponent(exponent)}}}"
            case Root(radicand):
                return rf"\sqrt{{{self.tex(radicand)}}}"
            case Absolute(body):
                return self._between(self.macros.absolute, body)
            case Norm(body, index):
                inside = ", ".join(self._exponent(part) for part in index)
                return self._between(self.macros.norm, body) + (f"_{{{inside}}}" if index else "")
            case Call(function, arguments):
                return self._function(function) + _brackets(", ".join(map(self.tex, arguments)))
            case _:
                return self._operator(formula)

    def _operator(self, formula: Formula) -> str:
        match formula:
            case Gradient(body):
                return f"{self.macros.nabla} {self._closed(body)}"
            case Derivative(slots=slots):
                if is_bare(formula):
                    return f"{self._head(formula)} {self.tex(slots[0])}"
                return self._head(formula) + _brackets(", ".join(map(self.tex, slots)), "[", "]")
            case Directional(function, point, slots):
                order = f"^{{{len(slots)}}}" if len(slots) > 1 else ""
                head = f"{self.macros.directional}{order} {self._function(function)}"
                return (
                    head + _brackets(self.tex(point)) + _brackets(", ".join(map(self.tex, slots)), "[", "]")
                )
            case Inner(left, right):
                closed = self.tex(left) if isinstance(left, Atom) else _brackets(self.tex(left))
                return f"{closed}{self.macros.transpose} {self._closed(right)}"
            case Total(body):
                return rf"\sum_{{i}} {_brackets(self.tex(body))}_{{i}}"
            case BigSum(index, lower, upper, body):
                low, high = self.tex(lower), self.tex(upper)
                return rf"\sum_{{{self.tex(index)} = {low}}}^{{{high}}} {self._closed(body)}"
        raise TypeError(f"no LaTeX for {type(formula).__name__}")

    def _head(self, formula: Derivative) -> str:
        r"""The tensor before its slots: \nabla^{2} \mathcal{L}."""
        opaque = formula.field != "loss"
        potential = self.speller.potential_latex(formula.field) if opaque else self.speller.latex("loss")
        point = "" if formula.point is None else _brackets(self.tex(formula.point))
        head = f"{self.macros.nabla}^{{{formula.order}}} {potential}{point}"
        return f"({head})^{{{formula.repeat}}}" if formula.repeat > 1 else head

    def _function(self, name: str) -> str:
        if name in self.speller.functions:
            return self.speller.function_latex(name)
        name = _RENAMED.get(name, name)
        return f"\\{name}" if name in _OPERATORS else rf"\operatorname{{{name}}}"

    def _between(self, bars: tuple[str, str], body: Formula) -> str:
        inside = self.tex(body)
        left, right = bars
        return (
            rf"\left{left}{inside} \right{right.strip()}" if _TALL.search(inside) else left + inside + right
        )

    def _closed(self, formula: Formula) -> str:
        return _brackets(self.tex(formula)) if isinstance(formula, Sum) else self.tex(formula)

    def _term(self, negative: bool, body: Formula, first: bool, last: bool) -> str:
        shown = self._closed(body) if last or not isinstance(body, BigSum) else _brackets(self.tex(body))
        sign = "-" if negative else "+"
        return f"{sign} {shown}" if not first else f"-{shown}" if negative else shown

    def _factors(self, factors: tuple[Formula, ...]) -> list[str]:
        shown = []
        for position, factor in enumerate(factors):
            enclosed = is_open(factor) and position < len(factors) - 1
            body = _brackets(self.tex(factor)) if enclosed else self._closed(factor)
            dotted = position > 0 and starts_with_digit(factor) and not isinstance(factor, Fraction)
            shown.append(f"{self.macros.dot} {body}" if dotted else body)
        return shown

    def _denominator(self, formula: Formula) -> str:
        """Square roots of sums below the bar are written as powers, as in the paper."""
        factors = formula.factors if isinstance(formula, Product) else (formula,)
        half = Fraction(Number(1), Number(2))
        lowered = tuple(
            Power(factor.radicand, half)
            if isinstance(factor, Root) and isinstance(factor.radicand, Sum)
            else factor
            for factor in factors
        )
        return " ".join(self._factors(lowered)) if len(lowered) > 1 else self.tex(lowered[0])

    def _base(self, base: Formula) -> str:
        atomic = isinstance(base, (Number, Norm, Absolute)) or (
            isinstance(base, Atom) and base.name != "grad"
        )
        shown = self.tex(base) if atomic else _brackets(self.tex(base))
        # A declared symbol may carry its own superscript; TeX takes no second one.
        return f"{{{shown}}}" if isinstance(base, Atom) and "^" in shown else shown

    def _exponent(self, formula: Formula) -> str:
        """In small type a fraction is written with a slash."""
        if isinstance(formula, Fraction) and isinstance(formula.denominator, (Number, Atom)):
            return f"{self._base(formula.numerator)}/{self.tex(formula.denominator)}"
        return self.tex(formula)

    # lines

    def lines(self, formula: Formula, budget: int) -> list[str]:
        whole = self.tex(formula)
        if printed_width(whole) <= budget:
            return [whole]
        if isinstance(formula, Sum):
            return self._sum_lines(formula, budget)
        if isinstance(formula, Product):
            return self._product_lines(formula, budget)
        return self._slot_lines(formula, budget)

    def _slot_lines(self, formula: Formula, budget: int) -> list[str]:
        """A tensor with a long sum in its slot."""
        if isinstance(formula, Derivative) and len(formula.slots) == 1 and isinstance(formula.slots[0], Sum):
            return self._bracket_lines(self._head(formula), formula.slots[0], "[]", budget)
        return [self.tex(formula)]

    def _bracket_lines(self, head: str, body: Sum, pair: str, budget: int) -> list[str]:
        size = "bigg" if _TALL.search(self.tex(body)) else "big"
        inner = self.lines(body, budget)
        inner[0] = rf"{head}\{size}l{pair[0]} {inner[0]}"
        inner[-1] = rf"{inner[-1]} \{size}r{pair[1]}"
        return [inner[0], *(rf"\quad {line}" for line in inner[1:])]

    def _sum_lines(self, formula: Sum, budget: int) -> list[str]:
        pieces: list[list[str]] = []
        last = len(formula.terms) - 1
        for position, term in enumerate(formula.terms):
            whole = self._term(term.negative, term.body, position == 0, position == last)
            piece = [whole]
            if printed_width(whole) > budget and not isinstance(term.body, (Sum, BigSum)):
                piece = self.lines(term.body, budget)
                sign = "-" if term.negative else "+" if position else ""
                piece[0] = f"{sign} {piece[0]}" if sign else piece[0]
                piece[1:] = [rf"\quad {line}" for line in piece[1:]]
            pieces.append(piece)
        return _packed(pieces, budget, "{} ")

    def _product_lines(self, formula: Product, budget: int) -> list[str]:
        pieces: list[list[str]] = []
        for factor, whole in zip(formula.factors, self._factors(formula.factors), strict=True):
            piece = [whole]
            if printed_width(whole) > budget and isinstance(factor, Sum):
                piece = self._bracket_lines("", factor, "()", budget)
            elif printed_width(whole) > budget:
                piece = self._slot_lines(factor, budget)
            pieces.append(piece)
        return _packed(pieces, budget, self.macros.times + " ")


def _packed(pieces: list[list[str]], budget: int, lead: str) -> list[str]:
    """The pieces in lines; a piece of several lines begins behind a short beginning or on its own line."""
    lines: list[str] = []
    closed = True
    for piece in pieces:
        room = not closed and printed_width(lines[-1] + piece[0]) <= budget + (8 if len(piece) > 1 else 0)
        if room:
            lines[-1] += " " + piece[0]
        else:
            lines.append((lead if lines else "") + piece[0])
        lines += piece[1:]
        closed = len(piece) > 1
    return lines
