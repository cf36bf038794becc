r"""Formula tree -> LaTeX documents with possible breaks; used by latex.py.

Standard amsmath; the symbols and macros are `symbols.Macros`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from symmem.notation.formula import (
    Absolute,
    Atom,
    BigSum,
    Call,
    Decimal,
    Derivative,
    Directional,
    Formula,
    Fraction,
    Gradient,
    Inner,
    Literal,
    Norm,
    Number,
    Potential,
    Power,
    Product,
    Root,
    Sum,
    Total,
    is_bare,
    is_open,
    product,
    starts_with_digit,
)
from symmem.notation.latex_brackets import Brackets, between
from symmem.notation.layout import Cat, Choice, Doc, Fill, Item, flat
from symmem.notation.statement import Letter
from symmem.notation.statement_latex import statement_latex
from symmem.notation.symbols import Macros, Speller
from symmem.notation.tex_size import width
from symmem.records import record

WIDEST_FRACTION = 24.0
"""A fraction that is wider, with the sums of its numerator behind it, is written as a product."""

_OPERATORS = frozenset(
    ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min", "arcsin", "arccos", "arctan")
)
_RENAMED = {
    **{"Max": "max", "Min": "min", "asin": "arcsin", "acos": "arccos", "atan": "arctan"},
    **{"newton_schulz": "NewtonSchulz", "inverse_root": "InverseRoot", "sum_tensors": "SumTensors"},
}


@record(frozen=True)
class LatexPrinter:
    """A Formula as LaTeX, with the symbols of a speller."""

    speller: Speller
    fixed: bool = False
    """Whether brackets have fixed sizes, so that lines may be broken inside."""
    depth: int = 0
    """1 inside a fraction, where fractions are small."""

    @property
    def macros(self) -> Macros:
        """How the operators are spelled."""
        return self.speller.macros

    @property
    def _brackets(self) -> Callable[..., Doc]:
        return Brackets(self.fixed, self.depth).around

    def tex(self, formula: Formula) -> str:
        """The formula in one line."""
        return flat(self.doc(formula))

    def doc(self, formula: Formula) -> Doc:
        """The formula with the places at which a line may end."""
        match formula:
            case Number(value):
                return str(value)
            case Atom(name):
                return self.speller.latex(name)
            case Decimal(mantissa, exponent):
                ten = rf"10^{{{exponent}}}"
                return mantissa if not exponent else ten if mantissa == "1" else rf"{mantissa} \cdot {ten}"
            case Literal(literal):
                return r"\text{" + literal + "}"
            case Sum():
                return self._sum(formula)
            case Product(factors):
                return _product(self._factors(factors))
            case Fraction():
                return self._fraction(formula)
            case Power(base, exponent):
                return Cat((self._base(base), f"^{{{self._exponent(exponent)}}}"))
            case Root(radicand):
                whole = rf"\sqrt{{{self.tex(radicand)}}}"
                return (
                    Choice(whole, Cat((self._brackets(self.doc(radicand)), "^{1/2}")))
                    if self.fixed
                    else whole
                )
            case Absolute(body):
                return between(self.macros.absolute, self.tex(body))
            case Norm(body, index):
                inside = ", ".join(self._exponent(part) for part in index)
                return between(self.macros.norm, self.tex(body)) + (f"_{{{inside}}}" if index else "")
            case Call(function, arguments):
                return Cat((self._function(function), self._list("(", arguments, ")")))
            case _:
                return self._operator(formula)

    def _operator(self, formula: Formula) -> Doc:
        match formula:
            case Gradient(body):
                return Cat((f"{self.macros.nabla} ", self._closed(body)))
            case Potential(function, point):
                return Cat((self.speller.potential_latex(function), self._list("(", (point,), ")")))
            case Derivative(slots=slots):
                if is_bare(formula):
                    return _applied(self._head(formula), self.doc(slots[0]))
                return Cat((self._head(formula), self._list("[", slots, "]")))
            case Directional(function, point, slots, labels):
                order = f"^{{{len(slots)}}}" if len(slots) > 1 else ""
                head = f"{self.macros.directional}{order} {self._function(function)}"
                return Cat((head, self._list("(", (point, *labels), ")"), self._list("[", slots, "]")))
            case Inner(left, right):
                closed = self._once_raised(left) if isinstance(left, Atom) else self._brackets(self.doc(left))
                return Cat((closed, f"{self.macros.transpose} ", self._closed(right)))
            case Total(body):
                return Cat((r"\sum_{i} ", self._brackets(self.doc(body)), "_{i}"))
            case BigSum(index, lower, upper, body):
                low, high = self.tex(lower), self.tex(upper)
                return _applied(rf"\sum_{{{self.tex(index)} = {low}}}^{{{high}}}", self._closed(body))
        return statement_latex(formula, self.doc, self._brackets, self.macros)

    def _head(self, formula: Derivative) -> Doc:
        r"""The tensor before its slots: \nabla^{2} \mathcal{L}."""
        opaque = formula.field != "loss"
        potential = self.speller.potential_latex(formula.field) if opaque else self.speller.latex("loss")
        point: Doc = "" if formula.point is None else self._brackets(self.doc(formula.point))
        head = f"{self.macros.nabla}^{{{formula.order}}} {potential}"
        return Cat((f"({head})^{{{formula.repeat}}}" if formula.repeat > 1 else head, point))

    def _function(self, name: str) -> str:
        if name in self.speller.functions:
            return self.speller.function_latex(name)
        name = _RENAMED.get(name, name)
        return f"\\{name}" if name in _OPERATORS else rf"\operatorname{{{name}}}"

    def _list(self, left: str, formulas: tuple[Formula, ...], right: str) -> Doc:
        *first, last = map(self.doc, formulas)
        items = [Item(" ", "", doc) for doc in (*(Cat((doc, ",")) for doc in first), last)]
        return self._brackets(Fill(tuple(items), stay=True) if first else last, left, right)

    def _closed(self, formula: Formula) -> Doc:
        return self._brackets(self.doc(formula)) if isinstance(formula, Sum) else self.doc(formula)

    # sums, products, fractions, powers

    def _sum(self, formula: Sum) -> Doc:
        items = []
        last = len(formula.terms) - 1
        for position, term in enumerate(formula.terms):
            enclosed = isinstance(term.body, BigSum) and position < last
            body = self._brackets(self.doc(term.body)) if enclosed else self._closed(term.body)
            sign = "-" if term.negative else "+"
            if position == 0 and term.negative:
                body = Cat(("-", body))
            items.append(Item(f" {sign} ", f"{{}} {sign} ", body))
        return Fill(tuple(items)) if last else items[0].body

    def _factors(self, factors: tuple[Formula, ...]) -> list[Item]:
        items = []
        for position, factor in enumerate(factors):
            enclosed = is_open(factor) and position < len(factors) - 1
            body = self._brackets(self.doc(factor)) if enclosed else self._closed(factor)
            dotted = position > 0 and starts_with_digit(factor) and not isinstance(factor, Fraction)
            glue = f" {self.macros.dot} " if dotted else " "
            items.append(Item(glue, f"{self.macros.times} ", body))
        return items

    def _fraction(self, formula: Fraction) -> Doc:
        r"""One \frac; where it is too wide, the sums of its numerator stand behind it."""
        whole = self._over(formula.numerator, formula.denominator)
        if not self.fixed:
            return whole
        above = formula.numerator.factors if isinstance(formula.numerator, Product) else (formula.numerator,)
        sums = tuple(factor for factor in above if isinstance(factor, Sum))
        rest = product(tuple(factor for factor in above if not isinstance(factor, Sum)))
        front: Doc = self._over(rest, formula.denominator)
        if width(flat(front)) > WIDEST_FRACTION:
            inverse = Cat((self._brackets(self.doc(formula.denominator)), "^{-1}"))
            front = (
                inverse if rest == Number(1) else _product([*self._factors((rest,)), self._times(inverse)])
            )
        if not sums and isinstance(front, str):
            return whole
        return Choice(
            whole, _product([Item("", "", front), *(self._times(item.body) for item in self._factors(sums))])
        )

    def _over(self, numerator: Formula, denominator: Formula) -> str:
        inner = replace(self, depth=1)
        return rf"\frac{{{inner.tex(numerator)}}}{{{inner._denominator(denominator)}}}"

    def _times(self, body: Doc) -> Item:
        return Item(" ", f"{self.macros.times} ", body)

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
        return flat(_product(self._factors(lowered)) if len(lowered) > 1 else self.doc(lowered[0]))

    def _base(self, base: Formula) -> Doc:
        atomic = isinstance(base, (Number, Norm, Absolute, Letter)) or (
            isinstance(base, Atom) and base.name != "grad"
        )
        if not atomic:
            return self._brackets(self.doc(base))
        return self._once_raised(base) if isinstance(base, Atom) else self.tex(base)

    def _once_raised(self, atom: Atom) -> str:
        """A symbol below an exponent: one that carries a superscript of its own, as a declared one may, is enclosed.

        TeX takes no second superscript, and braces do not always help.
        """
        shown = self.tex(atom)
        return f"({shown})" if "^" in shown else shown

    def _exponent(self, formula: Formula) -> str:
        """In small type a fraction is written with a slash."""
        if isinstance(formula, Fraction) and isinstance(formula.denominator, (Number, Atom)):
            return f"{flat(self._base(formula.numerator))}/{self.tex(formula.denominator)}"
        return self.tex(formula)


def _product(items: list[Item]) -> Doc:
    return Fill(tuple(items), stay=True)


def _applied(operator: Doc, operand: Doc) -> Doc:
    """An operator before what it acts on, which begins a new line where both are long."""
    return Fill((Item("", "", operator), Item(" ", "", operand)), stay=True, tight=True)
