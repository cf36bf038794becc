"""The correction of memory at step n, first order in h.  The limit of many steps is in :mod:`.orders`.

M^(n)(theta) = h DPhi(gbar)[ b_1 Dg_1[S_1], ..., b_L Dg_L[S_L] ]        (MATH.md section 2)
"""

from __future__ import annotations

from functools import lru_cache

from sympy import Expr

from symmem.algebra.atoms import LR, momentum_symbol
from symmem.algebra.directional import along, derivative
from symmem.algebra.grouping import group
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.gains import Gain, at_frozen_point, gains
from symmem.derivation.history import past_sum
from symmem.method.numbers import scalars_of


@lru_cache(maxsize=256)
def finite_correction(optimizer: Optimizer) -> Expr:
    """``M^(n)(theta)`` for symbolic n, h included."""
    now = gains(optimizer)
    sums = tuple(past_sum(optimizer, gain) for gain in now)
    return LR * group(contributions(optimizer, now, sums), scalars_of(optimizer))


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
