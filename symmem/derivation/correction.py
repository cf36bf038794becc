"""The correction of memory, first order in h.

    M^(n)(theta) = h DPhi(gbar)[ b_1 Dg_1[S_1], ..., b_L Dg_L[S_L] ]        (MATH.md section 2)
"""

from __future__ import annotations

from sympy import Expr

from symmem.algebra.atoms import LR, momentum_symbol
from symmem.algebra.directional import along, derivative
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.gains import Gain, at_frozen_point, frozen_update, gains, limit_gains
from symmem.derivation.grouping import group
from symmem.derivation.history import limit_past_sum, past_sum
from symmem.derivation.scalars import scalars_of


def finite_correction(optimizer: Optimizer) -> Expr:
    """``M^(n)(theta)`` for symbolic n, h included."""
    now = gains(optimizer)
    sums = tuple(past_sum(optimizer, gain) for gain in now)
    return LR * group(contributions(optimizer, now, sums), scalars_of(optimizer))


def limit_coefficient(optimizer: Optimizer) -> Expr:
    """``F_1 = lim M^(n) / h`` for n -> infinity."""
    return group(limit_contributions(optimizer), scalars_of(optimizer))


def limit_contributions(optimizer: Optimizer) -> tuple[Expr, ...]:
    """The parts of ``F_1``, one per momentum variable with memory."""
    limit = limit_gains(optimizer)
    update = frozen_update(optimizer, limit)
    sums = tuple(limit_past_sum(optimizer, gain, update) for gain in limit)
    return contributions(optimizer, limit, sums)


def contributions(optimizer: Optimizer, values: tuple[Gain, ...], sums: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """``b_l d_l Phi(gbar)[Dg_l[S_l]]``, one for each momentum variable that remembers."""
    parts = []
    for position, (variable, gain, past) in enumerate(zip(optimizer.momentum, values, sums, strict=True), 1):
        if past == 0:
            continue
        moved = derivative(variable.g, along(past))
        if moved != 0:
            change = derivative(optimizer.phi, {momentum_symbol(position): gain.b * moved})
            parts.append(at_frozen_point(change, optimizer, values))
    return tuple(parts)
