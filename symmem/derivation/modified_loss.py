"""The modified loss (mathematics.md section 5): the memoryless step as a preconditioned step on a changed loss.

    theta <- theta - h P grad Ltilde - h decay theta,      Ltilde = loss + h (...),     P a scalar or a diagonal

Methods linear in the gradient are settled at every order by their trees.  For the others the terms that prevent a
potential are named; where it exists as a small parameter goes to zero, the loss of that limit is given, with the
rate at which the difference vanishes.  Example: heavy ball with ``F_1 = beta/(1-beta)^3 H g`` has
``Ltilde = loss + h beta/(2 (1-beta)^2) |g|^2`` and ``P = 1/(1-beta)``.
"""

from __future__ import annotations

from collections.abc import Callable

from sympy import Add, Expr

from symmem.algebra.atoms import LOSS, LR
from symmem.algebra.results import Missing
from symmem.derivation.expansion import Expansion, Numbers, Term, expansion
from symmem.derivation.gains import unsettled
from symmem.derivation.integrability import gradient_gain, potential_of_order
from symmem.derivation.preconditioned_loss import preconditioned_loss
from symmem.derivation.verdicts import ModifiedLoss, Obstruction
from symmem.method.method import Method

__all__ = ["ModifiedLoss", "Obstruction", "Verdict", "modified_flow_loss", "modified_loss"]

Verdict = ModifiedLoss | Obstruction | Missing
"""A loss; what prevents it; or, where the method has no limit for many steps, why there is nothing to ask about."""


def modified_loss(method: Method, order: int) -> Verdict:
    """The modified loss of the memoryless iteration to the given power of h, or what prevents it."""
    missing = unsettled(method)
    if missing is not None:
        return missing
    gain = gradient_gain(method)
    series = expansion(method, order)
    if gain is not None:
        return _by_trees(series, order, gain, lambda term: term.step)
    return preconditioned_loss(method, [series.memoryless(j) for j in range(order + 1)])


def modified_flow_loss(method: Method, order: int) -> Verdict:
    """The loss whose gradient flow ``theta' = -P grad Lhat`` is the modified equation, or what prevents it."""
    missing = unsettled(method)
    if missing is not None:
        return missing
    gain = gradient_gain(method)
    series = expansion(method, order)
    if gain is not None:
        return _by_trees(series, order, gain, lambda term: tuple((x, -share) for x, share in term.flow))
    return preconditioned_loss(method, [-series.modified_equation(j) for j in range(order + 1)])


def _by_trees(
    series: Expansion, order: int, gain: Expr, numbers: Callable[[Term], Numbers]
) -> ModifiedLoss | Obstruction:
    parts: list[Expr] = [LOSS]
    for j in range(1, order + 1):
        found = potential_of_order(series, j, [numbers(term) for term in series.terms[j]], gain)
        if isinstance(found, Obstruction):
            return found
        parts.append(LR**j * found)
    return ModifiedLoss(Add(*parts), gain)
