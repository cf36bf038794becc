"""Linear readers of other variables: a memory of a memory is one memory (mathematics.md section 9).

    g_l = rest + a_1 m_1 + ... with scalars a_q, where rest and every g_q are multiples of one vector G:
    m_l = sum_k c(n, k) G(theta_{n-k}),      c = c_l + sum_q a_q (c_l * c_q),      * the composition of kernels

``m1 = grad one step ago, m2 = average of grad - m1`` is the average of a difference of gradients, with one kernel:
nothing is left to read, and all that is known of linear methods holds.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Add, Expr

from symmem.algebra.atoms import STEP, is_constant
from symmem.algebra.directional import slope_in
from symmem.algebra.passes import collect
from symmem.algebra.scalars import Scalars
from symmem.method.composition import Composition
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel
from symmem.method.kernel_sum import kernel_sum
from symmem.method.method import Channel, Method


def flattened(method: Method) -> Method:
    """The method with every linear reader in one memory of its own; what nobody reads then is left out."""
    if not method.is_cascade:
        return method
    channels: list[Channel] = []
    for channel in method.channels:
        channels.append(_in_one_memory(channel, channels, method.numbers))
    kept = _in_use(method.phi, channels)
    return replace(method, channels=kept)


def _in_one_memory(channel: Channel, above: list[Channel], scalars: Scalars) -> Channel:
    """The channel with the kernel that it has in all, where its g is linear in what it reads; else itself."""
    read = [other for other in above if other.symbol in channel.g.free_symbols]
    symbols = {other.symbol for other in above}
    slopes = [slope_in(channel.g, other.symbol) for other in read]
    if not read or not all(is_constant(slope) for slope in slopes):
        return channel
    if any(other.g.free_symbols & symbols for other in read):
        return channel
    parts = [slope * other.symbol for slope, other in zip(slopes, read, strict=True)]
    rest = (channel.g - Add(*parts)).expand()
    if rest.free_symbols & symbols:
        return channel  # a jump, whose slope is zero
    base = rest if rest != 0 else read[0].g
    kernels = [channel.kernel] if rest != 0 else []
    for slope, other in zip(slopes, read, strict=True):
        ratio = collect(other.g / base, scalars)
        # A factor that is no number of the method's field, a root in two spellings, has no exact powers there.
        if not is_constant(ratio) or scalars.field.read(slope * ratio) is None:
            return channel
        kernels.append(composed(channel.kernel, other.kernel).scaled(scalars.tidy(slope * ratio)))
    return replace(channel, g=base, kernel=kernel_sum(kernels, scalars))


def composed(outer: Kernel, inner: Kernel) -> Kernel:
    """The memory ``outer`` of what ``inner`` remembers; one that looks at the present alone is a factor."""
    for present, other in ((inner, outer), (outer, inner)):
        if isinstance(present, Instant) and STEP not in present.factor.free_symbols:
            return other.scaled(present.factor)
    return Composition(outer, inner)


def _in_use(phi: Expr, channels: list[Channel]) -> tuple[Channel, ...]:
    """The channels that Phi or another channel sees, from the last one up."""
    seen = set(phi.free_symbols)
    kept: list[Channel] = []
    for channel in reversed(channels):
        if channel.symbol in seen:
            seen |= channel.g.free_symbols
            kept.insert(0, channel)
    return tuple(kept)
