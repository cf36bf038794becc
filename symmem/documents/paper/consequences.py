"""What follows from the lemma, for a paper: the limit of many steps, the modified loss and equation, the start.

Each function takes its part of an Account and gives the values of its place in ``templates/latex/section.tex.jinja``.
"""

from __future__ import annotations

from dataclasses import replace

from symmem.algebra.atoms import LR
from symmem.algebra.atoms import THETA as THETA_SYMBOL
from symmem.algebra.results import Missing
from symmem.algebra.symbols import CHANGE
from symmem.derivation.loss.verdicts import ModifiedLoss, Obstruction
from symmem.derivation.loss.witness import Witness
from symmem.documents.account import Account
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.settled import Place, Settled
from symmem.documents.parts import Limit, ModifiedEquation, Schedule, StartShift
from symmem.documents.prose import vectors_of_rate
from symmem.documents.straight_line import notes, straight_section
from symmem.documents.verdict_prose import flow_prose, witness_place
from symmem.notation.formula import Formula, Gradient, Number
from symmem.notation.statement import (
    ONE,
    THETA,
    ZERO,
    Applied,
    AtStep,
    BigO,
    Bracketed,
    H,
    Indexed,
    Iterate,
    Letter,
    N,
    added,
    difference,
    power_of_h,
    series,
    times,
)

MEMORYLESS = AtStep(Letter("memoryless"), N)
LEADING = Applied(AtStep(Letter("M"), N), (THETA,))
NEXT = AtStep(Letter("memoryless"), added(N, ONE))
Values = dict[str, object]


def absent(missing: Missing | None, writer: Writer) -> Values:
    """In the place of a part that does not exist: the reason; a reader of a paper is given no advice."""
    return {"reason": "It was not derived" if missing is None else reason(missing, writer)}


def reason(missing: Missing, writer: Writer) -> str:
    """The reason as a sentence of its own: a section says once whose it is."""
    return capital(writer.sentence(missing.reason.own))


def capital(sentence: str) -> str:
    """With a capital letter in front."""
    return sentence[:1].upper() + sentence[1:]


def memoryless_step(inside: Formula, front: Formula = H) -> Row:
    """``memoryless^(n+1) = memoryless^(n) - h [inside]``; under a schedule the ``front`` has its rate."""
    return Row(NEXT, (difference(MEMORYLESS, times(front, Bracketed(inside))),))


def limit(
    found: Limit | Missing | None, name: str, writer: Writer, settled: Settled, front: Formula = H
) -> Values:
    """``theta <- theta - h (F_0 + h F_1 + ...)``."""
    if not isinstance(found, Limit):
        return absent(found, writer)
    values = found.coefficients
    rows = [
        Row(Applied(Indexed(Letter("F"), Number(j)), (THETA,)), (value,), f"eq:{name}-limit-{j}")
        for j, value in enumerate(values)
    ]
    step = memoryless_step(series("F", range(len(values)), MEMORYLESS), front)
    return {"reason": "", **settled.values(Place.LIMIT, [step, *rows], name, writer)}


def slow(found: Schedule | None, name: str, writer: Writer) -> Values:
    """The limit of many steps with the rate as a symbol; nothing where there is no schedule."""
    if found is None or isinstance(found.slow, Missing):
        return {"display": ""}
    whole = (found.slow.leading,) if found.slow.M is None else (found.slow.M,)
    rows = [
        Row(Applied(AtStep(Letter("F"), N), (THETA,)), (found.slow.F,)),
        Row(Applied(AtStep(Letter("M"), N), (THETA,)), whole, f"eq:{name}-slow"),
    ]
    return {
        "display": writer.display(rows),
        "before": found.slow.reads_before_the_start,
        "leading": writer.display([Row(LEADING, (found.slow.leading,))]),
    }


def modified_loss(
    loss: ModifiedLoss | Obstruction | Missing | None,
    name: str,
    writer: Writer,
    settled: Settled,
    front: Formula = H,
) -> Values:
    """The modified loss and its preconditioner, or the terms that prevent it."""
    if isinstance(loss, Obstruction):
        rows = [Row(Indexed(Letter("R"), Number(k)), (term,)) for k, term in enumerate(loss.terms, start=1)]
        return {
            "reason": "",
            "exists": False,
            "denied": loss.is_denial,
            "witness": witness(loss.witness, writer),
            "obstruction": writer.sentence(loss.reason.own),
            "fails_at": loss.order,
            **settled.values(Place.LOSS, rows, name, writer),
        }
    if not isinstance(loss, ModifiedLoss):
        return absent(loss, writer)
    rows = [
        _loss_step(loss, writer, front),
        Row(Applied(Letter("modified loss"), (THETA,)), (loss.potential,), f"eq:{name}-loss"),
        Row(Applied(Letter("P"), (THETA,)), (loss.preconditioner,)),
    ]
    return {
        "reason": "",
        "exists": True,
        "regime": "" if loss.regime.is_exact else writer.inline(loss.regime),
        "rate": "" if loss.rate is None else writer.inline(loss.rate),
        "rough_at": writer.sentence(vectors_of_rate(loss)),
        "decays": loss.decay != 0,
        "unchanged": LR not in loss.potential.free_symbols,
        "display": writer.display(rows),
    }


