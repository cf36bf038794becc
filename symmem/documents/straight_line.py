"""The straight-line history as a section, and its rows for a paper: the gradient's change d, then the update."""

from __future__ import annotations

from sympy import Expr, Sum, Symbol
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import AGO, LR, is_contraction
from symmem.algebra.reals import substituted
from symmem.algebra.results import Bound, Missing
from symmem.algebra.symbols import CHANGE
from symmem.declaration.optimizer import Optimizer
from symmem.documents.account import Account
from symmem.documents.prose import Prose, step_of
from symmem.documents.scheduled import settled_front
from symmem.documents.section import Section, absent, equations
from symmem.notation.formula import Atom, Formula
from symmem.notation.statement import THETA, Indexed, Letter, Word, added, times

TITLE = "Straight-line history"
LINE = Indexed(Letter("F"), Word("s"))
LETTER = "d"
Rows = tuple[tuple[Formula, Expr], ...]


def straight_section(account: Account) -> Section | None:
    """The update on the line, after many steps; nothing where it is F + M itself, or where a higher order is told."""
    line = account.straight
    if line is None or line.is_expansion or account.order > 1:
        return None
    if isinstance(line.limit, Missing):
        return absent(TITLE, line.limit)
    return Section(TITLE, lead(account), equations(*rows(line.limit, account.optimizer)), notes(account))


def lead(account: Account) -> Prose:
    """What it is."""
    ago, letter = Atom("k"), Letter("F")
    front = settled_front(account.schedule, account.optimizer)
    place = added(THETA, times(ago, front, letter))
    return (
        step_of(LINE, front),
        " is the optimizer itself on a past that is a line: ",
        ago,
        " steps ago ",
        place,
        ".",
    )


def rows(update: Expr, optimizer: Optimizer) -> Rows:
    """``d = h D2L[F]`` by its letter where the update has one product and no parameter has the letter.

    The letter is that of a vector: ``total(grad*d)`` is no multiple of d.
    """
    update = _with_lag(update)
    products = [atom for atom in update.atoms(AppliedUndef) if is_contraction(atom)]
    if len(products) != 1 or LETTER in optimizer.defaults:
        return ((LINE, update),)
    written = substituted(update, {products[0]: CHANGE / LR})
    return ((Atom(LETTER), LR * products[0]), (LINE, written))


def _with_lag(update: Expr) -> Expr:
    """A sum over the lag by its letter k, as in the lead; sums inside each other keep their indices apart."""
    sums = [each for each in update.atoms(Sum) if len(each.limits) == 1]
    indices = {each.limits[0][0] for each in sums}
    if AGO in update.atoms(Symbol) or any(each.function.has(Sum) for each in sums):
        return update
    return update.xreplace(dict.fromkeys(indices, AGO))


def notes(account: Account, *, tells_missing: bool = True) -> tuple[Prose, ...]:
    """How close it is, what bounds it, and where it is missing."""
    line = account.straight
    assert line is not None
    close: Prose = ("It is ", added(Letter("F"), Letter("M")), " up to ", Bound(LR**2), ".")
    remarks: list[Prose] = [close, (*line.bound.parts, ".")]
    if tells_missing and isinstance(line.update, Missing):
        remarks.append(("For a given n there is none: ", *line.update.reason.own, "."))
    return tuple(remarks)
