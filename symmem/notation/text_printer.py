"""Formula tree -> documents of Unicode or ASCII text with possible breaks; used by text.py.

Fractions are written on the line, a/(b c), so a factor behind a fraction is set off by a dot: a/b · c.
"""

from __future__ import annotations

from dataclasses import replace

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
    contains,
    ends_in_denominator,
    is_bare,
    is_open,
    starts_with_digit,
)
from symmem.notation.glyphs import Glyphs, subscript, superscript
from symmem.notation.layout import Cat, Doc, Fill, Item, flat
from symmem.notation.statement import Letter
from symmem.notation.statement_text import statement_text
from symmem.notation.symbols import Speller
from symmem.records import record


def _around(left: str, body: Doc, right: str) -> Doc:
    return Cat((left, body, right))


_RENAMED = {"Max": "max", "Min": "min"}
"""SymPy's names of functions that a person writes otherwise."""


@record(frozen=True)
class TextPrinter:
    """A Formula as lines of text, in Unicode or ASCII."""

    speller: Speller
    glyphs: Glyphs

    def doc(self, formula: Formula) -> Doc:
        """The formula with the places at which a line may end."""
        match formula:
            case Number(value):
                return str(value)
            case Atom(name):
                meant = self.speller.meaning(name)
                if meant is not None:
                    return replace(self, speller=self.speller.without(name)).doc(meant)
                return self.speller.text(name, self.glyphs)
            case Decimal(mantissa, exponent):
                return self._decimal(mantissa, exponent)
            case Verbatim(literal):
                return literal
            case Sum():
                return self._sum(formula)
            case Product():
                return self._product(formula)
            case Fraction(numerator, denominator):
                above, below = self._numerator(numerator), self._denominator(denominator)
                return Fill((Item("", "", above), Item("/", "/ ", below)), hang=2, stay=True, tight=True)
            case Power():
                return self._power(formula)
            case Root(radicand):
                return self._root(radicand)
            case Absolute(body):
                return _around("|", self._barred(body), "|")
            case Norm(body, index):
                bars = self.glyphs.norm
                return _around(bars, self._barred(body), bars + self._norm_index(index))
            case Call(function, arguments):
                name = _RENAMED.get(function) or self.speller.function_text(function, self.glyphs)
                return Cat((name, self._list("(", arguments, ")")))
            case _:
                return self._operator(formula)

    def _operator(self, formula: Formula) -> Doc:
        match formula:
            case Gradient(body):
                return Cat((self.glyphs.nabla, self._closed(body)))
            case Potential(function, point):
                name = self.speller.potential_text(function, self.glyphs)
                return Cat((name, self._list("(", (point,), ")")))
            case Derivative():
                return self._derivative(formula)
            case Directional(function, point, slots, labels):
                head = (
                    "D" + self._raised(len(slots)) + " " + self.speller.function_text(function, self.glyphs)
                )
                at = Cat((head, self._list("(", (point, *labels), ")")))
                return self._before_slot(at, "", self._list("[", slots, "]"))
            case Inner(left, right):
                glue = self.glyphs.transpose + ("" if self.glyphs.unicode else " ")
                closed = self.doc(left) if isinstance(left, Atom) else _around("(", self.doc(left), ")")
                return Cat((closed, glue, self._closed(right)))
            case Total(body):
                if isinstance(body, Number):  # the same in every entry
                    return Cat(("Σᵢ " if self.glyphs.unicode else "sum_i ", self.doc(body)))
                head, tail = ("Σᵢ (", ")ᵢ") if self.glyphs.unicode else ("sum_i (", ")_i")
                return _around(head, self.doc(body), tail)
            case TensorSum(body):
                return Fill(
                    (Item("", "", f"{self.glyphs.sum}_tensors"), Item(" ", "", self._closed(body))), hang=2
                )
            case Comparison(left, sign, right):
                shown = self.glyphs.comparisons.get(sign, sign)
                return Cat((self.doc(left), f" {shown} ", self.doc(right)))
            case Conditions(word, parts):
                docs = [_around("(", self.doc(part), ")") for part in parts]
                return Fill(tuple(Item(f" {word} ", f"{word} ", doc) for doc in docs))
            case BigSum(index, lower, upper, body):
                sign = self.glyphs.product if formula.is_product else self.glyphs.sum
                head = self._sum_sign(
                    sign, *(flat(self.doc(part)).replace(" ", "") for part in (index, lower, upper))
                )
                return Fill((Item("", "", head), Item(" ", "", self._closed(body))), hang=2)
        return statement_text(formula, self.doc, self.glyphs)

    def _sum_sign(self, sign: str, index: str, lower: str, upper: str) -> str:
        """The sign with its limits; limits of one character each are written small."""
        low, high = subscript(index) and subscript(lower), superscript(upper)
        if self.glyphs.unicode and low and high and len(index + lower + upper) == 3:
            return f"{sign}{subscript(index)}₌{subscript(lower)}{high}"
        return f"{sign}_{{{index}={lower}}}^{{{upper}}}"

    def _barred(self, body: Formula) -> Doc:
        """What stands between bars; bars inside bars are kept apart by parentheses."""
        doc = self.doc(body)
        return _around("(", doc, ")") if contains(body, (Absolute, Norm)) else doc

    def _closed(self, formula: Formula) -> Doc:
        """The formula, in parentheses if it is a sum."""
        return _around("(", self.doc(formula), ")") if isinstance(formula, Sum) else self.doc(formula)

    def _sum(self, formula: Sum) -> Doc:
        items = []
        for position, term in enumerate(formula.terms):
            enclosed = isinstance(term.body, (BigSum, TensorSum)) and position < len(formula.terms) - 1
            body = _around("(", self.doc(term.body), ")") if enclosed else self._closed(term.body)
            sign = self.glyphs.minus if term.negative else "+"
            if position == 0 and term.negative:
                body = Cat((sign, body))
            items.append(Item(f" {sign} ", f"{sign} ", body))
        return Fill(tuple(items))

    def _product(self, formula: Product) -> Doc:
        factors = formula.factors
        tight = len(factors) == 2 and isinstance(factors[0], Number) and isinstance(factors[1], Atom)
        if tight and self.glyphs.unicode and len(flat(self.doc(factors[1]))) == 1:
            return flat(self.doc(factors[0])) + flat(self.doc(factors[1]))
        items: list[Item] = []
        for position, factor in enumerate(factors):
            last = position == len(factors) - 1
            dotted = position > 0 and (self._slashed(factors[position - 1]) or starts_with_digit(factor))
            flat_glue = f" {self.glyphs.times} " if dotted else " "
            items.append(Item(flat_glue, f"{self.glyphs.times} ", self._factor(factor, last)))
        return Fill(tuple(items), hang=2, stay=True)

    def _slashed(self, factor: Formula) -> bool:
        return ends_in_denominator(factor) and not self._is_half(factor)

    def _is_half(self, factor: Formula) -> bool:
        return self.glyphs.unicode and factor == Fraction(Number(1), Number(2))

    def _factor(self, factor: Formula, last: bool) -> Doc:
        if self._is_half(factor):
            return self.glyphs.half
        if is_open(factor) and not last:
            return _around("(", self.doc(factor), ")")
        return self._closed(factor)

    def _numerator(self, formula: Formula) -> Doc:
        parts = formula.factors if isinstance(formula, Product) else (formula,)
        enclosed = is_open(parts[-1]) or any(isinstance(part, Fraction) for part in parts)
        return _around("(", self.doc(formula), ")") if enclosed else self._closed(formula)

    def _denominator(self, formula: Formula) -> Doc:
        bare = isinstance(formula, (Atom, Number, Verbatim, Power, Root, Norm, Absolute, Call))
        return self.doc(formula) if bare else _around("(", self.doc(formula), ")")

    def _decimal(self, mantissa: str, exponent: int) -> str:
        """``9.9·10⁻⁹``, as powers of ten are written; in ASCII as it is typed."""
        if not exponent:
            return mantissa
        raised = superscript(str(exponent).replace("-", "−")) if self.glyphs.unicode else None
        if raised is None:
            return f"{mantissa}e{exponent}"
        return f"10{raised}" if mantissa == "1" else f"{mantissa}·10{raised}"

    def _power(self, formula: Power) -> Doc:
        base = formula.base
        plain = isinstance(base, Decimal) and not base.exponent
        atomic = (
            plain
            or isinstance(base, (Number, Norm, Absolute, Letter))
            or (isinstance(base, Atom) and base.name != "grad")
        )
        shown = self.doc(base) if atomic else _around("(", self.doc(base), ")")
        exponent = flat(self.doc(formula.exponent))
        if self.glyphs.unicode and (raised := superscript(exponent)):
            return Cat((shown, raised))
        simple = isinstance(formula.exponent, (Number, Atom))
        return Cat((shown, f"^{exponent}" if simple else f"^({exponent})"))

    def _root(self, radicand: Formula) -> Doc:
        short = self.glyphs.unicode and isinstance(radicand, Atom) and radicand.name != "grad"
        if short:
            return Cat((self.glyphs.root, self.doc(radicand)))
        return _around(self.glyphs.root + "(", self.doc(radicand), ")")

    def _norm_index(self, index: tuple[Formula, ...]) -> str:
        if not index:
            return ""
        parts = ",".join(flat(self.doc(part)) for part in index)
        small = subscript(parts) if self.glyphs.unicode else None
        return small or (f"_{parts}" if len(parts) == 1 else f"_{{{parts}}}")

    def _list(self, left: str, formulas: tuple[Formula, ...], right: str) -> Doc:
        ends = [","] * (len(formulas) - 1) + [""]
        parts = zip(formulas, ends, strict=True)
        items = [Item(" ", "", Cat((self.doc(part), end)) if end else self.doc(part)) for part, end in parts]
        # An empty first item lets the list begin on a new line, where the margin had to be moved left.
        first = Item("", "", items[0].body)
        return _around(
            left, Fill((Item("", "", ""), first, *items[1:]), stay=True, tight=len(items) == 1), right
        )

    def _raised(self, order: int) -> str:
        """An order as an exponent; 1 is not written."""
        if order == 1:
            return ""
        return (superscript(str(order)) or "") if self.glyphs.unicode else str(order)

    def _derivative(self, formula: Derivative) -> Doc:
        opaque = formula.field != "loss"
        at_theta = f"({self.glyphs.atoms['theta']})" if self.speller.arguments and not opaque else ""
        potential = self.speller.potential_text(formula.field, self.glyphs) if opaque else "L"
        nabla = self.glyphs.nabla if self.glyphs.unicode else "D"
        head: Doc = nabla + self._raised(formula.order) + potential + at_theta
        if formula.point is not None:
            head = Cat((head, self._list("(", (formula.point,), ")")))
        if formula.repeat > 1:
            power = self._raised(formula.repeat)
            head = _around("(", head, ")" + (power if self.glyphs.unicode else f"^{power}"))
        bare = is_bare(formula)
        slot = self.doc(formula.slots[0]) if bare else self._list("[", formula.slots, "]")
        return self._before_slot(head, " " if bare else "", slot)

    def _before_slot(self, head: Doc, glue: str, slot: Doc) -> Doc:
        """A tensor and its slot, which begins a new line where both are long."""
        return Fill((Item("", "", head), Item(glue, "", slot)), hang=4, stay=True, tight=True)
