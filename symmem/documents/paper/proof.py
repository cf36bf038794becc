"""The proof of the memoryless iteration, step by step, for one optimizer: the displays of a proof environment."""

from __future__ import annotations

from sympy import Expr, Symbol

from symmem.algebra.atoms import AGO, LR, PAST, STEP
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.gains import frozen_update
from symmem.derivation.steps import Steps, steps
from symmem.documents.paper.displays import Row, Writer
from symmem.method.reading import method_of

_SENSITIVITY = r"\frac{\partial \bF^{(n)}}{\partial \btheta^{(n - k)}}(\btheta)"
_GENERAL = rf"\lr \sum_{{k = 1}}^{{n}} {_SENSITIVITY} \biggl[ \sum_{{s = n - k}}^{{n - 1}} \bF^{{(s)}}(\btheta) \biggr]"
"""The correction of first order for any optimizer: the boxed equation of the paper."""


def proof(optimizer: Optimizer, writer: Writer, order: int) -> dict[str, object]:
    """The displays of the steps; where nothing is remembered there is but the first."""
    first = r"\bM^{(n)}(\btheta)" if order == 1 else r"\lr \bF_{1}^{(n)}(\btheta)"
    held = steps(method_of(optimizer))
    names = {**writer.names, held.direction.name: r"\bv"}
    names |= {history.symbol.name: _history(k) for k, history in enumerate(held.histories, start=1)}
    naming = Writer(names, writer.functions)
    open_sums = [
        f"${_history(k)}$" for k, history in enumerate(held.histories, start=1) if _stays(history.value)
    ]
    return {
        "remembers": bool(held.histories),
        "general": writer.display([Row(first, (_GENERAL,))]),
        "frozen": _frozen(optimizer, held, naming),
        "sensitivity": _sensitivity(held, naming) if held.histories else "",
        "histories": _histories(held, naming) if held.histories else "",
        "assembled": _assembled(first, held, naming) if held.histories else "",
        "open_sums": open_sums,
        "decays": [
            f"${naming.inline(h.shape.weight(STEP, STEP - PAST))}$" for h in held.histories if _stays(h.value)
        ],
    }


def _history(number: int) -> str:
    return rf"\bS_{{{number}}}"


def _stays(value: Expr) -> bool:
    """Whether a sum over past steps is left in the formula."""
    return PAST in value.atoms(Symbol)


def _frozen(optimizer: Optimizer, held: Steps, writer: Writer) -> str:
    rows = [
        Row(rf"\gain_{{{position}}}^{{(n)}}", (gain,)) for position, gain in enumerate(held.gains, start=1)
    ]
    rows.append(Row(r"\bF^{(n)}(\btheta)", (frozen_update(method_of(optimizer), held.gains),)))
    return writer.display(rows)


def _sensitivity(held: Steps, writer: Writer) -> str:
    return writer.display([Row(rf"{_SENSITIVITY}[\bv]", (held.sensitivity,))])


def _histories(held: Steps, writer: Writer) -> str:
    rows = []
    for number, history in enumerate(held.histories, start=1):
        decay = writer.inline(history.shape.weight(STEP, AGO))
        double = rf"\sum_{{k = 1}}^{{n}} {decay} \sum_{{s = n - k}}^{{n - 1}} \bF^{{(s)}}(\btheta)"
        single = (
            rf"\sum_{{s = 0}}^{{n - 1}} {writer.inline(history.shape.tail(STEP, PAST))} \bF^{{(s)}}(\btheta)"
        )
        rows.append(Row(_history(number), (double, single, history.value)))
    return writer.display(rows)


def _assembled(first: str, held: Steps, writer: Writer) -> str:
    return writer.display([Row(first, (LR * held.assembled,))])
