"""A memory of squares that is long, on mini-batches: exact in the noise, of leading order in its lag (mathematics.md
section 7, where the effect of a decay turns).

``m_l`` then holds the mean of what it is fed, ``q = g_l + g_l'' V/2``, whatever the size of the noise (Adam:
``grad^2 + V``), and lags behind it by its own memory alone.  Where Phi is linear in all else that has noise,

    F = Phi(..., gamma_l q, ...),        M = h s_l d_l Phi(..., gamma_l q, ...) Dq[F],        s_l = sum_k k c_l(k)

Dq moves V too: ``D(grad^2 + V)[F] = 2 grad D2L(F) + DV(F)``.  The effect of this memory turns where Dq[F] = 0.
"""

from __future__ import annotations

from sympy import Expr, Symbol

from symmem.algebra.atoms import GRAD, LR
from symmem.algebra.directional import along, derivative, slope_in
from symmem.algebra.passes import collect
from symmem.algebra.reals import substituted
from symmem.algebra.symbols import VARIANCE
from symmem.derivation.gains import frozen_point, limit_gains
from symmem.derivation.noise.frozen_noise import curvatures, slopes
from symmem.derivation.noise.minibatch import variance_along
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.records import record


@record(frozen=True)
class LongMemory:
    """The momentum variable, the mean that it holds, the update with it, and what its lag adds to leading order."""

    symbol: Symbol
    mean: Expr
    update: Expr
    correction: Expr
    change: Expr
    """``Dq[F]``: the effect turns where it is 0."""


def long_memories(method: Method) -> tuple[LongMemory, ...]:
    """One for each memory of squares whose Phi is linear in the rest of the noise; asked where the limit exists."""
    one = merged(method)
    if one.is_cascade:
        return ()
    return tuple(_long_memory(one, place) for place in range(len(one.channels)) if _holds_squares(one, place))


def _holds_squares(method: Method, place: int) -> bool:
    """Whether ``g_l''`` is there and does not move with the gradient, and no other noise is bent by Phi."""
    curve, kernel = curvatures(method)[place], method.channels[place].kernel
    if curve == 0 or slope_in(curve, GRAD) != 0 or not kernel.has_memory:
        return False
    others = [
        channel.symbol
        for other, (channel, slope) in enumerate(zip(method.channels, slopes(method), strict=True))
        if other != place and slope != 0
    ]
    plain = all(curvatures(method)[q] == 0 for q in range(len(method.channels)) if q != place)
    bent = any(slope_in(slope_in(method.phi, x), y) != 0 for x in others for y in others)
    return plain and not bent


def _long_memory(method: Method, place: int) -> LongMemory:
    channel, values = method.channels[place], limit_gains(method)
    mean = channel.g + curvatures(method)[place] * VARIANCE / 2
    point = {**frozen_point(method, values), channel.symbol: values[place] * mean}

    def placed(expression: Expr) -> Expr:
        return collect(substituted(expression, point), method.numbers)

    update = placed(method.phi)
    change = collect(derivative(mean, {**along(update), VARIANCE: variance_along(update)}), method.numbers)
    lag = channel.kernel.factorial_moment(1)
    correction = collect(LR * lag * placed(slope_in(method.phi, channel.symbol)) * change, method.numbers)
    return LongMemory(channel.symbol, mean, update, correction, change)
