"""The steps of the proof of the first-order correction, as formulas: what :mod:`.correction` does, held still.

frozen update    F^(n) = Phi(gamma_1 g_1, ..., gamma_L g_L)
sensitivity      dF^(n)/dtheta_{n-k} [v] = sum_l beta_l^k b_l d_l Phi[Dg_l[v]]                     k = 1, ..., n
histories        S_l = sum_{k=1..n} beta_l^k sum_{s=n-k..n-1} F^(s), one for each decay
assembled        M^(n) / h = sum_l b_l d_l Phi[Dg_l[S_l]]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Add, Expr, Mul, S, Symbol

from symmem.algebra.atoms import AGO, momentum_symbol
from symmem.algebra.passes import collect
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.correction import contributions
from symmem.derivation.gains import Gain, gains
from symmem.derivation.history import past_sum
from symmem.method.numbers import scalars_of


@dataclass(frozen=True)
class History:
    """``S``, written by a symbol of its own, for the momentum variables with one decay."""

    symbol: Symbol
    beta: Expr
    members: tuple[int, ...]
    """The positions of the momentum variables, from 1."""
    value: Expr
    """The sum over the past: closed, or with the finite sums that stay."""


@dataclass(frozen=True)
class Steps:
    gains: tuple[Gain, ...]
    direction: Symbol
    """The symbol of the vector v; to the algebra it is a constant vector."""
    sensitivity: Expr
    histories: tuple[History, ...]
    assembled: Expr


def steps(optimizer: Optimizer) -> Steps:
    """The steps for symbolic n; a variable without memory takes no part after the first."""
    now = gains(optimizer)
    free = len(now) + 1
    direction = momentum_symbol(free)
    by_beta: dict[Expr, list[int]] = {}
    for position, gain in enumerate(now, start=1):
        if gain.has_memory:
            by_beta.setdefault(gain.beta, []).append(position)
    histories = tuple(
        History(
            momentum_symbol(free + number), beta, tuple(members), past_sum(optimizer, now[members[0] - 1])
        )
        for number, (beta, members) in enumerate(by_beta.items(), start=1)
    )
    slopes = [(history, _slope(optimizer, history.members)) for history in histories]
    return Steps(
        now,
        direction,
        Add(*(_decayed(slope(direction), history.beta) for history, slope in slopes)),
        histories,
        Add(*(slope(history.symbol) for history, slope in slopes)),
    )


def _slope(optimizer: Optimizer, members: tuple[int, ...]) -> Callable[[Expr], Expr]:
    """``v -> sum of b_l d_l Phi[Dg_l[v]]`` over the members, at the frozen point."""

    def slope(vector: Expr) -> Expr:
        moved = [
            vector if position in members else S.Zero for position in range(1, len(optimizer.momentum) + 1)
        ]
        parts = contributions(optimizer, gains(optimizer), tuple(moved))
        return collect(Add(*parts), scalars_of(optimizer))

    return slope


def _decayed(expression: Expr, beta: Expr) -> Expr:
    """``beta^k expression``; a power of beta in front joins in: ``beta^(k-1)``, as the paper writes Lion."""
    powers = [factor.as_base_exp() for factor in Mul.make_args(expression)]
    exponent = Add(AGO, *(power for base, power in powers if base == beta))
    return Mul(beta**exponent, *(base**power for base, power in powers if base != beta))
