r"""An Account as a section of a paper: example, table, lemma, proof, limit, modified loss and equation, start.

Every formula is the engine's and is written by :mod:`.displays`; the words stand in ``templates/latex``.
"""

from __future__ import annotations

from sympy import Expr, Pow

from symmem import __version__
from symmem.algebra.results import Assumption
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss
from symmem.derivation.loss.verdicts import ModifiedLoss
from symmem.documents.account import Account
from symmem.documents.paper import consequences
from symmem.documents.paper.bibliography import MEMORY_PAPER, works_of
from symmem.documents.paper.conditions import conditions
from symmem.documents.paper.dealt import Dealt, dealt
from symmem.documents.paper.displays import Writer
from symmem.documents.paper.escaping import typeset
from symmem.documents.paper.example import (
    example,
    functions,
    inside_roots,
    parameters,
    remarks,
    table,
    update,
)
from symmem.documents.paper.general import finite_order
from symmem.documents.paper.glossary import choices, glossary
from symmem.documents.paper.gradient_map import gradient_map
from symmem.documents.paper.histories import naming_histories
from symmem.documents.paper.layout import Checked, Layout, Share
from symmem.documents.paper.lemma import Short, lemma
from symmem.documents.paper.macros import FILE
from symmem.documents.paper.noise import noise
from symmem.documents.paper.proof import proof, written_in_closed_form
from symmem.documents.parts import SETTLED, Limit, Part, StartShift
from symmem.documents.scheduled import settled_front
from symmem.documents.update import notes, reads_others
from symmem.output.rendering import render

PARTS = SETTLED | {Part.ASSUMPTIONS, Part.LEMMA}
"""What a paper tells."""


def paper_section(account: Account, layout: Layout | None = None, letters: Dealt | None = None) -> str:
    r"""The section of a method, to be \input behind the general theorem.

    Its short-hands are those that a paper has dealt out, else its own.
    """
    chosen = layout or Layout()
    writer = Writer.of(account.optimizer, chosen.page.width)
    given = dealt([account], chosen)[0] if letters is None else letters
    return render("latex/method.tex.jinja", _section(account, chosen, writer, given))


def _section(account: Account, layout: Layout, writer: Writer, given: Dealt) -> dict[str, object]:
    optimizer, short = account.optimizer, given.lemma
    assert account.lemma is not None, "a paper is written from an account with its PARTS"
    return {
        "version": __version__,
        "name": optimizer.name,
        "title": typeset(str(optimizer.title)),
        "works": ",".join(work.key for work in works_of(optimizer)),
        "reference": typeset(optimizer.reference),
        "paper": MEMORY_PAPER.key,
        "file": FILE,
        "states": layout.share.states,
        "proves": layout.share.proves,
        "limit_alone": layout.share is Share.LIMIT,
        "local_error": account.order + 2 if account.order > 1 else "",
        "only_first": finite_order(account) == 1,
        "uniform_order": finite_order(account) + 1,
        "start_follows": _is_proved(account) and _start_is_close(account),
        "example": example(optimizer, writer),
        "parameters": parameters(optimizer, writer),
        "functions": functions(optimizer, writer),
        "glossary": glossary(account),
        "choices": choices(account),
        "inside_roots": inside_roots(optimizer),
        "program": remarks(optimizer, writer),
        "table": table(optimizer, writer),
        "update": update(optimizer, writer),
        "notes": [consequences.capital(writer.sentence(note)) for note in notes(optimizer)],
        "is_cascade": reads_others(optimizer),
        "has_delays": any(variable.delay for variable in optimizer.momentum),
        "scheduled": optimizer.schedule is not None,
        **_rests_on(account, writer, _written(account, writer, short)),
        "conditions": conditions(optimizer, account.lemma.histories, writer, warned=_is_warned(account)),
        **lemma(short, optimizer, writer),
        "proof": proof(account.lemma, writer, scheduled=optimizer.schedule is not None),
        "coq": _checked(layout.proofs.get(optimizer.name)),
        **_consequences(account, writer, given),
    }


def _written(account: Account, writer: Writer, short: Short) -> tuple[Expr, ...]:
    """The closed forms of step n that the section writes, in its lemma and in the proof; and its modified losses."""
    assert account.lemma is not None
    losses = (account.modified_loss, account.gradient_map_loss)
    potentials = (each.potential for each in losses if isinstance(each, ModifiedLoss | GradientMapLoss))
    blocks = (block.template for block in short.blocks)
    closed = written_in_closed_form(account.lemma.steps, naming_histories(account.lemma.steps, writer))
    return (short.F, *short.corrections, *blocks, *closed, *potentials)


def _is_used(assumption: Assumption, written: tuple[Expr, ...]) -> bool:
    """Whether the section divides by what it says is not 0."""
    below = {part.base for formula in written for part in formula.atoms(Pow) if part.exp.is_negative}
    below |= set(written)  # a block may be the denominator itself
    return assumption.pole is None or not below.isdisjoint((assumption.pole, -assumption.pole))


def _rests_on(account: Account, writer: Writer, written: tuple[Expr, ...]) -> dict[str, object]:
    """Assumptions that are assumptions, and used; what was checked; what the theory replaces; what is not known."""
    assert account.lemma is not None
    assumed = [
        each
        for each in dict.fromkeys((*account.assumptions, *account.lemma.assumptions))
        if not each.is_departure and not each.is_checked and _is_used(each, written)
    ]
    return {
        "assumptions": [writer.sentence(each.sentence.parts) for each in assumed],
        "departures": [
            consequences.capital(writer.sentence(each.sentence.parts))
            for each in account.assumptions
            if each.is_departure
        ],
        "unknown": [consequences.capital(writer.sentence(each.sentence.parts)) for each in account.unknown],
        "proved": _is_proved(account),
        "warned": _is_warned(account),
    }


def _is_proved(account: Account) -> bool:
    """Whether the theorem holds for it, so that what follows from it may be claimed."""
    return bool(account.conclusions) or isinstance(account.limit, Limit)


def _start_is_close(account: Account) -> bool:
    """Whether the start is told to second order in h, for which the closeness of first order is proof enough."""
    start = account.start
    if not isinstance(start, StartShift):
        return False
    return len(start.shifts) == 1 if start.is_shifted else finite_order(account) == 1


def _is_warned(account: Account) -> bool:
    """Whether an assumption is known to fail somewhere."""
    return any(each.warning for each in account.unknown)


def _checked(proofs: Checked | None) -> str:
    """What a machine has checked, in words."""
    if proofs is None:
        return ""
    file = rf"\texttt{{{typeset(proofs.file)}}}"
    return f"{proofs.subject} are theorems of {file}, for every $n$, with proofs that Coq checks."


def _consequences(account: Account, writer: Writer, given: Dealt) -> dict[str, object]:
    name, loss, settled = account.optimizer.name, account.modified_loss, given.settled
    front = settled_front(account.schedule, account.optimizer)
    return {
        "limit": consequences.limit(account.limit, name, writer, settled, front),
        "slow": consequences.slow(account.schedule, name, writer),
        "straight": consequences.straight(account, writer, settled),
        "modified_loss": consequences.modified_loss(loss, name, writer, settled, front),
        "gradient_map": gradient_map(account.gradient_map_loss, name, writer, front),
        "modified_equation": consequences.modified_equation(account.modified_equation, name, writer, settled),
        "start": consequences.start(account.start, name, writer, settled),
        "noise": noise(account, writer, given.noise),
    }
