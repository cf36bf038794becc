"""An Account as titled sections, for those who write it one below the other: terminal, LaTeX fragment, emitted modules.

A section holds sentences and equations; how they are spelled is the rendering's.
"""

from __future__ import annotations

from sympy import Add, Expr

from symmem.algebra.atoms import LR
from symmem.algebra.results import Missing
from symmem.derivation.quadratic import EIGENVALUE, Quadratic
from symmem.derivation.verdicts import ModifiedLoss, Obstruction
from symmem.documents.account import Account
from symmem.documents.parts import Limit, ModifiedEquation, StartShift
from symmem.documents.prose import Prose, bracketed_step, loss_step, missing_prose, stated
from symmem.notation.decimals import number_formula, shown
from symmem.notation.formula import Absolute, Atom, Formula, Fraction, Number
from symmem.notation.statement import (
    ZERO,
    Applied,
    AtStep,
    BigO,
    Equality,
    H,
    Indexed,
    Iterate,
    Less,
    Letter,
    Listed,
    N,
    Velocity,
    Word,
    added,
    power_of_h,
    series,
    times,
)
from symmem.records import record

F, M, MU = Letter("F"), Letter("M"), Letter("mu")


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


def sections(account: Account) -> tuple[Section, ...]:
    """The parts of the account that are there, in its order."""
    found = (
        iteration_section(account),
        limit_section(account),
        loss_section(account),
        _equation_section(account.modified_equation),
        _start_section(account.start),
        _quadratic_section(account.quadratic),
    )
    return (*(section for section in found if section is not None), *stated_sections(account))


def stated_sections(account: Account) -> tuple[Section, ...]:
    """What is assumed, concluded and not known: three lists, those that are not empty."""
    lists = (
        ("Assumptions", account.assumptions),
        ("Conclusions", account.conclusions),
        ("Not known", account.unknown),
    )
    return tuple(Section(title, notes=tuple(map(stated, records))) for title, records in lists if records)


def iteration_section(account: Account) -> Section | None:
    """F and M at symbolic n, or at a step."""
    iteration, at = account.iteration, account.at
    if iteration is None:
        return None
    title = f"Memoryless iteration at step n = {at}" if isinstance(at, int) else "Memoryless iteration"
    if isinstance(iteration.F, Missing) or isinstance(iteration.M, Missing):
        return _absent(title, iteration.F if isinstance(iteration.F, Missing) else iteration.M)
    step = Number(at) if isinstance(at, int) else N
    lead = (bracketed_step(F, M), ", where ", M, " is the correction of memory.")
    return Section(title, lead, _equations((AtStep(F, step), iteration.F), (AtStep(M, step), iteration.M)))


def limit_section(account: Account) -> Section | None:
    """F and M for n -> infinity, or the F_j."""
    title, limit = "Limit of many steps", account.limit
    if not isinstance(limit, Limit):
        return limit if limit is None else _absent(title, limit)
    if account.order > 1:
        return coefficients_section(account)
    settled = Atom("oo")
    return Section(title, (), _equations((AtStep(F, settled), limit.F), (AtStep(M, settled), limit.M)))


def coefficients_section(account: Account) -> Section | None:
    """The limit by powers of h."""
    title, limit = "Limit of many steps", account.limit
    if not isinstance(limit, Limit):
        return limit if limit is None else _absent(title, limit)
    lead = (bracketed_step(series("F", range(len(limit.coefficients)))), ".")
    return Section(title, lead, _numbered("F", limit.coefficients))


