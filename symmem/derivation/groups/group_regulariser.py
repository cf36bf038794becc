"""What memory adds to the loss, first order in h: the implicit regulariser of groups (mathematics.md sections 2, 5).

Where every response is a multiple of the preconditioner P of the update, ``F = P grad + decay theta``,

    M = P grad R,     R = sum_l strength_l A[S_l],     grad A[S] = D2L[S],

with the sums S_l of :mod:`.parameter_groups`; ``A[S] = sum of density - loss_share loss``, for each step in S.
"""

from __future__ import annotations

from sympy import Add, Expr, S, expand_mul

from symmem.algebra.atoms import LOSS, TOTAL, contraction, is_constant
from symmem.algebra.grouping import group
from symmem.algebra.passes import distribute
from symmem.algebra.potentials import potential
from symmem.algebra.reals import substituted
from symmem.algebra.results import Regime
from symmem.derivation.groups.parameter_groups import group_form
from symmem.derivation.loss.modified_loss import modified_loss
from symmem.derivation.loss.preconditioner import preconditioner_of
from symmem.derivation.loss.verdicts import ModifiedLoss
from symmem.method.method import Method
from symmem.records import record


@record(frozen=True)
class Regulariser:
    """``M = P grad sum_l strengths[l] A[S_l]``; A of one step is ``sum of density - loss_share loss``.

    ``strengths`` depend on the step's scalars, ``density`` and ``loss_share`` on a past step's; ``regime`` is as in
    the modified loss.
    """

    strengths: tuple[Expr, ...]
    density: Expr
    loss_share: Expr
    regime: Regime


def regulariser(method: Method) -> Regulariser | None:
    """The regulariser, or None where memory adds no gradient times the preconditioner."""
    form = group_form(method)
    settled = modified_loss(method, 1)
    if not isinstance(settled, ModifiedLoss) or not form.memories or form.has_displacements:
        return None
    small = dict.fromkeys(settled.regime.small, S.Zero)

    def settle(expression: Expr) -> Expr:
        return group([substituted(expression, small)], form.field)

    preconditioner, _ = preconditioner_of(settle(form.memoryless), form.field)
    if preconditioner is None:
        return None
    strengths = []
    for memory in form.memories:
        others = {other.product: S.Zero for other in form.memories if other != memory}
        response = settle(form.correction.xreplace({**others, memory.product: S.One, memory.scale: S.One}))
        strengths.append(group([response / preconditioner], form.field))
    found = _potential(settle(form.past))
    if found is None or not all(is_constant(strength) for strength in strengths):
        return None
    return Regulariser(tuple(strengths), *found, settled.regime)


def _potential(direction: Expr) -> tuple[Expr, Expr] | None:
    """``density, loss_share`` with ``D2L[direction] = grad (sum of density - loss_share loss)``."""
    parts, rest = potential(distribute(contraction(direction)))
    if rest:
        return None
    whole = expand_mul(Add(*(scalar * part for scalar, part in parts)))
    loss_share = -whole.coeff(LOSS)
    densities = {total: total.args[0] for total in whole.atoms(TOTAL)}
    return expand_mul(whole + loss_share * LOSS).xreplace(densities), loss_share
