"""The proof of the memoryless iteration, step by step, for one optimizer: the displays of a proof environment."""

from __future__ import annotations

from sympy import Expr, Symbol

from symmem.algebra.atoms import AGO, LR, PAST, STEP
from symmem.derivation.steps import Steps
from symmem.documents.paper.consequences import Values
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.lemma import F, M, coefficient
from symmem.documents.parts import Lemma
from symmem.documents.scheduled import rate
from symmem.notation.formula import Atom, BigSum, Formula, Fraction, Number
from symmem.notation.statement import (
    ONE,
    THETA,
    ZERO,
    Along,
    Applied,
    AtStep,
    H,
    Indexed,
    Iterate,
    Letter,
    N,
    difference,
    times,
)

_K, _S, _V = Atom(AGO.name), Atom(PAST.name), Letter("v")
_ONE_STEP_AGO, _K_STEPS_AGO = difference(N, ONE), difference(N, _K)
_SLOPE = Fraction(times(Letter("partial"), F), times(Letter("partial"), Iterate(_K_STEPS_AGO)))
_SENSITIVITY = Applied(_SLOPE, (THETA,))
_PAST_UPDATE = Applied(AtStep(Letter("F"), _S), (THETA,))


def _past_update(scheduled: bool) -> Formula:
    """``F^(s)``, under a schedule with the rate of its step."""
    return times(rate(_S), _PAST_UPDATE) if scheduled else _PAST_UPDATE


def _moved(scheduled: bool) -> Formula:
    """How far the iterate k steps ago lies, over h."""
    return BigSum(_S, _K_STEPS_AGO, _ONE_STEP_AGO, _past_update(scheduled))


def _general(scheduled: bool) -> Formula:
    """The correction of first order for any optimizer: the boxed equation of the paper."""
    return times(H, BigSum(_K, ONE, N, Along(_SENSITIVITY, _moved(scheduled))))


def proof(lemma: Lemma, writer: Writer, *, scheduled: bool = False) -> Values:
    """The displays of the steps; where nothing is remembered there is but the first."""
    first = times(H, coefficient(1)) if lemma.coefficients else Applied(M, (THETA,))
    held = lemma.steps
    meanings = {h.symbol.name: _history(k) for k, h in enumerate(held.histories, start=1)}
    naming = writer.naming({held.direction.name: _V, **meanings})
    stays = [(k, h) for k, h in enumerate(held.histories, start=1) if _stays(h.value)]
    return {
        "remembers": bool(held.histories),
        "written_out": held.is_written_out,
        "general": writer.display([Row(first, (_general(scheduled),))]),
        "frozen": _frozen(lemma, naming),
        "sensitivity": naming.display([Row(Along(_SENSITIVITY, _V), (held.sensitivity,))])
        if held.histories
        else "",
        "histories": _histories(held, naming, scheduled) if held.histories else "",
        "assembled": naming.display([Row(first, (LR * held.assembled,))]) if held.histories else "",
        "open_sums": [f"${naming.inline(_history(k))}$" for k, _ in stays],
        "decays": [f"${naming.inline(history.shape.weight(STEP, STEP - PAST))}$" for _, history in stays],
    }


def _history(number: int) -> Formula:
    return Indexed(Letter("S"), Number(number))


def _stays(value: Expr) -> bool:
    """Whether a sum over past steps is left in the formula."""
    return PAST in value.atoms(Symbol)


def _frozen(lemma: Lemma, writer: Writer) -> str:
    rows = [
        Row(AtStep(Indexed(Letter("gain"), Number(position)), N), (gain,))
        for position, gain in enumerate(lemma.steps.gains, start=1)
    ]
    return writer.display([*rows, Row(Applied(F, (THETA,)), (lemma.F,))])


def _histories(held: Steps, writer: Writer, scheduled: bool) -> str:
    rows = []
    for number, history in enumerate(held.histories, start=1):
        decay, share = map(
            writer.spelling.formula, (history.shape.weight(STEP, AGO), history.shape.tail(STEP, PAST))
        )
        double = BigSum(_K, ONE, N, times(decay, _moved(scheduled)))
        single = BigSum(_S, ZERO, _ONE_STEP_AGO, times(share, _past_update(scheduled)))
        rows.append(Row(_history(number), (double, single, history.value)))
    return writer.display(rows)
