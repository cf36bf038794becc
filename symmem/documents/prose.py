"""Prose: a sentence of a document, words and mathematics in their order; and the formulas that sentences share.

Nothing is written here in any alphabet: each rendering spells the mathematics in its own.
"""

from __future__ import annotations

from sympy import Rational, oo

from symmem.algebra.atoms import THETA as THETA_SYMBOL
from symmem.algebra.results import Advice, Missing, Part, Sentence
from symmem.declaration.interval import Interval as Range
from symmem.documents.interim import Assumption, ModifiedLoss
from symmem.notation.decimals import number_formula, shown
from symmem.notation.formula import Atom, Formula, Gradient, negated
from symmem.notation.statement import (
    THETA,
    Assignment,
    Bracketed,
    H,
    Interval,
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


def missing_prose(missing: Missing) -> Prose:
    """Why there is nothing, and what to ask for instead."""
    parts: list[Part | Formula] = [*missing.reason.parts]
    for position, way in enumerate(missing.advice):
        parts.append(", or " if position else "; ")
        parts += way.parts if isinstance(way, Sentence) else (COMMAND_LINE[way],)
    return tuple(parts)


def assumption_prose(assumption: Assumption) -> Prose:
    return (*(("warning: ",) if assumption.warning else ()), *assumption.sentence.parts)


def range_formula(interval: Range) -> Formula:
    lower, upper = (_end(end) for end in (interval.lower, interval.upper))
    return Interval(lower, upper, interval.lower_open, interval.upper_open)


def _end(end: Rational) -> Formula:
    if end in (oo, -oo):
        return Atom("oo") if end > 0 else negated(Atom("oo"))
    return number_formula(end)


def step_of(inside: Formula) -> Formula:
    """``theta <- theta - h inside``."""
    return Assignment(THETA, difference(THETA, times(H, inside)))


def bracketed_step(*parts: Formula) -> Formula:
    """``theta <- theta - h [F + M]``."""
    return step_of(Bracketed(added(*parts)))


def loss_step(loss: ModifiedLoss, names: dict[str, str]) -> Formula:
    """``theta <- theta - h P grad L~``, with the decay in it where there is one."""
    descent = times(Letter("P"), Gradient(Letter("modified loss")))
    if loss.decay == 0:
        return step_of(descent)
    return step_of(added(descent, formula_of(shown(loss.decay * THETA_SYMBOL), names, {})))
