"""The formula tree: what is written, before it is known in which format.

Between structure.py (which builds it from an expression) and text.py, latex.py (which spell it).  A minus
sign lives in `Term` only; an atom carries the name it has in the expression language.
"""

from __future__ import annotations

from inspect import get_annotations
from typing import Any, dataclass_transform


@dataclass_transform(frozen_default=True)
class Node:
    """A frozen record whose fields are its annotations; equal when class and fields are.

    A dataclass in all but name: nineteen of those would be compiled anew at every start of the command line,
    a fiftieth of what SymPy's own import takes.
    """

    __match_args__: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        type.__setattr__(cls, "__match_args__", tuple(get_annotations(cls)))

    def __init__(self, *parts: Any) -> None:
        names = self.__match_args__
        missing = [getattr(type(self), name) for name in names[len(parts) :]]
        for name, part in zip(names, (*parts, *missing), strict=True):
            object.__setattr__(self, name, part)

    def _parts(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__match_args__)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash((type(self), self._parts()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._parts()))})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")


class Formula(Node):
    """Anything that can be written."""


class Number(Formula):
    """A natural number."""

    value: int


class Atom(Formula):
    """A symbol, by its name in the expression language: theta, grad, lr, n, beta1, oo, ..."""

    name: str


class Decimal(Formula):
    """A positive number to the digits shown: the text of its mantissa, and the power of ten."""

    mantissa: str
    exponent: int = 0


class Verbatim(Formula):
    """Text of something outside the language, shown as it is."""

    text: str


class Term(Node):
    """A part of a sum, with its sign in front."""

    negative: bool
    body: Formula


class Sum(Formula):
    """Signed terms.  One negative term is how -x is written."""

    terms: tuple[Term, ...]


class Product(Formula):
    """Factors, in the order in which they are read."""

    factors: tuple[Formula, ...]


class Fraction(Formula):
    """A quotient, with a bar or a slash."""

    numerator: Formula
    denominator: Formula


class Power(Formula):
    """A base with its exponent."""

    base: Formula
    exponent: Formula


class Root(Formula):
    """The square root."""

    radicand: Formula


class Absolute(Formula):
    """Absolute values, entry by entry."""

    body: Formula


class Norm(Formula):
    """A norm of a vector; the index is () for Euclid's, (1,) and (1, eps) for the one-norms."""

    body: Formula
    index: tuple[Formula, ...]


class Call(Formula):
    """A function by name, elementary or opaque, applied to its arguments."""

    function: str
    arguments: tuple[Formula, ...]


class Potential(Formula):
    """The scalar whose gradient an opaque function is, at a point: K(point), by the name of the function."""

    function: str
    point: Formula


class Gradient(Formula):
    """The gradient with respect to theta of the scalar in the body."""

    body: Formula


class Derivative(Formula):
    """The derivative tensor of a potential, applied to slots: nabla^order field(point)[slots].

    `field` is "loss" (point None: the tensor stands at theta) or the name of an opaque gradient.
    `repeat` > 1 is a power of the Hessian: (nabla^2 L)^repeat slot.
    """

    field: str
    order: int
    point: Formula | None
    slots: tuple[Formula, ...]
    repeat: int = 1


class Directional(Formula):
    """The derivative of an opaque function without potential: D^k f(point)[slots]."""

    function: str
    point: Formula
    slots: tuple[Formula, ...]
    labels: tuple[Formula, ...] = ()


class Inner(Formula):
    """The inner product, left transposed times right."""

    left: Formula
    right: Formula


class Total(Formula):
    """The sum over the entries of a vector that has no shorter name."""

    body: Formula


class TensorSum(Formula):
    """The sum over the tensors of one number each."""

    body: Formula


class BigSum(Formula):
    """A sum over an index between two bounds, or a product."""

    index: Formula
    lower: Formula
    upper: Formula
    body: Formula
    is_product: bool = False


class Comparison(Formula):
    """left < right, by the sign that Python has for it."""

    left: Formula
    sign: str
    right: Formula


class Conditions(Formula):
    """Conditions with a word between them: and, or."""

    word: str
    parts: tuple[Formula, ...]


def contains(formula: Node, kinds: tuple[type[Formula], ...]) -> bool:
    """Whether a formula of one of the kinds is written in this one."""
    if isinstance(formula, kinds):
        return True
    parts = formula._parts()
    inside = (each for part in parts for each in (part if isinstance(part, tuple) else (part,)))
    return any(isinstance(each, Node) and contains(each, kinds) for each in inside)


def negated(formula: Formula) -> Formula:
    """-formula as a formula."""
    return Sum((Term(True, formula),))


def product(factors: tuple[Formula, ...]) -> Formula:
    """The factors as one formula; no factor is 1."""
    if len(factors) == 1:
        return factors[0]
    return Product(factors) if factors else Number(1)


def is_bare(formula: Derivative) -> bool:
    """Whether the slot is written behind the tensor without brackets: (nabla^2 L) theta."""
    slot = formula.slots[0]
    return len(formula.slots) == 1 and isinstance(slot, (Atom, Derivative))


def is_open(formula: Formula) -> bool:
    """Whether a factor written behind the formula would be read as a part of it."""
    if isinstance(formula, Derivative):
        return is_bare(formula)
    return isinstance(formula, (Gradient, Inner, Total, TensorSum, BigSum))


def starts_with_digit(formula: Formula) -> bool:
    """Whether a digit is written first: a number before it needs a sign between."""
    match formula:
        case Number():
            return True
        case Product(factors):
            return starts_with_digit(factors[0])
        case Fraction(numerator, _):
            return starts_with_digit(numerator)
        case Decimal():
            return True
        case Power(base, _):
            return isinstance(base, (Number, Decimal))
        case _:
            return False


def ends_in_denominator(formula: Formula) -> bool:
    """Whether the last thing on a one-line reading stands behind a slash."""
    if isinstance(formula, Product):
        return ends_in_denominator(formula.factors[-1])
    return isinstance(formula, Fraction)
