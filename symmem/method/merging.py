"""Channels that Phi sees only together, through one common g, become one channel whose memory is a mixture.

Where ``d_m Phi = c d_l Phi`` with a scalar c and ``g_m = r g_l``, Phi depends on ``m_l + c m_m`` alone.  Nesterov,
Lion and NAdamW have such pairs; merging them leaves fewer trees and no two names for one derivative.

    m_l + c m_m + ... = sum_k ( c_l(n, k) + c r c_m(n, k) + ... ) g_l(theta_{n-k})

Where the kernels are multiples of each other instead, ``c_m = w c_l``, the g's add up: ``g_l + c w g_m`` in one memory.

In a cascade a channel that another reads stays as it is.  Channels that are multiples of each other are one in any
Phi: see :mod:`.doubles`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from sympy import Expr, S, Symbol, sign

from symmem.algebra.atoms import STEP, is_constant
from symmem.algebra.directional import slope_in
from symmem.algebra.passes import collect, distribute
from symmem.algebra.rational import quotient
from symmem.algebra.scalars import Scalars
from symmem.method.doubles import proportion, without_doubles
from symmem.method.flattening import flattened
from symmem.method.kernel_sum import kernel_sum
from symmem.method.method import Channel, Method

Held = Mapping[Symbol, Expr]
"""What the channels hold, in the momentum variables as they were declared."""


def merged(method: Method) -> Method:
    """The method with as few channels as Phi tells apart.

    >>> from symmem import load
    >>> from symmem.method.reading import method_of
    >>> nesterov = method_of(load("nesterov"))
    >>> nesterov.phi, merged(nesterov).phi
    (m1 + m2, m1)
    >>> [part.decay for part in merged(nesterov).channels[0].kernel.summands if part.has_memory]
    [beta]
    """
    return _merged(method)[0]


def held(method: Method) -> Held:
    """What each channel of the merged method is: ``m1 + c m2`` where ``Phi = f(m1 + c m2)``, by the name m1."""
    return _merged(method)[1]


@lru_cache(maxsize=256)
def _merged(method: Method) -> tuple[Method, Held]:
    one = flattened(method)
    declared = {channel.symbol: channel.symbol for channel in one.channels}
    together, values = _together(without_doubles(one) if one.is_cascade else one, declared)
    # A double that Phi sees in a sum goes into the sum, with the rest of it; what is left may make new sums.
    single = without_doubles(together)
    return (together, values) if single is together else _together(single, values)


def _together(method: Method, values: Held) -> tuple[Method, Held]:
    """The method with one channel for those that Phi sees only together, and what its channels hold."""
    found = dict(values)
    phi = method.phi
    read = {place for channel in method.channels for place in method.read_by(channel)}
    free = [channel for place, channel in enumerate(method.channels) if place not in read]
    channels = [channel for place, channel in enumerate(method.channels) if place in read]
    while free:
        first, *rest = free
        joined, others = _joined(phi, first, rest, method.numbers)
        channels.append(joined)
        for other, factor in others:
            phi = phi.xreplace({other.symbol: S.Zero})
            if kernel_sum([other.kernel], method.numbers).scale(STEP) != 0:
                found[first.symbol] += factor * values[other.symbol]
        gone = [other for other, _ in others]
        free = [channel for channel in rest if channel not in gone]
    if len(channels) == len(method.channels):
        return method, values
    return replace(method, phi=phi, channels=tuple(channels)), found


def _joined(
    phi: Expr, first: Channel, rest: Sequence[Channel], numbers: Scalars
) -> tuple[Channel, list[tuple[Channel, Expr]]]:
    """The first channel with all that Phi sees only together with it, and which of the rest these are, with their c.

    Those with a multiple of its g bring their kernel, those with a multiple of its kernel bring their g.
    """
    kernels, g, others, below = [first.kernel], first.g, list[tuple[Channel, Expr]](), S.One
    for other in rest:
        factor = _factor(phi, first, other, numbers)
        if factor is None:
            continue
        scale = _share(factor, other.g, first.g, numbers)
        weight = proportion(first.kernel, other.kernel, numbers)
        if scale is not None:
            kernels.append(other.kernel.scaled(scale))
        elif weight is not None:
            g = g + factor * weight * other.g
            below = _below(factor * weight * below, numbers) * below
        else:
            continue
        others.append((other, factor))
    g = g if g == first.g else collect(distribute(below * g), numbers)
    kernels = kernels if below == 1 else [kernel.scaled(1 / below) for kernel in kernels]
    return replace(first, g=g, kernel=kernel_sum(kernels, numbers)), others


def _factor(phi: Expr, first: Channel, other: Channel, scalars: Scalars) -> Expr | None:
    """The scalar c with ``Phi = f(m_first + c m_other, ...)``; else None.

    The slopes tell, but for functions that jump: a sign has the slope zero and depends on its argument all the same.
    """
    slopes = [slope_in(phi, channel.symbol) for channel in (first, other)]
    if 0 in slopes or first.g.is_Number:
        return None
    factor = collect(slopes[1] / slopes[0], scalars)
    seen = {symbol for jump in phi.atoms(sign) for symbol in jump.free_symbols}
    return factor if is_constant(factor) and not seen & {first.symbol, other.symbol} else None


def _share(factor: Expr, above: Expr, below: Expr, scalars: Scalars) -> Expr | None:
    """``factor above / below`` where it is a number of the method's field, in which kernels compute."""
    ratio = collect(above / below, scalars)
    share = scalars.tidy(factor * ratio) if is_constant(ratio) else None
    return share if share is not None and scalars.field.read(share) is not None else None


def _below(ratio: Expr, scalars: Scalars) -> Expr:
    """What a ratio divides by, where a parameter stands in it that may make it 0: the kernel is divided by it instead.

    ``theta + grad/c`` with the factor c before the memory is ``c theta + grad``, also where c is 0.
    """
    element = scalars.field.read(ratio)
    if element is None or element.denominator.is_constant():
        return S.One
    below = scalars.write(quotient(element.denominator, scalars.field.number(1).numerator))
    if below.free_symbols <= scalars.decays:
        return S.One
    return -below if below.could_extract_minus_sign() else below
