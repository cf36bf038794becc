"""Channels: momentum variables that Phi sees only together, through one common g.

Where ``d_m Phi = c d_l Phi`` with a scalar c and ``g_m = r g_l``, Phi depends on ``m_l + c m_m`` alone: one
channel whose memory is a mixture.  Nesterov, Lion and NAdamW have such pairs; merging them leaves fewer trees
and no two names for one derivative.

    m_l + c m_m + ... = gain * sum_k p(k) g(theta_{n-k}),      p(k) = sum_i weight_i (1 - beta_i) beta_i^k,
    sum_i weight_i = 1                                                            (limit n -> infinity)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sympy import Add, Expr, Mul, S, Symbol

from symmem.algebra.atoms import is_scalar, momentum_symbol
from symmem.algebra.directional import derivative
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.gains import limit_gains
from symmem.derivation.passes import collect
from symmem.derivation.scalars import Scalars, scalars_of


@dataclass(frozen=True)
class Channel:
    """One vector that Phi sees: its symbol, ``gain * g`` on a constant history, and its mixture of decays."""

    symbol: Symbol
    g: Expr
    gain: Expr
    weights: tuple[tuple[Expr, Expr], ...]
    """Pairs (weight, beta); the weights add up to 1."""
    members: tuple[tuple[int, Expr], ...]
    """Pairs (position of a momentum variable, its factor): the channel is the sum of factor * m over common g."""


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
        total = scalars.tidy(Add(*(part for part, _ in parts)))
        if len(members) > 1 and total != 0:
            for other, _, _ in members[1:]:
                free.remove(other)
                phi = phi.xreplace({momentum_symbol(other + 1): S.Zero})
            weights = tuple((scalars.tidy(part / total), beta) for part, beta in parts)
            gain = total
        else:
            weights, gain = ((S.One, gains[first].beta),), gains[first].value
            members = members[:1]
        positions = tuple((member, scalars.tidy(factor * scale)) for member, factor, scale in members)
        symbol, g = momentum_symbol(first + 1), optimizer.momentum[first].g
        found.append(Channel(symbol, g, gain, _merged(weights, scalars), positions))
    return Channels(phi, tuple(found))


def _ratio(
    phi: Expr, optimizer: Optimizer, first: int, other: int, scalars: Scalars
) -> tuple[Expr, Expr] | None:
    """``(c, r)`` with ``d_other Phi = c d_first Phi`` and ``g_other = r g_first``, both scalars; else None."""
    scale = collect(optimizer.momentum[other].g / optimizer.momentum[first].g, scalars)
    if not is_scalar(scale) or optimizer.momentum[first].g.is_Number:
        return None
    slopes = [derivative(phi, {momentum_symbol(index + 1): S.One}) for index in (first, other)]
    if any(not slope.is_commutative or slope == 0 for slope in slopes):
        return None
    factor = collect(slopes[1] / slopes[0], scalars)
    return (factor, scale) if is_scalar(factor) else None


def _merged(weights: tuple[tuple[Expr, Expr], ...], scalars: Scalars) -> tuple[tuple[Expr, Expr], ...]:
    """Equal decays added up; weights of zero left out."""
    by_beta: dict[Expr, list[Expr]] = {}
    for weight, beta in weights:
        by_beta.setdefault(beta, []).append(weight)
    added = {beta: scalars.tidy(Add(*parts)) for beta, parts in by_beta.items()}
    return tuple((weight, beta) for beta, weight in added.items() if weight != 0)


def is_linear(channels: Channels) -> bool:
    """Whether Phi is linear in its channels."""
    symbols = [channel.symbol for channel in channels.channels]
    slopes = [derivative(channels.phi, {symbol: S.One}) for symbol in symbols]
    constant = channels.phi.xreplace(dict.fromkeys(symbols, S.Zero)) == 0
    return constant and all(is_scalar(slope) and isinstance(Mul(slope), Expr) for slope in slopes)
