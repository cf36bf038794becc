"""The steps by which noise gets into the mean of a curved update: for a proof (mathematics.md section 7).

All that the past contributes are numbers, sums of products of two or three weights at shifted lags.  A channel without
memory has none of them; a g that does not see the gradient has no noise.
"""

from __future__ import annotations

from itertools import product

from sympy import Expr

from symmem.algebra.atoms import GRAD
from symmem.algebra.results import Missing
from symmem.derivation.gains import at_frozen_point, limit_gains
from symmem.derivation.noise.frozen_noise import curvatures, slopes
from symmem.derivation.noise.mean_over_batches import noise_in_mean, with_batches
from symmem.derivation.noise.noise_trees import Trees
from symmem.derivation.noise.noisy_kernel import noisy_kernel
from symmem.derivation.noise.noisy_past import SettledPast
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


@record(frozen=True)
class NoisePaths:
    """The ways by which noise reaches the update of a cascade, numbered: slope ``v_i``, gain and lag of the kernel."""

    slopes: Numbered
    gains: Numbered
    lags: Numbered


def noise_paths(method: Method, sampling: Sampling) -> NoisePaths | None:
    """The paths of a cascade after many steps; None for other methods, and where nothing is known."""
    one = with_batches(merged(method), sampling)
    if not one.is_cascade or isinstance(noise_in_mean(method, sampling, "limit"), Missing):
        return None
    paths = list(enumerate(Trees(one).paths(GRAD), start=1))
    values = limit_gains(one)
    return NoisePaths(
        tuple(((i,), at_frozen_point(path.slope, one, values)) for i, path in paths),
        tuple(((i,), one.numbers.tidy(path.kernels[0].limit_gain)) for i, path in paths),
        tuple(((i,), one.numbers.tidy(path.kernels[0].factorial_moment(1))) for i, path in paths),
    )


def noise_steps(method: Method, sampling: Sampling) -> NoiseSteps | None:
    """The steps of a method that is not linear in the gradient, and no cascade; None where nothing is known."""
    if isinstance(noise_in_mean(method, sampling, "limit"), Missing):
        return None
    one = with_batches(merged(method), sampling)
    if one.is_cascade or noisy_kernel(one) is not None:
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
