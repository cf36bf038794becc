"""Prose: a sentence of a document, words and mathematics in their order; and the formulas that sentences share.

Nothing is written here in any alphabet: each rendering spells the mathematics in its own.
"""

from __future__ import annotations

from symmem.algebra.atoms import GRAD
from symmem.algebra.atoms import THETA as THETA_SYMBOL
from symmem.algebra.results import Advice, Assumption, Conclusion, Missing, Part, Sentence, Unknown
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss
from symmem.derivation.loss.verdicts import ModifiedLoss
from symmem.notation.decimals import shown
from symmem.notation.formula import Formula, Gradient
from symmem.notation.statement import (
    THETA,
    Applied,
    Assignment,
    Bracketed,
    H,
    Letter,
    added,
    difference,
    times,
)
from symmem.notation.writable import formula_of

Prose = tuple[Part | Formula, ...]

COMMAND_LINE = {
    Advice.LIMIT: "ask for the limit (--limit)",
    Advice.STEP: "ask for a step (--at-step N)",
    Advice.FINITE: "use finite n (--at-step N)",
    Advice.NUMBERS: "put numbers in (--set)",
    Advice.LOWER_ORDER: "ask for a lower order (--order)",
}
"""How a reader of a document follows an advice."""


def missing_prose(missing: Missing, *, names_it: bool = False) -> Prose:
    """Why there is nothing, and what to ask for instead; with ``names_it``, as in an error, whose reason it is."""
    parts: list[Part | Formula] = [*(missing.reason.parts if names_it else missing.reason.own)]
    for position, way in enumerate(missing.advice):
        parts.append(", or " if position else "; ")
        parts += way.parts if isinstance(way, Sentence) else (COMMAND_LINE[way],)
    return tuple(parts)


def stated(record: Assumption | Conclusion | Unknown) -> Prose:
    """The sentence of what is assumed, concluded or not known; a warning says that it is one."""
    warned = isinstance(record, Unknown) and record.warning
    sentence = record.advised if isinstance(record, Unknown) else record.sentence
    aside = record.aside.parts if isinstance(record, Assumption) else ()
    behind = (" (", *aside, ")") if aside else ()
    return (*(("warning: ",) if warned else ()), *sentence.parts, *behind)


def vectors_of_rate(loss: ModifiedLoss) -> Prose:
    """Where no entry of these is 0, the rate of a limit holds: the gradient, or the vectors by their formulas."""
    found = loss.rough_at
    if found == (GRAD,):
        return ("the gradient",)
    return tuple(part for k, each in enumerate(found) for part in ((" and of ", each) if k else (each,)))


def step_of(inside: Formula, front: Formula = H) -> Formula:
    """``theta <- theta - h inside``; under a schedule the ``front`` has its rate."""
    return Assignment(THETA, difference(THETA, times(front, inside)))


def bracketed_step(*parts: Formula, front: Formula = H) -> Formula:
    """``theta <- theta - h [F + M]``."""
    return step_of(Bracketed(added(*parts)), front)


def map_step(found: GradientMapLoss, names: dict[str, str], front: Formula = H) -> Formula:
    """``theta <- theta - h grad Psi(grad L^)``, with the decay in it where there is one."""
    descent = Applied(Gradient(Letter("Psi")), (Gradient(Letter("map loss")),))
    if found.map.decay == 0:
        return step_of(descent, front)
    inside = added(descent, formula_of(shown(found.map.decay * THETA_SYMBOL), names, {}))
    return step_of(Bracketed(inside) if front != H else inside, front)


def loss_step(loss: ModifiedLoss, names: dict[str, str], front: Formula = H) -> Formula:
    """``theta <- theta - h P grad L~``, with the decay in it where there is one."""
    descent = times(Letter("P"), Gradient(Letter("modified loss")))
    if loss.decay == 0:
        return step_of(descent, front)
    inside = added(descent, formula_of(shown(loss.decay * THETA_SYMBOL), names, {}))
    return step_of(Bracketed(inside) if front != H else inside, front)
