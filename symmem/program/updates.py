"""Derivation -> the optimizer with its memory as single passes, with and without a part of its correction.

    update             theta - lr rate Phi(m)                                 the optimizer as it runs
    corrected_update   theta - lr rate (Phi(m) + strength M)                  M from the products hv with the Hessian
    straight_update    theta - lr rate (Phi(m) + strength (F_straight - F))   mathematics.md section 10

at step n, each with the new memory on its way.  F, M and F_straight are taken at the present gradient and n; strength
-1 takes the effect of memory away.
"""

from __future__ import annotations

from symmem.algebra.results import Missing, Sentence
from symmem.derivation.derivation import Derivation
from symmem.program.products import correction_from_products, straight_from_products
from symmem.program.running import Running, running_step
from symmem.program.statements import Apply, Assign, Choice, Internal, Loop

STRENGTH = Internal("strength")
MOST_KEPT = 32
"""Vectors of memory that a kernel holds at a time; a long delay is better kept as a ring."""
UPDATES = ("update", "corrected_update", "straight_update")
_TENSORS = Missing(Sentence.of("the step with memory has functions of a whole tensor, and is no single pass"))
_LONG = Missing(Sentence.of(f"the optimizer keeps more than {MOST_KEPT} vectors"))


def updates(derivation: Derivation) -> dict[str, Running | Missing]:
    """The three, by their names; all keep the same memory."""
    optimizer = derivation.optimizer
    plain = _single_pass(running_step(optimizer))
    if isinstance(plain, Missing):
        return dict.fromkeys(UPDATES, plain)
    found: dict[str, Running | Missing] = {"update": plain}
    parts = (correction_from_products(derivation), straight_from_products(derivation))
    for name, part in zip(UPDATES[1:], parts, strict=True):
        if isinstance(part, Missing):
            found[name] = part
        else:
            added, given = part
            found[name] = _single_pass(running_step(optimizer, STRENGTH * added, given))
    return found


def _single_pass(running: Running) -> Running | Missing:
    if not all(isinstance(each, (Apply, Assign, Choice, Loop)) for each in running.routine.statements):
        return _TENSORS
    return _LONG if len(running.before) > MOST_KEPT else running
