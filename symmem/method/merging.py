"""Channels that Phi sees only together, through one common g, become one channel whose memory is a mixture.

Where ``d_m Phi = c d_l Phi`` with a scalar c and ``g_m = r g_l``, Phi depends on ``m_l + c m_m`` alone.  Nesterov,
Lion and NAdamW have such pairs; merging them leaves fewer trees and no two names for one derivative.

    m_l + c m_m + ... = sum_k ( c_l(n, k) + c r c_m(n, k) + ... ) g_l(theta_{n-k})
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from sympy import Expr, S

from symmem.algebra.atoms import STEP, is_scalar
from symmem.algebra.directional import derivative
from symmem.algebra.passes import collect
from symmem.algebra.scalars import Scalars
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel
from symmem.method.method import Channel, Method
from symmem.method.mixture import Mixture


@lru_cache(maxsize=256)
def merged(method: Method) -> Method:
    """The method with as few channels as Phi tells apart."""
    phi = method.phi
    free = list(method.channels)
    channels = []
    while free:
        first = free.pop(0)
        kernels, others = [first.kernel], []
        for other in free:
            ratio = _ratio(phi, first, other, method.numbers)
            if ratio is not None:
                kernels.append(other.kernel.scaled(ratio))
                others.append(other)
        for other in others:
            free.remove(other)
            phi = phi.xreplace({other.symbol: S.Zero})
        channels.append(replace(first, kernel=_sum(kernels, method.numbers)))
    if len(channels) == len(method.channels):
        return method
    return replace(method, phi=phi, channels=tuple(channels))


def _ratio(phi: Expr, first: Channel, other: Channel, scalars: Scalars) -> Expr | None:
    """``c r`` with ``d_other Phi = c d_first Phi`` and ``g_other = r g_first``, both scalars; else None."""
    scale = collect(other.g / first.g, scalars)
    if not is_scalar(scale) or first.g.is_Number:
        return None
    slopes = [derivative(phi, {channel.symbol: S.One}) for channel in (first, other)]
    if 0 in slopes:
        return None
    factor = collect(slopes[1] / slopes[0], scalars)
    return scalars.tidy(factor * scale) if is_scalar(factor) else None


def _sum(kernels: list[Kernel], scalars: Scalars) -> Kernel:
    """The kernels added up: those of one shape into one, those that cancel left out."""
    parts: list[Kernel] = []
    for kernel in kernels:
        for position, part in enumerate(parts):
            both = part.joined(kernel)
            if both is not None:
                parts[position] = both
                break
        else:
            parts.append(kernel)
    kept = [part for part in (part.tidied(scalars) for part in parts) if part.scale(STEP) != 0]
    if not kept:
        return Instant(factor=S.Zero)
    return kept[0] if len(kept) == 1 else Mixture(tuple(kept))