def witness(found: Witness | None, writer: Writer) -> str:
    """Where the Jacobian is not symmetric, with the loss in full: a reader can compute the same numbers."""
    if found is None:
        return ""
    # Each vector for itself: a line of text can end between them.
    rows = ", ".join(f"$({', '.join(map(str, row))})$" for row in found.rows)
    ridge = r"\smmloss(x) = \sum_{j} \sin(a_{j}\smmtrans x + 1) + \tfrac{1}{2} (a_{j}\smmtrans x)^{2}"
    place = writer.sentence(witness_place(found))
    return f"A witness is the loss ${ridge}$, where the $a_{{j}}$ are {rows}, at {place}"


def _loss_step(loss: ModifiedLoss, writer: Writer, front: Formula) -> Row:
    """``memoryless^(n+1) = memoryless^(n) - h (P grad L~ + decay theta)``, all at the memoryless iterate."""
    slope = Gradient(Applied(Letter("modified loss"), (MEMORYLESS,)))
    step: Formula = times(Applied(Letter("P"), (MEMORYLESS,)), slope)
    if loss.decay != 0:
        step = added(step, writer.spelling.formula(loss.decay * THETA_SYMBOL))
        step = Bracketed(step) if front != H else step
    return Row(NEXT, (difference(MEMORYLESS, times(front, step)),), theta=MEMORYLESS)


def modified_equation(
    found: ModifiedEquation | Missing | None, name: str, writer: Writer, settled: Settled
) -> Values:
    """``theta' = G_0 + h G_1 + ...``, and whether it is a gradient flow."""
    if not isinstance(found, ModifiedEquation):
        return absent(found, writer)
    values = found.coefficients
    rows = [
        Row(Applied(Indexed(Letter("G"), Number(j)), (THETA,)), (value,), f"eq:{name}-G{j}")
        for j, value in enumerate(values)
    ]
    return {
        "reason": "",
        "equation": writer.inline(series("G", range(len(values)))),
        **settled.values(Place.FLOW, rows, name, writer),
        "flow": "" if found.flow is None else writer.sentence(flow_prose(found.flow)),
        "error": writer.inline(BigO(power_of_h(len(values)))),
        "step_error": len(values) + 1,
    }


def straight(account: Account, writer: Writer, settled: Settled) -> Values:
    """The update on the straight-line history; nothing where there is no section of it."""
    section = straight_section(account)
    if section is None or not section.equations:
        return {"display": ""}
    name, line = account.optimizer.name, account.straight
    found = [Row(each.label, (each.value,)) for each in section.equations]
    found[-1] = replace(found[-1], label=f"eq:{name}-straight")
    if len(found) > 1:  # the change of the gradient is a vector, and has a letter that nothing else has
        writer = writer.naming({CHANGE.name: Letter("y")})
        found[0] = replace(found[0], left=Letter("y"))
    # A block may read y, which is then defined before it.
    defines = settled.definitions(Place.STRAIGHT, found[:-1], writer)
    return {
        **settled.values(Place.STRAIGHT, found[-1:] if defines else found, name, writer),
        "defines": defines,
        "lead": writer.sentence(section.lead),
        "notes": " ".join(writer.sentence(note) for note in notes(account, tells_missing=False)),
        "finite": ""
        if line is None or not isinstance(line.update, Missing)
        else writer.sentence(line.update.reason.own),
    }


def start(found: StartShift | Missing | None, name: str, writer: Writer, settled: Settled) -> Values:
    """The shifts ``d_j``; none where no gain depends on the step and the order is 1."""
    if not isinstance(found, StartShift):
        return absent(found, writer)
    if not found.is_shifted:
        return {"reason": "", "shifted": False}
    shifts = found.shifts
    rows = [
        Row(Indexed(Letter("d"), Number(j)), (value,), f"eq:{name}-d{j}")
        for j, value in enumerate(shifts, start=1)
    ]
    place = added(Iterate(ZERO), series("d", range(1, len(shifts) + 1)))
    return {
        "reason": "",
        "shifted": True,
        "place": writer.inline(place),
        **settled.values(Place.START, rows, name, writer),
        "order": len(shifts) + 1,
    }
