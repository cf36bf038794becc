"""What holds on every history, and not on constant ones alone: the theorem differentiates the update there.

A momentum variable with weights ``c(n, k) >= 0`` of values ``g >= 0`` is not negative, whatever the past was; so

    m2 + eps >= eps > 0     for m2 = sum_k c(n, k) grad_{n-k}^2,

and a root of it, or a division by it, has bounded derivatives (conditions (C1) to (C3) of the theorem in a paper).
"""

from __future__ import annotations

from sympy import Expr

from symmem.algebra.atoms import AGO, STEP, THETA
from symmem.algebra.head import Roughness
from symmem.algebra.intervals import NONNEGATIVE, Interval
from symmem.algebra.ranges import bounds
from symmem.algebra.signs import is_nonzero
from symmem.derivation.conditions.smoothness import rough_parts
from symmem.method.method import Method
from symmem.records import record


@record(frozen=True)
class EveryHistory:
    """``nonnegative``: the places, from 1, of the variables that are never negative, as far as it is known.

    ``away``: what Phi and the g_l divide by or take roots of, where it is known to be nowhere 0;  ``near``: where this
    is known at the frozen point alone;  ``reads_theta``: whether the update reads the parameters themselves.
    """

    nonnegative: tuple[int, ...]
    away: tuple[Expr, ...]
    near: tuple[Expr, ...]
    reads_theta: bool


def every_history(method: Method, order: int) -> EveryHistory:
    """The signs of the momentum variables, one after the other, and what they say of Phi and the g_l."""
    ranges: dict[Expr, Interval] = dict(method.ranges)
    places = []
    for place, channel in enumerate(method.channels, start=1):
        weight = bounds(channel.kernel.weight(STEP, AGO), ranges)
        if weight.is_nonnegative and bounds(channel.g, ranges).is_nonnegative:
            ranges[channel.symbol] = NONNEGATIVE
            places.append(place)
    read = (method.phi, *(channel.g for channel in method.channels))
    rough = dict.fromkeys(
        part.inner
        for expression in read
        for part in rough_parts(expression, order)
        if part.roughness in (Roughness.ROOT, Roughness.SINGULAR)
    )
    away = tuple(inner for inner in rough if is_nonzero(inner, ranges))
    near = tuple(inner for inner in rough if inner not in away)
    return EveryHistory(tuple(places), away, near, any(THETA in part.free_symbols for part in read))
