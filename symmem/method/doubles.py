"""Channels that are multiples of each other at every step become one channel, whatever Phi is.

Where ``g_m = r g_l`` and ``c_m(n, k) = w c_l(n, k)`` with numbers r and w, ``m_m = r w m_l``: one memory by two names.
``m1/sqrt(m2**2 + eps)`` with equal m1 and m2 is soft sign, a gradient map of one memory.

What stays is the variable of which the other is a multiple in all the ranges: with ``b = c`` and ``b = 1``, where c may
be 0, the first is c times the second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations

from sympy import Expr

from symmem.algebra.atoms import STEP, is_constant
from symmem.algebra.passes import collect
from symmem.algebra.ranges import bounds
from symmem.algebra.reals import substituted
from symmem.algebra.scalars import Scalars
from symmem.method.kernel import Kernel
from symmem.method.method import Channel, Method


def without_doubles(method: Method) -> Method:
    """The method with one name for what is one memory."""
    for first, other in combinations(method.channels, 2):
        factor = _factor(first, other, method.numbers)
        if factor is None:
            continue
        for kept, name, value in ((first, other.symbol, factor), (other, first.symbol, 1 / factor)):
            tidy = method.numbers.tidy(value)
            if _is_finite(tidy, method):
                return without_doubles(_renamed(method, kept, name, tidy * kept.symbol))
    return method


def proportion(first: Kernel, other: Kernel, scalars: Scalars) -> Expr | None:
    """``c_other(n, k) / c_first(n, k)`` where it is one number for all n and k; else None."""
    below, above = _by_shape(first.summands), _by_shape(other.summands)
    if below is None or above is None or below.keys() != above.keys():
        return None
    ratios = {scalars.tidy(above[shape] / below[shape]) for shape in below}
    ratio = ratios.pop()
    return ratio if not ratios and STEP not in ratio.free_symbols else None


def _by_shape(kernels: Iterable[Kernel]) -> dict[Kernel, Expr] | None:
    """The factor before every shape; None where one is 0 or two have one shape."""
    listed = list(kernels)
    found = {kernel.shape: kernel.scale(STEP) for kernel in listed}
    return found if len(found) == len(listed) and 0 not in found.values() else None


def _factor(first: Channel, other: Channel, scalars: Scalars) -> Expr | None:
    """``m_other / m_first`` where it is a number of the method's field; None where it is not known to be one."""
    if 0 in (first.g, other.g):
        return None
    weight = proportion(first.kernel, other.kernel, scalars)
    ratio = None if weight is None else collect(other.g / first.g, scalars)
    if weight is None or ratio is None or not is_constant(ratio):
        return None
    factor = weight * ratio
    return None if scalars.field.read(factor) is None else factor


def _is_finite(factor: Expr, method: Method) -> bool:
    """Whether nothing that it divides by is 0 in the ranges of the parameters."""
    return bounds(factor.as_numer_denom()[1], method.ranges).excludes_zero


def _renamed(method: Method, kept: Channel, name: Expr, value: Expr) -> Method:
    """The method without the channel of this name, which is this multiple of ``kept``."""
    values: dict[Expr, Expr] = {name: value}
    first = min(place for place, each in enumerate(method.channels) if each.symbol in (kept.symbol, name))
    channels = []
    for place, channel in enumerate(method.channels):
        if place == first:
            channels.append(kept)
        elif channel.symbol not in (kept.symbol, name):
            channels.append(replace(channel, g=substituted(channel.g, values)))
    return replace(method, phi=substituted(method.phi, values), channels=tuple(channels))
