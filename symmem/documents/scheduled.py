"""A schedule of the learning rate in every document: what stands before F + M, and the limit with a slow rate."""

from __future__ import annotations

from symmem.algebra.atoms import LR
from symmem.algebra.results import Missing
from symmem.declaration.optimizer import Optimizer
from symmem.documents.parts import Schedule
from symmem.documents.prose import bracketed_step
from symmem.documents.section import Section, absent, equations
from symmem.notation.decimals import shown
from symmem.notation.formula import Call, Formula
from symmem.notation.statement import AtStep, H, Letter, N, Word, times
from symmem.notation.writable import formula_of

F, M = Letter("F"), Letter("M")


def rate(step: Formula) -> Formula:
    """``rate(n)``."""
    return Call("rate", (step,))


def front(optimizer: Optimizer, step: Formula = N) -> Formula:
    """What multiplies F + M at a step: h, or ``h rate(n)`` under a schedule."""
    return H if optimizer.schedule is None else times(H, rate(step))


def settled_front(schedule: Schedule | None, optimizer: Optimizer) -> Formula:
    """The same after many steps: h times the settled rate."""
    if schedule is None or isinstance(schedule.settled, Missing) or schedule.settled == 1:
        return H
    return formula_of(shown(LR * schedule.settled), optimizer.symbols, {})


def slow_section(schedule: Schedule | None) -> Section | None:
    """The limit of many steps with the rate as a symbol."""
    title = "Limit of many steps with a slow rate"
    if schedule is None:
        return None
    if isinstance(schedule.slow, Missing):
        return absent(title, schedule.slow)
    slow, step = schedule.slow, AtStep(M, N)
    whole = bracketed_step(F, M, front=times(H, rate(N)))
    lead = (
        "Once the gains have settled: ", whole, ". Where the rate changes little while memory fades, ", M,
        " is its leading term.",
        *([" Before n = 0 the rate is 0."] if slow.reads_before_the_start else []),
    )  # fmt: skip
    exact = () if slow.M is None else ((step, slow.M),)
    rows = equations((AtStep(F, N), slow.F), *exact, (Word("leading"), slow.leading))
    return Section(title, lead, rows)
