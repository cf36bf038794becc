"""One titled section of an account, as a record: sections.py and verdict_sections.py make it, renderings write it."""

from __future__ import annotations

from sympy import Expr

from symmem.algebra.results import Missing
from symmem.documents.prose import Prose, missing_prose
from symmem.notation.decimals import shown
from symmem.notation.formula import Formula
from symmem.records import record


@record(frozen=True)
class Equation:
    """``label = value``; long numbers in the value are rounded."""

    label: Formula
    value: Expr


@record(frozen=True)
class Section:
    """A title, an explanation in words, equations, and notes below them."""

    title: str
    lead: Prose = ()
    equations: tuple[Equation, ...] = ()
    notes: tuple[Prose, ...] = ()


def absent(title: str, missing: Missing) -> Section:
    """In the place of a result that does not exist: why."""
    return Section(title, ("There is none: ", *missing_prose(missing), "."))


def equations(*pairs: tuple[Formula, Expr]) -> tuple[Equation, ...]:
    """Labels and values, for reading."""
    return tuple(Equation(label, shown(value)) for label, value in pairs)
