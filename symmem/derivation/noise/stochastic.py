"""The stochastic equation of a method whose batches are drawn anew at every step (mathematics.md section 7).

In the time ``t = n h``, in law, with w white noise of the covariance of a batch's gradient,

    theta' = G_0 + h G_1 - F_xi + sqrt(h) J w,        J = sum_l d_l Phi g_l' gamma_l

The noise of one batch enters m_l with the weights c_l(k), at one step after the other: over times that are long beside
the memory it has moved theta by ``-h sum_l d_l Phi g_l' sum_k c_l(k)``, and that sum is the gain.  F_xi is what noise
adds to the mean of the frozen update (:mod:`.frozen_noise`), of second order in it.

    heavy ball: theta' = -grad/(1 - beta) + h G_1 + sqrt(h) w/(1 - beta)

Where Phi and the g_l are linear the moments of both agree to O(h^2), as for SGD (Li, Tai and E 2017); else terms of
the order of h V are left out.
"""

from __future__ import annotations

from sympy import Add, Expr

from symmem.algebra.atoms import GRAD
from symmem.algebra.passes import collect
from symmem.algebra.results import Missing
from symmem.derivation.gains import at_frozen_point, limit_gains
from symmem.derivation.noise.mean_over_batches import noise_in_mean
from symmem.derivation.noise.noise_trees import Trees
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.method.sampling import Sampling
from symmem.records import record


@record(frozen=True)
class StochasticEquation:
    """``diffusion`` is J; ``drift`` is F_xi, which is taken from the drift of the full batch."""

    diffusion: Expr
    drift: Expr


def stochastic_equation(method: Method) -> StochasticEquation | Missing:
    """Drift and diffusion after many steps."""
    found = noise_in_mean(method, Sampling(None), "limit")
    if isinstance(found, Missing):
        return found
    one = merged(method)
    # In a cascade noise enters by the paths along which it is read; else each channel is one.
    moved = (
        at_frozen_point(path.slope, one, limit_gains(one)) * path.kernels[0].limit_gain
        for path in Trees(one).paths(GRAD)
    )
    return StochasticEquation(collect(Add(*moved), one.numbers), found.frozen)
