"""The correction of memory at step n, first order in h.  The limit: :mod:`symmem.derivation.orders.expansion`.

    M^(n)(theta) = h DPhi(gbar)[ scale_1 Dg_1[S_1], ..., scale_L Dg_L[S_L] ]  (mathematics.md section 2; the paper, (9))

with S_l the sum over the past of the kernel's shape, scale_l the factor in front of it.
"""

from __future__ import annotations

from functools import lru_cache

from sympy import Expr

from symmem.algebra.atoms import LR
from symmem.algebra.directional import along, derivative
from symmem.algebra.grouping import group
from symmem.derivation.gains import at_frozen_point, gains, scales
from symmem.derivation.past.cascade import cascade_contributions
from symmem.derivation.past.history import past_sum
from symmem.method.merging import merged
from symmem.method.method import Method


@lru_cache(maxsize=256)
def finite_correction(method: Method) -> Expr:
    """``M^(n)(theta)`` for symbolic n, h included."""
    one = merged(method)
    if one.is_cascade:
        return LR * group(cascade_contributions(one), method.numbers)
    sums = tuple(past_sum(one, channel.kernel.remembered.shape) for channel in one.channels)
    return LR * group(contributions(one, sums), method.numbers)


def contributions(method: Method, sums: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """``scale_l d_l Phi(gbar)[Dg_l[S_l]]``, one for each channel that remembers."""
    parts = []
    for channel, scale, past in zip(method.channels, scales(method), sums, strict=True):
        if past == 0:
            continue
        moved = derivative(channel.g, along(past))
        if moved != 0:
            change = derivative(method.phi, {channel.symbol: scale * moved})
            parts.append(at_frozen_point(change, method, gains(method)))
    return tuple(parts)
