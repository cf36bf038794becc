"""The factors of a product, sorted into what is written where; used by structure.py.

One line of signs and numbers, scalars above and below the bar, entrywise vectors above and below, and the
operators, which come last.  `formula` decides how many fractions are drawn.
"""

from __future__ import annotations

from sympy import Add, Expr, Rational, S

from symmem.notation.formula import Formula, Fraction, Number, Power, Product, Sum, is_open, negated, product
from symmem.notation.ordering import Key
from symmem.records import record


@record(frozen=True)
class Factor:
    """One factor of a product, with the key by which it is put in order."""

    key: Key
    formula: Formula
    base: Expr
    """The base of the power that is written."""


def _formulas(factors: list[Factor]) -> tuple[Formula, ...]:
    return tuple(factor.formula for factor in sorted(factors, key=lambda factor: factor.key))


def _number(value: Rational) -> tuple[tuple[Formula, ...], tuple[Formula, ...]]:
    """A positive rational as factors above and below; 10^-8 stays a power of ten."""
    above: tuple[Formula, ...] = () if value.p == 1 else (Number(int(value.p)),)
    digits = str(value.q)
    if len(digits) > 3 and digits.strip("0") == "1":
        return (*above, Power(Number(10), negated(Number(len(digits) - 1)))), ()
    return above, () if value.q == 1 else (Number(int(value.q)),)


def _fraction(above: tuple[Formula, ...], below: tuple[Formula, ...]) -> tuple[Formula, ...]:
    return (Fraction(product(above), product(below)),) if below else above


def _is_tall(formula: Formula) -> bool:
    """A sum of fractions: h/2 (a/b - c/d) reads better than h (a/b - c/d)/2."""
    if not isinstance(formula, Sum):
        return False
    parts = [t.body.factors if isinstance(t.body, Product) else (t.body,) for t in formula.terms]
    return any(isinstance(part, Fraction) for factors in parts for part in factors)


class Factors:
    """Collects the factors of one product."""

    def __init__(self) -> None:
        self.negative = False
        self.number: Rational = S.One
        self.scalars: list[Factor] = []
        self.scalars_below: list[Factor] = []
        self.vectors: list[Factor] = []
        self.vectors_below: list[Factor] = []
        self.operators: list[Formula] = []

    def times(self, number: Rational) -> None:
        """Takes a number in: its sign and its size."""
        self.negative ^= bool(number.is_negative)
        self.number *= abs(number)

    def _take_offsets(self) -> None:
        """eps above (grad^2 + eps)^(3/2) belongs to that fraction: eps/(...)^(3/2) is one thing."""
        offsets = {term for f in self.vectors_below if isinstance(f.base, Add) for term in f.base.args}
        taken = [factor for factor in self.scalars if factor.base in offsets]
        self.vectors += [Factor((-3, *factor.key), factor.formula, factor.base) for factor in taken]
        self.scalars = [factor for factor in self.scalars if factor not in taken]

    def formula(self) -> Formula:
        """The product: scalar fraction, entrywise fraction, operators, as few fractions as stay readable.

        h beta / (1 - beta), 1/sqrt(v), D    ->  (h beta)/((1 - beta) sqrt(v)) D      nothing above: one fraction
        1/2, grad/sqrt(v)                    ->  grad/(2 sqrt(v))                     no scalar above: one fraction
        h beta / (1 - beta), grad/sqrt(v)    ->  (h beta)/(1 - beta) grad/sqrt(v)     two, each with its meaning
        h (a/b - c/d) / 2                    ->  h/2 (a/b - c/d)                      a tall sum stands behind
        """
        self._take_offsets()
        above, below = _number(self.number)
        above += _formulas(self.scalars)
        below += _formulas(self.scalars_below)
        vectors, vectors_below = _formulas(self.vectors), _formulas(self.vectors_below)
        operators = tuple(sorted(self.operators, key=is_open))
        only_below = bool(vectors_below) and not vectors
        if only_below:
            return product(_fraction(above, below + vectors_below) + operators)
        scalars_only_below = bool(below) and not above
        if vectors and scalars_only_below and not any(map(_is_tall, vectors)):
            return product(_fraction(vectors, below + vectors_below) + operators)
        tall = () if self.scalars_below else tuple(filter(_is_tall, above))
        flat = tuple(factor for factor in above if factor not in tall)
        return product(_fraction(flat, below) + tall + _fraction(vectors, vectors_below) + operators)
