"""An Account as titled sections, for those who write it one below the other: terminal, LaTeX fragment, emitted modules.

A section holds sentences and equations; how they are spelled is the rendering's.
"""

from __future__ import annotations

from sympy import Add, Expr

from symmem.algebra.atoms import LR
from symmem.algebra.results import Missing
from symmem.derivation.quadratic import EIGENVALUE, Quadratic
from symmem.documents.account import Account
from symmem.documents.noise import noise_sections
from symmem.documents.parts import Limit, ModifiedEquation, StartShift
from symmem.documents.prose import Prose, bracketed_step, stated
from symmem.documents.scheduled import front, settled_front, slow_section
from symmem.documents.section import Equation, Section, absent, equations
from symmem.documents.straight_line import straight_section
from symmem.documents.verdict_prose import flow_prose
from symmem.documents.verdict_sections import gradient_map_section, loss_section
from symmem.notation.decimals import number_formula, shown
from symmem.notation.formula import Absolute, Atom, Fraction, Number
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

F, M, MU = Letter("F"), Letter("M"), Letter("mu")


def sections(account: Account) -> tuple[Section, ...]:
    """The parts of the account that are there, in its order."""
    found = (
        iteration_section(account),
        limit_section(account),
        slow_section(account.schedule),
        straight_section(account),
        loss_section(account),
        gradient_map_section(account),
        _equation_section(account.modified_equation),
        _start_section(account.start),
        _quadratic_section(account.quadratic),
    )
    told = (section for section in found if section is not None)
    return (*told, *noise_sections(account), *stated_sections(account))


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
        return absent(title, iteration.F if isinstance(iteration.F, Missing) else iteration.M)
    step = Number(at) if isinstance(at, int) else N
    optimizer = account.optimizer
    before = settled_front(account.schedule, optimizer) if at == "limit" else front(optimizer, step)
    lead = (bracketed_step(F, M, front=before), ", where ", M, " is the correction of memory.")
    return Section(title, lead, equations((AtStep(F, step), iteration.F), (AtStep(M, step), iteration.M)))


def limit_section(account: Account) -> Section | None:
    """F and M for n -> infinity, or the F_j."""
    title, limit = "Limit of many steps", account.limit
    if not isinstance(limit, Limit):
        return limit if limit is None else absent(title, limit)
    if account.order > 1:
        return coefficients_section(account)
    settled = Atom("oo")
    rows = equations((AtStep(F, settled), limit.F), (AtStep(M, settled), limit.M))
    return Section(title, _rated(account), rows)


def coefficients_section(account: Account) -> Section | None:
    """The limit by powers of h."""
    title, limit = "Limit of many steps", account.limit
    if not isinstance(limit, Limit):
        return limit if limit is None else absent(title, limit)
    before = settled_front(account.schedule, account.optimizer)
    lead = (bracketed_step(series("F", range(len(limit.coefficients))), front=before), ".")
    return Section(title, lead, _numbered("F", limit.coefficients))


def _rated(account: Account) -> Prose:
    """Under a schedule: what the rate tends to, and the step with it."""
    schedule = account.schedule
    if schedule is None or isinstance(schedule.settled, Missing):
        return ()
    step = bracketed_step(F, M, front=settled_front(schedule, account.optimizer))
    return ("The rate tends to ", shown(schedule.settled), ": ", step, ".")


def _equation_section(flow: ModifiedEquation | Missing | None) -> Section | None:
    title = "Modified equation"
    if not isinstance(flow, ModifiedEquation):
        return flow if flow is None else absent(title, flow)
    count = len(flow.coefficients)
    equation = Equality(Velocity(), series("G", range(count)))
    lead = (equation, " is followed up to ", BigO(power_of_h(count)), ".")
    notes = () if flow.flow is None else (flow_prose(flow.flow),)
    return Section(title, lead, _numbered("G", flow.coefficients), notes)


def _start_section(start: StartShift | Missing | None) -> Section | None:
    title, origin = "Start", Iterate(ZERO)
    if not isinstance(start, StartShift):
        return start if start is None else absent(title, start)
    if not start.is_shifted:
        return Section(title, ("The limit form starts at ", origin, " itself: F does not depend on ", N, "."))
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
    rows = equations(
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
    return Section("Quadratic loss", lead, rows, (note,))


def _numbered(letter: str, values: tuple[Expr, ...], first: int = 0) -> tuple[Equation, ...]:
    labels = (Indexed(Letter(letter), Number(j)) for j in range(first, first + len(values)))
    return equations(*zip(labels, values, strict=True))
