"""The sections of an account on its two modified losses: behind a preconditioner, and inside a gradient map."""

from __future__ import annotations

from symmem.algebra.atoms import LR
from symmem.algebra.scalar_forms import is_same
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss
from symmem.derivation.loss.modified_loss import Verdict
from symmem.derivation.loss.verdicts import ModifiedLoss, Obstruction
from symmem.documents.account import Account
from symmem.documents.prose import Prose, loss_step, map_step, vectors_of_rate
from symmem.documents.scheduled import settled_front
from symmem.documents.section import Section, absent, equations
from symmem.documents.verdict_prose import map_obstruction_prose, obstruction_prose, witness_prose
from symmem.notation.formula import Atom
from symmem.notation.statement import Applied, H, Letter, Word

MODIFIED, INSIDE, PSI = Letter("modified loss"), Letter("map loss"), Letter("Psi")
TITLE = "Modified loss inside the gradient map"


def loss_section(account: Account) -> Section | None:
    """The modified loss, or the terms that prevent it."""
    title, loss = "Modified loss", account.modified_loss
    if isinstance(loss, Obstruction):
        terms = equations(*((Word("term"), term) for term in loss.terms))
        notes = () if loss.witness is None else (witness_prose(loss.witness),)
        return Section(title, obstruction_prose(loss), terms, notes)
    if not isinstance(loss, ModifiedLoss):
        return loss if loss is None else absent(title, loss)
    regime: Prose = () if loss.regime.is_exact else (", in the limit ", loss.regime)
    front = settled_front(account.schedule, account.optimizer)
    lead = ("The step is ", loss_step(loss, account.optimizer.symbols, front), *regime, ".")
    rows = equations((MODIFIED, loss.potential), (Letter("P"), loss.preconditioner))
    remarks: list[Prose] = []
    if loss.rate is not None:
        place = ("Off the zeros of the entries of ", *vectors_of_rate(loss))
        remarks.append((*place, " the difference of the two steps is ", loss.rate, "."))
    if LR not in loss.potential.free_symbols:
        remarks.append(("Memory leaves the loss as it is, to this order.",))
    return Section(title, lead, rows, tuple(remarks))


def gradient_map_section(account: Account) -> Section | None:
    """The loss inside the gradient map of a momentum method, or a denial; nothing for methods of another kind."""
    found = account.gradient_map_loss
    if isinstance(found, Obstruction):
        notes = () if found.witness is None else (witness_prose(found.witness),)
        return Section(TITLE, map_obstruction_prose(found), (), notes)
    if not isinstance(found, GradientMapLoss):
        return None
    front = settled_front(account.schedule, account.optimizer)
    step = map_step(found, account.optimizer.symbols, front)
    lead = (
        "The step is ",
        step,
        ", exactly, to this order in ",
        H,
        ": the loss stands inside the gradient of ",
        PSI,
        ".",
    )
    rows = [(INSIDE, found.potential), (Applied(PSI, (Atom("grad"),)), found.map.primitive)]
    if found.running is not None:
        rows.append((Word("running"), found.running))
    return Section(TITLE, lead, equations(*rows), map_remarks(account.modified_loss, found))


def map_remarks(loss: Verdict | None, found: GradientMapLoss) -> tuple[Prose, ...]:
    """In which sense it is a loss, beside the other one; what the running form is; how far it goes."""
    remarks: list[Prose] = []
    if isinstance(loss, ModifiedLoss):
        if is_same(loss.potential, found.potential):
            remarks.append((INSIDE, " is ", MODIFIED, ", the modified loss above."))
        else:
            remarks.append(
                ("Both losses are right: ", MODIFIED, " stands behind the factor ", Letter("P"), ", ", INSIDE,
                 " inside the gradient of ", PSI, "."),
            )  # fmt: skip
    if found.running is None:
        remarks.append(("The memory is not geometric: this holds to first order, with its mean age.",))
    else:
        now = "the loss now" if found.coupled == 0 else "the loss and the parameters now"
        told: Prose = (
            f"from {now}, its previous value, and the momentum ",
            found.map.channel,
            " of the step before",
        )
        if not found.running.free_symbols & found.map.channel.free_symbols:
            told = (f"from {now} and its previous value",)
        remarks.append(
            ("The running form is ", INSIDE, " along a trajectory, once the gains have settled, to every order and "
             "without Hessians: ", *told, "; it forgets its start."),
        )  # fmt: skip
    return tuple(remarks)
