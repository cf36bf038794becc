"""The proof of the memoryless iteration, step by step, for one optimizer: the displays of a proof environment."""

from __future__ import annotations

from sympy import Expr

from symmem.algebra.atoms import AGO, LR, PAST, STEP
from symmem.derivation.past.steps import History, Steps
from symmem.documents.paper.blocks import MOST_LINES
from symmem.documents.paper.composed import Composed, composed, decays_of, naming_weights, put_in, told
from symmem.documents.paper.consequences import Values
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.histories import (
    K_STEPS_AGO,
    V,
    double_sum,
    history_letter,
    naming_histories,
    single_sum,
    stays,
)
from symmem.documents.paper.lemma import F, M, coefficient
from symmem.documents.parts import Lemma
from symmem.notation.formula import Fraction, Number
from symmem.notation.statement import THETA, Along, Applied, AtStep, H, Indexed, Iterate, Letter, N, times

_SLOPE = Fraction(times(Letter("partial"), F), times(Letter("partial"), Iterate(K_STEPS_AGO)))
_SENSITIVITY = Applied(_SLOPE, (THETA,))


def proof(lemma: Lemma, writer: Writer, *, scheduled: bool = False) -> Values:
    """The displays of the steps; where nothing is remembered there is but the first."""
    first = times(H, coefficient(1)) if lemma.coefficients else Applied(M, (THETA,))
    held = lemma.steps
    weights = composed(held, writer)
    naming = naming_weights(weights, naming_histories(held, writer))
    stay = {
        f"${naming.inline(history_letter(k))}$": decays_of(history.shape, weights, naming)
        for k, history in enumerate(held.histories, start=1)
        if stays(history.value)
    }
    return {
        "remembers": bool(held.histories),
        "written_out": held.is_written_out,
        "frozen": _frozen(lemma, naming),
        "sensitivity": naming.display([Row(Along(_SENSITIVITY, V), (put_in(held.sensitivity, weights),))])
        if held.histories
        else "",
        "weights": told(weights, naming),
        "histories": _histories(held, naming, weights, scheduled) if held.histories else "",
        "assembled": naming.display([Row(first, (LR * held.assembled,))]) if held.histories else "",
        "open_sums": list(stay),
        "decays": list(dict.fromkeys(decay for decays in stay.values() for decay in decays)),
        "delayed": [letter for letter, decays in stay.items() if not decays],
    }


def _frozen(lemma: Lemma, writer: Writer) -> str:
    rows = [
        Row(AtStep(Indexed(Letter("gain"), Number(position)), N), (gain,))
        for position, gain in enumerate(lemma.steps.gains, start=1)
    ]
    return writer.display([*rows, Row(Applied(F, (THETA,)), (lemma.F,))])


def _histories(held: Steps, writer: Writer, weights: tuple[Composed, ...], scheduled: bool) -> str:
    """Each sum in its three forms; a closed form that is longer than a person reads is left to the single sum."""
    rows = []
    for number, history in enumerate(held.histories, start=1):
        weight = put_in(history.shape.weight(STEP, AGO), weights)
        forms = (double_sum(weight, writer, scheduled), single_sum(history, writer, scheduled))
        closed = (history.value,) if _is_readable(history, writer) else ()
        rows.append(Row(history_letter(number), (*forms, *closed)))
    return writer.display(rows)


def _is_readable(history: History, writer: Writer) -> bool:
    row = Row(Letter("S"), (history.value,))
    return len(writer.lines(row, history.value, writer.width - 4)) <= MOST_LINES


def written_in_closed_form(held: Steps, writer: Writer) -> tuple[Expr, ...]:
    """What the proof writes: the slope in a past iterate, and the sums over the history by their weights and closed."""
    closed = (history.value for history in held.histories if _is_readable(history, writer))
    shapes = [history.shape for history in held.histories]
    weights = (weight for shape in shapes for weight in (shape.weight(STEP, AGO), shape.tail(STEP, PAST)))
    return (held.sensitivity, *closed, *weights)
