"""The loss inside a gradient map, for a paper: the displays of corollary and proof (mathematics.md section 11).

The words of the proof stand in ``templates/latex/gradient_map.tex.jinja``; the formulas of the optimizer are made here.
"""

from __future__ import annotations

from sympy import Expr

from symmem.algebra.atoms import LOSS, MOMENTUM_NAME, total
from symmem.algebra.atoms import THETA as THETA_SYMBOL
from symmem.algebra.results import Missing
from symmem.derivation.loss.gradient_map_loss import PREVIOUS, GradientMapLoss
from symmem.derivation.loss.verdicts import Obstruction
from symmem.documents.paper.consequences import MEMORYLESS, NEXT, Values, witness
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.verdict_prose import map_obstruction_prose
from symmem.method.geometric import Geometric
from symmem.notation.formula import Atom, Formula, Gradient
from symmem.notation.statement import (
    ONE,
    THETA,
    Applied,
    AtStep,
    BigO,
    Bracketed,
    H,
    Iterate,
    Letter,
    N,
    added,
    difference,
    power_of_h,
    times,
)

_AGE = Letter("mean age")
_LOSS, _PSI = Letter("map loss"), Letter("Psi")


def gradient_map(
    found: GradientMapLoss | Obstruction | Missing | None, name: str, writer: Writer, front: Formula = H
) -> Values:
    """The corollary, a denial, or nothing for a method of another kind."""
    if isinstance(found, Obstruction):
        return {
            "denied": True,
            "sentence": writer.sentence(map_obstruction_prose(found)),
            "witness": witness(found.witness, writer),
        }
    if not isinstance(found, GradientMapLoss):
        return {"denied": False, "exists": False}
    rows = [
        Row(Applied(_LOSS, (THETA,)), (found.potential,), f"eq:{name}-map-loss"),
        Row(Applied(_PSI, (Atom("grad"),)), (found.map.primitive,)),
    ]
    kernel = found.map.kernel
    return {
        "denied": False,
        "exists": True,
        "decays": found.map.decay != 0,
        "step": _step(found, writer, front),
        "error": writer.inline(BigO(power_of_h(found.order + 2))),
        "display": writer.display(rows),
        "geometric": isinstance(kernel, Geometric),
        "factor": writer.inline(kernel.decay) if isinstance(kernel, Geometric) else "",
        "lag": writer.display([Row(_AGE, (found.map.lag,))]),
        "decay": writer.inline(found.map.decay),
        "seen": writer.inline(_seen(found)) if found.coupled != 0 else "",
        "channel": writer.inline(found.map.channel),
        "gain": writer.inline(found.map.gain),
        "running": "" if found.running is None else _running(found, writer),
    }


def _seen(found: GradientMapLoss) -> Expr:
    """The loss whose gradients the method sees, with its coupled decay."""
    return LOSS + found.coupled * total(THETA_SYMBOL**2) / 2


def _step(found: GradientMapLoss, writer: Writer, front: Formula) -> str:
    """``memoryless^(n+1) = memoryless^(n) - h (grad Psi(grad L^) + decay theta)``."""
    inside: Formula = Applied(Gradient(_PSI), (Gradient(Applied(_LOSS, (MEMORYLESS,))),))
    if found.map.decay != 0:
        inside = added(inside, writer.spelling.formula(found.map.decay * THETA_SYMBOL))
        inside = Bracketed(inside) if front != H else inside
    after = writer.inline(difference(MEMORYLESS, times(front, inside)), MEMORYLESS)
    return f"{writer.inline(NEXT)} = {after}"


def _running(found: GradientMapLoss, writer: Writer) -> str:
    """``L^`` at the iterate n+1 from its value at the iterate n."""
    after = added(N, ONE)
    momentum = {
        each.name: AtStep(Atom(each.name), after)
        for each in found.map.channel.free_symbols
        if MOMENTUM_NAME.fullmatch(each.name)
    }
    named = writer.naming({PREVIOUS.name: Applied(_LOSS, (Iterate(N),)), **momentum})
    left = writer.inline(Applied(_LOSS, (Iterate(after),)))
    row = Row(Letter("map loss"), (), theta=Iterate(after), arguments=True)
    first, *others = named.lines(row, found.running, writer.width - 2)
    lines = [f"{left}", rf"\quad = {first}", *(rf"\quad {line}" for line in others)]
    return " \\\\\n  & ".join(lines)
