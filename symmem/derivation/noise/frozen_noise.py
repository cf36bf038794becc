"""What noise does to the update on a constant history: the effect of order h^0 (mathematics.md section 7).

    E F^(n) = Phi(gbar) + N,    N = V/2 ( sum_l d_l Phi gain_l g_l'' + sum_lq d_l d_q Phi g_l' g_q' K_lq ),
    K_lq = sum_k c_l c_q + rho (gain_l gain_q - sum_k c_l c_q)

to second order in the noise; the primes are derivatives in the gradient, V the variance of one batch's gradient.  It is
0 where Phi and the g_l are linear: the mean of a linear update is that of the mean gradient.

Example: Signum, a smoothed sign of an average with ``K = (1 - beta)/(1 + beta)`` for ``rho = 0``, has
``N = V/2 Phi''(grad) (1 - beta)/(1 + beta)``.
"""

from __future__ import annotations

from collections.abc import Callable

from sympy import Add, Expr

from symmem.algebra.atoms import GRAD
from symmem.algebra.directional import slope_in
from symmem.algebra.symbols import VARIANCE
from symmem.derivation.gains import Gains, at_frozen_point
from symmem.method.method import Method
from symmem.method.sampling import Sampling

Pairs = Callable[[int, int], Expr]
"""``K_lq`` by the places of two channels."""


def paired(equal: Expr, all_pairs: Expr, sampling: Sampling) -> Expr:
    """A sum over pairs of steps in which equal ones count 1 and different ones rho, from its two plain sums."""
    return equal + sampling.between * (all_pairs - equal)


def slopes(method: Method) -> tuple[Expr, ...]:
    """``g_l'``: the derivatives in the gradient."""
    return tuple(slope_in(channel.g, GRAD) for channel in method.channels)


def curvatures(method: Method) -> tuple[Expr, ...]:
    """``g_l''``."""
    return tuple(slope_in(slope, GRAD) for slope in slopes(method))


def noise_of_update(method: Method, values: Gains) -> tuple[Expr, ...]:
    """``w_l = d_l Phi(gbar) g_l'``: an update moves by ``sum_l w_l (noise in m_l)``."""
    return tuple(
        at_frozen_point(slope_in(method.phi, channel.symbol) * slope, method, values)
        for channel, slope in zip(method.channels, slopes(method), strict=True)
    )


def frozen_noise(method: Method, values: Gains, pairs: Pairs) -> Expr:
    """``N`` at these gains."""
    return at_frozen_point(half_second(method, method.phi, values, pairs), method, values)


def half_second(method: Method, function: Expr, values: Gains, pairs: Pairs) -> Expr:
    """``V/2 (sum_q d_q f gain_q g_q'' + sum_qr d_q d_r f g_q' g_r' K_qr)`` of a function of the channels."""
    first, second = slopes(method), curvatures(method)
    terms = []
    for q, channel in enumerate(method.channels):
        slope = slope_in(function, channel.symbol)
        terms.append(slope * values[q] * second[q])
        for r, other in enumerate(method.channels):
            if first[q] != 0 and first[r] != 0:
                curved = slope_in(slope, other.symbol)
                terms.append(curved * first[q] * first[r] * pairs(q, r) if curved != 0 else curved)
    return VARIANCE * Add(*terms) / 2
