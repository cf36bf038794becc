"""Channels: momentum variables that Phi sees only together, through one common g.

Where ``d_m Phi = c d_l Phi`` with a scalar c and ``g_m = r g_l``, Phi depends on ``m_l + c m_m`` alone: one
channel whose memory is a mixture.  Nesterov, Lion and NAdamW have such pairs; merging them leaves fewer trees
and no two names for one derivative.

    m_l + c m_m + ... = sum_i gain_i sum_k (1 - beta_i) beta_i^k g(theta_{n-k})        (limit n -> infinity)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sympy import Add, Expr, S, Symbol

from symmem.algebra.atoms import is_scalar, momentum_symbol
from symmem.algebra.directional import derivative
from symmem.algebra.passes import collect
from symmem.algebra.scalars import Scalars
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.gains import limit_gains
from symmem.method.numbers import scalars_of


@dataclass(frozen=True)
class Channel:
    """One vector that Phi sees: ``gain * g`` on a constant history, gain the sum of the gains of its parts.

    ``scale * sum_i weight_i (mean of g over the decay beta_i)`` is what it remembers.  A single part has the scale
    gain and the weight 1, which leaves integers to the recursion; a mixture has the scale 1 and its gains as weights,
    which leaves them without a common denominator.
    """

    symbol: Symbol
    g: Expr
    parts: tuple[tuple[Expr, Expr], ...]
    """Pairs (gain, beta)."""
    members: tuple[tuple[int, Expr], ...]
    """Pairs (position of a momentum variable, its factor): the channel is the sum of factor * m."""

    @property
    def gain(self) -> Expr:
        return Add(*(gain for gain, _ in self.parts))

    @property
    def scale(self) -> Expr:
        return self.gain if len(self.parts) == 1 else S.One

    @property
    def weights(self) -> tuple[tuple[Expr, Expr], ...]:
        """Pairs (weight, beta)."""
        return ((S.One, self.parts[0][1]),) if len(self.parts) == 1 else self.parts


@dataclass(frozen=True)
class Channels:
    """Phi as a function of its channels."""

    phi: Expr
    channels: tuple[Channel, ...]


@lru_cache(maxsize=256)
def channels_of(optimizer: Optimizer) -> Channels:
    """The optimizer's channels in the limit n -> infinity."""
    scalars = scalars_of(optimizer)
    phi = optimizer.phi
    gains = limit_gains(optimizer)
    free = list(range(len(optimizer.momentum)))
    found = []
    while free:
        first = free.pop(0)
        members = [(first, S.One, S.One)]
        for other in list(free):
            ratio = _ratio(phi, optimizer, first, other, scalars)
            if ratio is not None:
                members.append((other, *ratio))
        parts = [
            (scalars.tidy(factor * scale * gains[member].value), gains[member].beta)
            for member, factor, scale in members
        ]
        for other, _, _ in members[1:]:
            free.remove(other)
            phi = phi.xreplace({momentum_symbol(other + 1): S.Zero})
        positions = tuple((member, scalars.tidy(factor * scale)) for member, factor, scale in members)
        symbol, g = momentum_symbol(first + 1), optimizer.momentum[first].g
        found.append(Channel(symbol, g, _merged(parts, scalars), positions))
    return Channels(phi, tuple(found))


def _ratio(
    phi: Expr, optimizer: Optimizer, first: int, other: int, scalars: Scalars
) -> tuple[Expr, Expr] | None:
    """``(c, r)`` with ``d_other Phi = c d_first Phi`` and ``g_other = r g_first``, both scalars; else None."""
    scale = collect(optimizer.momentum[other].g / optimizer.momentum[first].g, scalars)
    if not is_scalar(scale) or optimizer.momentum[first].g.is_Number:
        return None
    slopes = [derivative(phi, {momentum_symbol(index + 1): S.One}) for index in (first, other)]
    if 0 in slopes:
        return None
    factor = collect(slopes[1] / slopes[0], scalars)
    return (factor, scale) if is_scalar(factor) else None


def _merged(parts: list[tuple[Expr, Expr]], scalars: Scalars) -> tuple[tuple[Expr, Expr], ...]:
    """Equal decays added up; gains of zero left out."""
    by_beta: dict[Expr, list[Expr]] = {}
    for gain, beta in parts:
        by_beta.setdefault(beta, []).append(gain)
    added = {beta: scalars.tidy(Add(*gains)) for beta, gains in by_beta.items()}
    return tuple((gain, beta) for beta, gain in added.items() if gain != 0) or ((S.Zero, S.Zero),)


def is_linear(channels: Channels) -> bool:
    """Whether Phi is linear in its channels."""
    symbols = [channel.symbol for channel in channels.channels]
    slopes = [derivative(channels.phi, {symbol: S.One}) for symbol in symbols]
    constant = channels.phi.xreplace(dict.fromkeys(symbols, S.Zero)) == 0
    return constant and all(is_scalar(slope) for slope in slopes)
