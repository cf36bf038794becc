"""The sums over the history, S_1, S_2, ..., in which a correction can be written: their letters and their rows.

S_j = sum_{k=1..n} c_j(n, k) sum_{s=n-k..n-1} F^(s) = sum_{s=0..n-1} tail_j(n, s) F^(s)   (mathematics.md section 2)
"""

from __future__ import annotations

from sympy import Expr, Symbol

from symmem.algebra.atoms import AGO, PAST, STEP
from symmem.derivation.past.steps import History, Steps
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.scheduled import rate
from symmem.notation.formula import Atom, BigSum, Formula, Number
from symmem.notation.statement import (
    ONE,
    THETA,
    ZERO,
    Applied,
    AtStep,
    Indexed,
    Letter,
    N,
    difference,
    times,
)

K, S, V = Atom(AGO.name), Atom(PAST.name), Letter("v")
ONE_STEP_AGO, K_STEPS_AGO = difference(N, ONE), difference(N, K)
_PAST_UPDATE = Applied(AtStep(Letter("F"), S), (THETA,))


def history_letter(number: int) -> Formula:
    """``S_number``."""
    return Indexed(Letter("S"), Number(number))


def naming_histories(held: Steps, writer: Writer) -> Writer:
    """A writer that knows the letters of the direction v and of the sums."""
    meanings = {h.symbol.name: history_letter(k) for k, h in enumerate(held.histories, start=1)}
    return writer.naming({held.direction.name: V, **meanings})


def past_update(scheduled: bool) -> Formula:
    """``F^(s)``, under a schedule with the rate of its step."""
    return times(rate(S), _PAST_UPDATE) if scheduled else _PAST_UPDATE


def moved(scheduled: bool) -> Formula:
    """How far the iterate k steps ago lies, over h."""
    return BigSum(S, K_STEPS_AGO, ONE_STEP_AGO, past_update(scheduled))


def double_sum(weight: Expr, writer: Writer, scheduled: bool) -> Formula:
    """Over the age k, which has the ``weight``, and the steps since."""
    decay = writer.spelling.formula(weight)
    return BigSum(K, ONE, N, times(decay, moved(scheduled)))


def single_sum(history: History, writer: Writer, scheduled: bool) -> Formula:
    """Over the past steps alone: each with the weight of all that has seen it."""
    share = writer.spelling.formula(history.shape.tail(STEP, PAST))
    return BigSum(S, ZERO, ONE_STEP_AGO, times(share, past_update(scheduled)))


def definitions(held: Steps, writer: Writer, scheduled: bool) -> list[Row]:
    """A row for each sum, by its single sum."""
    return [
        Row(history_letter(number), (single_sum(history, writer, scheduled),))
        for number, history in enumerate(held.histories, start=1)
    ]


def stays(value: Expr) -> bool:
    """Whether a sum over past steps is left in the formula."""
    return PAST in value.atoms(Symbol)
