r"""Formula tree -> LaTeX documents with possible breaks; used by latex.py.

Standard amsmath; the symbols are those of `LatexSpeller`, the signs `macros.Macros`.  Every leaf is a `Piece`, made
with its extent: brackets and line breaks ask it, and nobody reads the LaTeX.
"""

from __future__ import annotations

from dataclasses import replace

from symmem.notation import extent
from symmem.notation.extent import SCRIPT_DEPTH
from symmem.notation.formula import (
    Absolute,
    Atom,
    BigSum,
    Call,
    Comparison,
    Conditions,
    Decimal,
    Derivative,
    Directional,
    Formula,
    Fraction,
    Gradient,
    Inner,
    Norm,
    Number,
    Potential,
    Power,
    Product,
    Root,
    Sum,
    TensorSum,
    Total,
    Verbatim,
    is_bare,
    is_open,
    product,
    starts_with_digit,
)
from symmem.notation.latex_brackets import in_parentheses, whole
from symmem.notation.latex_tensors import TensorPrinter, is_matrix_product
from symmem.notation.layout import Cat, Choice, Doc, Fill, Item
from symmem.notation.piece import (
    NOTHING,
    SPACE,
    Piece,
    above,
    below,
    big_sum,
    binary,
    equals,
    fraction,
    number,
    relation,
    root,
    row,
    scripted,
    symbol,
    words,
)
from symmem.notation.statement import THETA, Letter
from symmem.notation.statement_latex import attached
from symmem.notation.symbols import LATEX_NAMES

WIDEST_FRACTION = 24.0
"""A fraction that is wider, with the sums of its numerator behind it, is written as a product."""

_OPERATORS = frozenset(
    ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min", "arcsin", "arccos", "arctan")
)
_COMPARISONS = {"<=": r"\leq", ">=": r"\geq"}
_COMMA, _HALF, _INVERSE = symbol(",", 0.445), above(symbol("1/2", 1.5)), above(symbol("-1", 1.278))


