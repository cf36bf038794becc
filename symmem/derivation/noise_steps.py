"""The steps by which noise gets into the mean of a curved update: for a proof (mathematics.md section 7).

All that the past contributes are numbers, sums of products of two or three weights at shifted lags.  A channel without
memory has none of them; a g that does not see the gradient has no noise.
"""

from __future__ import annotations

from itertools import product

from sympy import Expr

from symmem.algebra.results import Missing
from symmem.derivation.frozen_noise import curvatures, slopes
from symmem.derivation.mean_over_batches import mean_over_batches, with_batches
from symmem.derivation.noisy_kernel import noisy_kernel
from symmem.derivation.noisy_past import SettledPast
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.method.sampling import Sampling
from symmem.records import record

Numbered = tuple[tuple[tuple[int, ...], Expr], ...]
"""Values by the places of channels, counted from 1."""


@record(frozen=True)
class NoiseSteps:
    """``g_l'`` and ``g_l''``; then the sums ``K_qr``, ``s_l``, ``e_lq``, ``x_lqr`` and ``y_lr`` of the past."""

    slopes: Numbered
    curvatures: Numbered
    pairs: Numbered
    lags: Numbered
    common: Numbered
    seen: Numbered
    repeated: Numbered


def noise_steps(method: Method, sampling: Sampling) -> NoiseSteps | None:
    """The steps of a method that is not linear in the gradient; None where nothing is known, or all is linear."""
    if isinstance(mean_over_batches(method, sampling, "limit"), Missing):
        return None
    one = with_batches(merged(method), sampling)
    if noisy_kernel(one) is not None:
        return None
    past, first = SettledPast(one, sampling), slopes(one)
    noisy = [place for place, slope in enumerate(first) if slope != 0]
    old = [place for place, channel in enumerate(one.channels) if channel.kernel.has_memory]

    def numbered(values: dict[tuple[int, ...], Expr]) -> Numbered:
        known = (
            (tuple(place + 1 for place in key), one.numbers.tidy(value)) for key, value in values.items()
        )
        return tuple((key, value) for key, value in known if value != 0)

    def by_place(values: tuple[Expr, ...]) -> Numbered:
        return tuple(((place + 1,), value) for place, value in enumerate(values))

    return NoiseSteps(
        by_place(first),
        by_place(curvatures(one)),
        numbered({(q, r): past.pair(q, r) for q, r in product(noisy, noisy) if q <= r}),
        numbered({(place,): past.lag(place) for place in old}),
        numbered({(place, q): past.common_lag(place, q) for place, q in product(old, noisy)}),
        numbered({(place, q, r): past.seen_lag(place, q, r) for place, q, r in product(old, noisy, noisy)}),
        numbered({(place, r): past.repeated_lag(place, r) for place, r in product(old, noisy)}),
    )
