"""Mini-batches: the mean of the update over the draw of the batches, to second order in their noise.

    E theta_{n+1} = theta_n - h ( F + N + M + h B ) + ...,        given theta_n        (mathematics.md section 7)

N is what noise adds to the frozen update (:mod:`.frozen_noise`), M the correction of the full batch, and h B what
noise adds to M through memory.  With ``p_l = d_l Phi`` at the frozen point, ``a_l = g_l'``, the sums of
:mod:`.noisy_past` and the averages of :mod:`symmem.algebra.noise_heads`,

    B = sum_l { p_l Dg_l[N_l] + p_l/2 D(g_l'' V)[S_l] + (second order of p_l) Dg_l[S_l]
              + sum_q d_q p_l a_q ( Da_l[E_lq] V + a_l/2 DV[E_lq] )
              + sum_qr d_q p_l a_q ( d_theta g_l W_lqr V + a_l E xi D2L[W_lqr xi] )
              + p_l sum_r ( d_theta a_l Y_lr V + g_l'' E xi D2L[Y_lr xi] + a_l/2 DV^T[Y_lr] ) }

The first three have both noises in one place: in the update of a past step, in one g, in the outer Phi.  In the others
two places share the noise of a step.  For Phi linear in one g = grad, ``B = (C_eq - C_neq/(N-1)) E Dxi[xi]``: the
paper's.
"""

from __future__ import annotations

from sympy import Add, Expr, S

from symmem.algebra.atoms import GRAD, THETA
from symmem.algebra.directional import along, derivative, slope_in
from symmem.algebra.heads import HEADS
from symmem.algebra.passes import collect
from symmem.algebra.symbols import VARIANCE
from symmem.derivation.gains import at_frozen_point
from symmem.derivation.noise.frozen_noise import curvatures, half_second, slopes
from symmem.derivation.noise.noisy_past import NoisyPast
from symmem.work import checkpoint


def variance_along(direction: Expr) -> Expr:
    """``DV[v]``."""
    return HEADS.applied(HEADS.by_name["variance_along"], (direction,))


def variance_gradient(weights: Expr) -> Expr:
    """``DV^T[w]``."""
    return HEADS.applied(HEADS.by_name["variance_gradient"], (weights,))


def noisy_hessian(weights: Expr) -> Expr:
    """``E xi D2L[w xi]``."""
    return HEADS.applied(HEADS.by_name["noisy_hessian"], (weights,))


def memory_noise(past: NoisyPast) -> Expr:
    """``B``: what noise adds to the correction through memory, over h.

    Heavy ball at n = 1: the first batch moved theta_0 by ``-h xi_0``, and its gradient, whose noise has the Jacobian
    Dxi_0, is in the memory with beta.  So ``B = beta E Dxi_0[xi_0]``, and ``E Dxi[xi] = grad V/2``:

    >>> from symmem import load
    >>> from symmem.derivation.noise.noisy_past import StepPast
    >>> from symmem.method.reading import method_of
    >>> from symmem.method.sampling import Sampling
    >>> memory_noise(StepPast(method_of(load("heavyball")), Sampling(None), 1))
    beta*variance_gradient(1)/2
    """
    return collect(
        Add(*(_through(past, place) for place in range(len(past.method.channels)))), past.method.numbers
    )


def _through(past: NoisyPast, place: int) -> Expr:
    """The part of the momentum variable at this place."""
    checkpoint("the noise through memory")
    method, channel = past.method, past.method.channels[place]
    if not channel.kernel.has_memory:
        return S.Zero  # it sees no step between
    outer = slope_in(method.phi, channel.symbol)
    same = (
        outer * derivative(channel.g, along(past.noisy_way(place))),
        outer * _moved(curvatures(method)[place] * VARIANCE / 2, past.way(place)),
        half_second(method, outer, past.gains, past.pair) * derivative(channel.g, along(past.way(place))),
    )
    return at_frozen_point(
        Add(*same, _shared_outside(past, place, outer), _shared_inside(past, place, outer)),
        method,
        past.gains,
    )


def _shared_outside(past: NoisyPast, place: int, outer: Expr) -> Expr:
    """One noise in the outer Phi; the other in g_l, or in the update of a past step."""
    method, channel = past.method, past.method.channels[place]
    first = slopes(method)
    slope, drift = first[place], slope_in(channel.g, THETA)
    terms = []
    for q, other in enumerate(method.channels):
        curved = slope_in(outer, other.symbol) * first[q]
        if curved == 0:
            continue
        if slope != 0:
            way = past.common_way(place, q)
            changed = derivative(slope, along(way)) * VARIANCE + slope * variance_along(way) / 2
            terms.append(curved * changed)
        for r in range(len(method.channels)):
            weights = past.seen(place, q, r)
            terms.append(curved * (drift * weights * VARIANCE + slope * noisy_hessian(weights)))
    return Add(*terms)


def _shared_inside(past: NoisyPast, place: int, outer: Expr) -> Expr:
    """One noise in g_l, the other in the update of a step after it."""
    method = past.method
    slope = slopes(method)[place]
    if slope == 0:
        return S.Zero
    drift, curvature = slope_in(slope, THETA), slope_in(slope, GRAD)
    weights = Add(*(past.repeated(place, r) for r in range(len(method.channels))))
    changed = (
        drift * weights * VARIANCE
        + curvature * noisy_hessian(weights)
        + slope * variance_gradient(weights) / 2
    )
    return outer * changed


def _moved(expression: Expr, way: Expr) -> Expr:
    """The directional derivative of an expression with the variance in it."""
    return derivative(expression, {**along(way), VARIANCE: variance_along(way)})
