"""What follows from the lemma, for a paper: the limit of many steps, the modified loss and equation, the start."""

from __future__ import annotations

from dataclasses import replace

from symmem.algebra.atoms import LR, THETA
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation
from symmem.derivation.modified_loss import ModifiedLoss
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.escaping import typeset
from symmem.documents.paper.macros import PAPER
from symmem.documents.words import found, in_macros, mathematics
from symmem.notation.symbols import Macros


def sentence(words: str, optimizer: Optimizer) -> str:
    """A sentence from another room, its mathematics in the macros of a paper."""
    names = optimizer.symbols | {function.name: function.latex for function in optimizer.functions}
    parts = found(words, names)
    return "".join(
        typeset(part) if isinstance(part, str) else f"${in_macros(part, names)}$" for part in parts
    )


def limit(derivation: Derivation, writer: Writer) -> dict[str, object]:
    """``theta <- theta - h (F_0 + h F_1 + ...)``."""
    name, values = derivation.optimizer.name, derivation.coefficients
    rows = [Row(rf"\bF_{{{j}}}(\btheta)", (value,), f"eq:{name}-limit-{j}") for j, value in enumerate(values)]
    step = _series(r"\bF", range(len(values)), r"(\memless^{(n)})")
    iteration = Row(r"\memless^{(n + 1)}", (rf"\memless^{{(n)}} - \lr \bigl[ {step} \bigr]",))
    return {"display": writer.display([iteration, *rows])}


def modified_loss(derivation: Derivation, writer: Writer) -> dict[str, object]:
    """The modified loss and its preconditioner, or the terms that prevent it."""
    obstruction = derivation.obstruction
    if obstruction is not None:
        rows = [Row(rf"\bR_{{{k}}}", (term,)) for k, term in enumerate(obstruction.terms, start=1)]
        return {
            "exists": False,
            "obstruction": sentence(str(obstruction.reason), derivation.optimizer),
            "order": obstruction.order,
            "display": writer.display(rows),
        }
    loss = derivation.modified_loss
    assert loss is not None
    name, names = derivation.optimizer.name, derivation.optimizer.symbols
    step = r"\precond(\memless^{(n)}) \nabla \modloss(\memless^{(n)})"
    if loss.decay != 0:
        step = rf"\bigl( {step} + {writer.inline(loss.decay * THETA, _memoryless())} \bigr)"
    rows = [
        Row(r"\memless^{(n + 1)}", (rf"\memless^{{(n)}} - \lr {step}",)),
        Row(r"\modloss(\btheta)", (loss.potential,), f"eq:{name}-loss"),
        Row(r"\precond(\btheta)", (loss.preconditioner,)),
    ]
    regime = "" if loss.regime == "exact" else in_macros(mathematics(str(loss.regime), names), names)
    return {
        "exists": True,
        "regime": regime,
        "rate": "" if loss.rate is None else in_macros(mathematics(str(loss.rate), names), names),
        "unchanged": LR not in loss.potential.free_symbols,
        "display": writer.display(rows),
    }


def modified_equation(derivation: Derivation, writer: Writer) -> dict[str, object]:
    """``theta' = G_0 + h G_1 + ...``, and whether it is a gradient flow."""
    name, values = derivation.optimizer.name, derivation.modified_equation
    rows = [Row(rf"\bG_{{{j}}}(\btheta)", (value,), f"eq:{name}-G{j}") for j, value in enumerate(values)]
    loss = derivation.modified_loss
    flow = "" if loss is None or loss.regime != "exact" else _flow(derivation)
    return {
        "equation": _series(r"\bG", range(len(values))),
        "display": writer.display(rows),
        "flow": flow,
        "error": rf"O(\lr^{{{len(values)}}})",
    }


def _flow(derivation: Derivation) -> str:
    flow = derivation.flow_loss
    if isinstance(flow, ModifiedLoss):
        return "It is a gradient flow."
    return rf"It is no gradient flow from $\bG_{{{flow.order}}}$ on, in two or more dimensions."


def start(derivation: Derivation, writer: Writer) -> dict[str, object]:
    """The shifts ``d_j``; none where no gain depends on the step and the order is 1."""
    shifts = derivation.shift
    if all(shift == 0 for shift in shifts):
        return {"shifted": False}
    name = derivation.optimizer.name
    rows = [Row(rf"\bd_{{{j}}}", (value,), f"eq:{name}-d{j}") for j, value in enumerate(shifts, start=1)]
    place = r"\btheta^{(0)} + " + _series(r"\bd", range(1, len(shifts) + 1))
    return {"shifted": True, "place": place, "display": writer.display(rows), "order": len(shifts) + 1}


def _memoryless() -> Macros:
    """The paper's macros, with theta at the iterate of the memoryless iteration."""
    return replace(PAPER, theta=r"\memless^{(n)}")


def _series(letter: str, powers: range, point: str = "") -> str:
    r"""``\bF_{0} + \lr \bF_{1} + \lr^{2} \bF_{2}``."""
    steps = ["" if j == 0 else r"\lr " if j == 1 else rf"\lr^{{{j}}} " for j in powers]
    return " + ".join(rf"{step}{letter}_{{{j}}}{point}" for step, j in zip(steps, powers, strict=True))
