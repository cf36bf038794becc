"""Statements about formulas, as formula trees: what a sentence says in symbols.

Beside formula.py, which has what an expression is read into; these are built by whoever writes a sentence:

    Assignment(THETA, difference(THETA, times(H, Bracketed(added(F, M)))))       theta <- theta - h [F + M]
"""

from __future__ import annotations

from symmem.notation.formula import Atom, Formula, Number, Power, Product, Sum, Term


class Letter(Formula):
    """A letter of the theory itself, by its name in `symbols.LETTERS`: F, M, G, d, P, Phi, mu, ...

    Unlike an `Atom` it is never a declared parameter, whatever that is called.
    """

    name: str


class Word(Formula):
    """Plain words in the place of a left-hand side."""

    words: str


class Indexed(Formula):
    """base_index."""

    base: Formula
    index: Formula


class Iterate(Formula):
    """theta at a step: theta_0, theta_{n+1}; in the paper's macros the step stands above."""

    step: Formula


class AtStep(Formula):
    """What belongs to one step: F^(n).  In lines of text the limit, F^(oo), is written F."""

    base: Formula
    step: Formula


class Bracketed(Formula):
    """In square brackets."""

    body: Formula


class Applied(Formula):
    """A letter as a function: Phi(m_1, m_2)."""

    function: Formula
    arguments: tuple[Formula, ...]


class Along(Formula):
    """A derivative applied to a direction, in square brackets behind it."""

    derivative: Formula
    direction: Formula


class Velocity(Formula):
    """The derivative of theta with respect to time."""


class BigO(Formula):
    """O(size)."""

    size: Formula


class Interval(Formula):
    """From lower to upper; an end that is open does not belong to it."""

    lower: Formula
    upper: Formula
    lower_open: bool
    upper_open: bool


class Assignment(Formula):
    """left <- right."""

    left: Formula
    right: Formula


class Equality(Formula):
    """left = right."""

    left: Formula
    right: Formula


class Less(Formula):
    """left < right."""

    left: Formula
    right: Formula


class Tends(Formula):
    """Formulas that go to a place together: eps, delta -> 0."""

    left: tuple[Formula, ...]
    place: Formula


class Listed(Formula):
    """Formulas behind each other, with commas between them."""

    parts: tuple[Formula, ...]


class Grouped(Formula):
    """The same in parentheses: a point by its entries."""

    parts: tuple[Formula, ...]


RELATIONS = (Assignment, Equality, Less, Tends)

THETA, H, N = Atom("theta"), Atom("lr"), Atom("n")
ZERO, ONE = Number(0), Number(1)


def added(*parts: Formula) -> Formula:
    """The sum of the parts, without brackets around sums among them."""
    terms: list[Term] = []
    for part in parts:
        terms += part.terms if isinstance(part, Sum) else (Term(False, part),)
    return terms[0].body if len(terms) == 1 and not terms[0].negative else Sum(tuple(terms))


def difference(left: Formula, right: Formula) -> Formula:
    """``left - right``."""
    return Sum((Term(False, left), Term(True, right)))


def times(*factors: Formula) -> Formula:
    """The product, without brackets around products among the factors."""
    flat: list[Formula] = []
    for factor in factors:
        flat += factor.factors if isinstance(factor, Product) else (factor,)
    return flat[0] if len(flat) == 1 else Product(tuple(flat))


def power_of_h(exponent: int) -> Formula:
    """``h^exponent``; h itself for 1."""
    return H if exponent == 1 else Power(H, Number(exponent))


def series(letter: str, powers: range, point: Formula | None = None) -> Formula:
    """``G_0 + h G_1 + h^2 G_2``: each coefficient, taken at the point, with its power of h."""
    terms = []
    for j in powers:
        coefficient: Formula = Indexed(Letter(letter), Number(j))
        placed = coefficient if point is None else Applied(coefficient, (point,))
        terms.append(times(power_of_h(j), placed) if j else placed)
    return added(*terms)
