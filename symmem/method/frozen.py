"""The frozen point: what the channels are on a constant history, one after the other.

    gbar_l(n) = gain_l(n) g_l(theta),      in a cascade  gbar_l(n) = sum_{r=0..n} c_l(n, n-r) g_l(theta, gbar(r))

which is ``gain_l(n) g_l(theta, gbar)`` where the values that g_l reads do not depend on the step.  Else the sum stays,
but for terms that are a scalar of r times a vector: these close where their sums close.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sympy import Add, Expr, Symbol

from symmem.algebra.atoms import STEP, split_scalar, terms_of
from symmem.algebra.passes import collect, distribute
from symmem.algebra.reals import substituted
from symmem.algebra.scalars import Scalars
from symmem.method.kernel import Kernel

if TYPE_CHECKING:
    from symmem.method.method import Channel


def frozen_values(channels: Sequence[Channel], gains: Sequence[Expr], scalars: Scalars) -> dict[Expr, Expr]:
    """The value of each channel by its symbol; at step n, or in the limit with the limits of the gains."""
    point: dict[Expr, Expr] = {}
    depths: dict[Expr, int] = {}
    for gain, channel in zip(gains, channels, strict=True):
        read = channel.g.free_symbols & point.keys()
        seen = collect(substituted(channel.g, point), scalars) if read else channel.g
        if STEP in seen.free_symbols:
            depths[channel.symbol] = 1 + max((depths.get(symbol, 0) for symbol in read), default=0)
            index = Symbol(f"s{depths[channel.symbol]}")
            point[channel.symbol] = _remembered(channel.kernel, seen, index, scalars)
        else:
            point[channel.symbol] = gain * seen
    return point


def _remembered(kernel: Kernel, seen: Expr, index: Symbol, scalars: Scalars) -> Expr:
    """``sum_{r=0..n} c(n, n-r) seen(r)``, term by term."""
    parts, open_ = [], []
    for term in terms_of(distribute(seen)):
        scalar, vector = split_scalar(term)
        if STEP in vector.free_symbols:
            open_.append(term)
        else:
            parts.append(scalars.tidy(_looked(kernel, scalar, index)) * vector)
    if open_:
        parts.append(_looked(kernel, Add(*open_), index))
    return Add(*parts)


def _looked(kernel: Kernel, seen: Expr, index: Symbol) -> Expr:
    return kernel.looked(lambda r: seen.xreplace({STEP: r}), STEP, index)