def loss_section(account: Account) -> Section | None:
    """The modified loss, or the terms that prevent it."""
    title, loss = "Modified loss", account.modified_loss
    if isinstance(loss, Obstruction):
        start: Prose = (" from ", Indexed(F, Number(loss.order)), " on") if loss.order else ()
        terms = _equations(*((Word("term"), term) for term in loss.terms))
        return Section(title, ("There is none", *start, ": ", *loss.reason.parts, "."), terms)
    if not isinstance(loss, ModifiedLoss):
        return loss if loss is None else _absent(title, loss)
    regime: Prose = () if loss.regime.is_exact else (", in the limit ", loss.regime)
    lead = ("The step is ", loss_step(loss, account.optimizer.symbols), *regime, ".")
    equations = _equations((Letter("modified loss"), loss.potential), (Letter("P"), loss.preconditioner))
    notes: list[Prose] = []
    if loss.rate is not None:
        notes.append(
            ("Off the zeros of the gradient's entries the difference of the two steps is ", loss.rate, ".")
        )
    if LR not in loss.potential.free_symbols:
        notes.append(("Memory leaves the loss as it is, to this order.",))
    return Section(title, lead, equations, tuple(notes))


def _equation_section(flow: ModifiedEquation | Missing | None) -> Section | None:
    title = "Modified equation"
    if not isinstance(flow, ModifiedEquation):
        return flow if flow is None else _absent(title, flow)
    count = len(flow.coefficients)
    equation = Equality(Velocity(), series("G", range(count)))
    lead = (equation, " is followed up to ", BigO(power_of_h(count)), ".")
    notes: tuple[Prose, ...] = ()
    if isinstance(flow.flow, ModifiedLoss):
        notes = (("It is a gradient flow.",),)
    elif isinstance(flow.flow, Obstruction):
        order = Indexed(Letter("G"), Number(flow.flow.order))
        notes = (("It is no gradient flow from ", order, " on, in two or more dimensions."),)
    return Section(title, lead, _numbered("G", flow.coefficients), notes)


def _start_section(start: StartShift | Missing | None) -> Section | None:
    title, origin = "Start", Iterate(ZERO)
    if not isinstance(start, StartShift):
        return start if start is None else _absent(title, start)
    if not start.is_shifted:
        return Section(title, ("The limit form starts at ", origin, " itself: no gain depends on ", N, "."))
    place = added(origin, series("d", range(1, len(start.shifts) + 1)))
    lead = ("The limit form starts at ", place, ", all taken at ", origin, ".")
    return Section(title, lead, _numbered("d", start.shifts, 1))


def _quadratic_section(summed: Quadratic | None) -> Section | None:
    """The iteration on a quadratic loss, mode by mode."""
    if summed is None:
        return None
    product = LR * EIGENVALUE
    power_series = Add(*(value * product**j for j, value in enumerate(summed.series)))
    flow = Add(*(EIGENVALUE * value * product**j for j, value in enumerate(summed.flow)))
    root = () if summed.root is None else ((MU, summed.root),)
    rate = Fraction(Applied(Letter("log"), (MU,)), H)
    equations = _equations(
        (ZERO, summed.equation), *root, (Listed((MU, Word("series"))), power_series), (rate, flow)
    )
    eigenvalue = Letter("a")
    lead = (
        "An eigenvalue ", eigenvalue, " of the Hessian, and iterates that shrink by ", MU,
        " a step; the slow root is 1 at ", Equality(H, ZERO), ".",
    )  # fmt: skip
    note: Prose = ("The series ends.",)
    if summed.radius is not None:
        radius = Less(Absolute(times(H, eigenvalue)), number_formula(summed.radius))
        at = Listed(tuple(Equality(Atom(name), number_formula(value)) for name, value in summed.values))
        note = ("The series converges for ", radius, *((" at ", at) if summed.values else ()), ".")
    return Section("Quadratic loss", lead, equations, (note,))


def _absent(title: str, missing: Missing) -> Section:
    return Section(title, ("There is none: ", *missing_prose(missing), "."))


def _equations(*pairs: tuple[Formula, Expr]) -> tuple[Equation, ...]:
    return tuple(Equation(label, shown(value)) for label, value in pairs)


def _numbered(letter: str, values: tuple[Expr, ...], first: int = 0) -> tuple[Equation, ...]:
    labels = (Indexed(Letter(letter), Number(j)) for j in range(first, first + len(values)))
    return _equations(*zip(labels, values, strict=True))