class LatexPrinter(TensorPrinter):
    """A Formula as LaTeX, with the symbols of a speller."""

    def doc(self, formula: Formula) -> Doc:
        """The formula with the places at which a line may end."""
        match formula:
            case Number(value):
                return number(value)
            case Atom(name):
                return self._atom(name)
            case Decimal(mantissa, exponent):
                return self._decimal(mantissa, exponent)
            case Verbatim(literal):
                return words(literal)
            case Sum():
                return self._sum(formula)
            case Product(factors):
                return _product(self._factors(factors))
            case Fraction():
                return self._fraction(formula)
            case Power(base, exponent):
                return attached(self._base(base), above(self._exponent(exponent), self.depth))
            case Root(radicand):
                over = root(self.line(radicand))
                return Choice(over, Cat((self.enclosed(self.doc(radicand)), _HALF))) if self.fixed else over
        found = self.tensor(formula)
        return self._operator(formula) if found is None else found

    def _operator(self, formula: Formula) -> Doc:
        macros = self.macros
        match formula:
            case Call(function, arguments):
                return Cat((self._function(function), self._list("(", arguments, ")")))
            case Gradient(body):
                return Cat((macros.nabla, SPACE, self._closed(body)))
            case Potential(function, point):
                potential = self.speller.potential_latex(function, self.depth)
                return Cat((potential, self._list("(", (point,), ")")))
            case Derivative(slots=slots):
                if is_bare(formula):
                    return _applied(self._head(formula), self.doc(slots[0]))
                return Cat((self._head(formula), self._list("[", slots, "]")))
            case Directional(function, point, slots, labels):
                order = above(number(len(slots))) if len(slots) > 1 else NOTHING
                head = row(scripted(macros.directional, order), SPACE, self._function(function))
                return Cat((head, self._list("(", (point, *labels), ")"), self._list("[", slots, "]")))
            case Inner(left, right):
                closed = self._once_raised(left) if isinstance(left, Atom) else self.enclosed(self.doc(left))
                return Cat((attached(closed, macros.transpose), SPACE, self._closed(right)))
            case Total(body):
                index = symbol("i", 0.345)
                head = row(big_sum(index, None, self.depth), SPACE)
                if isinstance(body, Number):  # the same in every entry
                    return Cat((head, self.doc(body)))
                return Cat((head, self.enclosed(self.doc(body)), below(index)))
            case TensorSum(body):
                return _applied(big_sum(words("tensors"), None, self.depth), self._closed(body))
            case Comparison(left, sign, right):
                shown = relation(_COMPARISONS.get(sign, sign), 0.778, self.depth)
                return Cat((self.doc(left), shown, self.doc(right)))
            case Conditions(word, parts):
                first, *rest = (self.enclosed(self.doc(part)) for part in parts)
                glue = words(f" {word} ")
                return Fill((Item(NOTHING, NOTHING, first), *(Item(glue, glue, part) for part in rest)))
            case BigSum(index, lower, upper, body, is_product):
                start = row(self.small(index), equals(self.depth + SCRIPT_DEPTH), self.small(lower))
                sign = r"\prod" if is_product else r"\sum"
                return _applied(big_sum(start, self.small(upper), self.depth, sign), self._closed(body))
        return self.statement(formula)

    # symbols

    def _atom(self, name: str) -> Doc:
        """A symbol, or the formula that it stands for; the loss and its gradient at their argument."""
        meant = self.speller.meaning(name)
        if meant is not None:
            return replace(self, speller=self.speller.without(name)).doc(meant)
        shown = self.speller.latex(name, self.depth)
        at_theta = self.speller.arguments and name in ("grad", "loss")
        return row(shown, in_parentheses(self.line(THETA))) if at_theta else shown

    def _decimal(self, mantissa: str, exponent: int) -> Piece:
        digits = symbol(mantissa, extent.digits(len(mantissa)))
        if not exponent:
            return digits
        ten = scripted(number(10), above(_integer(exponent)))
        return ten if mantissa == "1" else row(digits, binary(r"\cdot", 0.278, self.depth), ten)

    def _head(self, formula: Derivative) -> Doc:
        r"""The tensor before its slots: \nabla^{2} \mathcal{L}."""
        opaque = formula.field != "loss"
        potential = (
            self.speller.potential_latex(formula.field, self.depth) if opaque else self.line(Atom("loss"))
        )
        head = row(scripted(self.macros.nabla, above(number(formula.order))), SPACE, potential)
        if formula.repeat > 1:
            head = scripted(in_parentheses(head), above(number(formula.repeat)))
        return head if formula.point is None else Cat((head, self.enclosed(self.doc(formula.point))))

    def _function(self, name: str) -> Piece:
        if name in self.speller.functions:
            return self.speller.function_latex(name, self.depth)
        name = LATEX_NAMES.get(name, name)
        if name in _OPERATORS:
            return symbol(f"\\{name}", 0.5 * len(name) + 0.2)
        return symbol(rf"\operatorname{{{name}}}", 0.56 * len(name) + 0.167)

    def _list(self, left: str, formulas: tuple[Formula, ...], right: str) -> Doc:
        *first, last = map(self.doc, formulas)
        items = [Item(SPACE, NOTHING, doc) for doc in (*(Cat((doc, _COMMA)) for doc in first), last)]
        return self.enclosed(Fill(tuple(items), stay=True) if first else last, left, right)

    def _closed(self, formula: Formula) -> Doc:
        return self.enclosed(self.doc(formula)) if isinstance(formula, Sum) else self.doc(formula)

    # sums, products, fractions, powers

    def _sum(self, formula: Sum) -> Doc:
        items = []
        last = len(formula.terms) - 1
        for position, term in enumerate(formula.terms):
            is_enclosed = isinstance(term.body, (BigSum, TensorSum)) and position < last
            body = self.enclosed(self.doc(term.body)) if is_enclosed else self._closed(term.body)
            sign = "-" if term.negative else "+"
            between = binary(sign, 0.778, self.depth)
            if position == 0 and term.negative:
                body = Cat((symbol(sign, 0.778), body))
            items.append(Item(between, Piece(f"{{}}{between.text}", between.extent), body))
        return Fill(tuple(items)) if last else items[0].body

    def _factors(self, factors: tuple[Formula, ...]) -> list[Item]:
        items = []
        for position, factor in enumerate(factors):
            is_enclosed = is_matrix_product(factor) or (is_open(factor) and position < len(factors) - 1)
            body = self.enclosed(self.doc(factor)) if is_enclosed else self._closed(factor)
            dotted = position > 0 and starts_with_digit(factor) and not isinstance(factor, Fraction)
            glue = binary(self.macros.dot, 0.278, self.depth) if dotted else SPACE
            items.append(Item(glue, self._times_sign(), body))
        return items

    def _fraction(self, formula: Fraction) -> Doc:
        r"""One \frac; where it is too wide, the sums of its numerator stand behind it."""
        undivided = self._over(formula.numerator, formula.denominator)
        if not self.fixed:
            return undivided
        above_bar = (
            formula.numerator.factors if isinstance(formula.numerator, Product) else (formula.numerator,)
        )
        sums = tuple(factor for factor in above_bar if isinstance(factor, Sum))
        rest = product(tuple(factor for factor in above_bar if not isinstance(factor, Sum)))
        over = self._over(rest, formula.denominator)
        front: Doc = over
        if over.width > WIDEST_FRACTION:
            inverse = Cat((self.enclosed(self.doc(formula.denominator)), _INVERSE))
            front = (
                inverse if rest == Number(1) else _product([*self._factors((rest,)), self._times(inverse)])
            )
        if not sums and front is over:
            return undivided
        behind = (self._times(item.body) for item in self._factors(sums))
        return Choice(undivided, _product([Item(NOTHING, NOTHING, front), *behind]))

    def _over(self, numerator: Formula, denominator: Formula) -> Piece:
        inner = replace(self, depth=self.depth + 1)
        return fraction(inner.line(numerator), inner._denominator(denominator), self.depth)

    def _times(self, body: Doc) -> Item:
        return Item(SPACE, self._times_sign(), body)

    def _times_sign(self) -> Piece:
        """What a new line of a product begins with."""
        return symbol(f"{self.macros.times} ", 1.222)

    def _denominator(self, formula: Formula) -> Piece:
        """Square roots of sums below the bar are written as powers, as in the paper."""
        factors = formula.factors if isinstance(formula, Product) else (formula,)
        half = Fraction(Number(1), Number(2))
        lowered = tuple(
            Power(factor.radicand, half)
            if isinstance(factor, Root) and isinstance(factor.radicand, Sum)
            else factor
            for factor in factors
        )
        return whole(_product(self._factors(lowered)) if len(lowered) > 1 else self.doc(lowered[0]))

    def _base(self, base: Formula) -> Doc:
        plain = isinstance(base, Decimal) and not base.exponent
        atomic = (
            plain
            or isinstance(base, (Number, Norm, Absolute, Letter))
            or (isinstance(base, Atom) and base.name != "grad")
        )
        if not atomic:
            return self.enclosed(self.doc(base))
        return self._once_raised(base) if isinstance(base, Atom) else self.line(base)

    def _exponent(self, formula: Formula) -> Piece:
        """In small type a fraction is written with a slash."""
        small = replace(self, depth=self.depth + SCRIPT_DEPTH)
        if isinstance(formula, Fraction) and isinstance(formula.denominator, (Number, Atom)):
            slash = symbol("/", 0.5)
            return row(whole(small._base(formula.numerator)), slash, small.line(formula.denominator))
        return small.line(formula)


def _integer(value: int) -> Piece:
    return row(symbol("-", 0.778), number(-value)) if value < 0 else number(value)


def _product(items: list[Item]) -> Doc:
    return Fill(tuple(items), stay=True)


def _applied(operator: Doc, operand: Doc) -> Doc:
    """An operator before what it acts on, which begins a new line where both are long."""
    return Fill((Item(NOTHING, NOTHING, operator), Item(SPACE, NOTHING, operand)), stay=True, tight=True)
