"""The optimizer with its memory, as it runs: one running sum for each momentum variable that remembers.

    x_l <- beta_l x_l + unit_l g_l(theta, grad),      m_l = share_l(n) x_l,      unit_l share_l(n) = b_l^(n+1)

``unit_l = 1 - beta_l`` where b_l, after many steps, vanishes with ``1 - beta_l``: x_l is then a moving average, else
a plain sum.  This is how PyTorch keeps them.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, S, Symbol

from symmem.algebra.atoms import GRAD, STEP, THETA, momentum_symbol
from symmem.algebra.reals import substituted
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Momentum
from symmem.derivation.derivation import Derivation
from symmem.derivation.gains import gains, limit_gains, scalar_limit
from symmem.derivation.parameter_groups import StepScalar, free_name
from symmem.errors import DerivationError
from symmem.method.numbers import scalars_of


@dataclass(frozen=True)
class RunningSum:
    """``x <- decay x + unit g`` for the momentum variable with this position; ``value`` stands for x."""

    position: int
    value: Symbol
    decay: Expr
    unit: Expr
    g: Expr


@dataclass(frozen=True)
class RunningForm:
    """``theta <- theta - lr update``; the update is a function of theta, grad, the sums and the ``scalars``."""

    sums: tuple[RunningSum, ...]
    update: Expr
    scalars: tuple[StepScalar, ...]


def running_form(optimizer: Optimizer) -> RunningForm:
    """The optimizer as it runs."""
    field = scalars_of(optimizer)
    sums: list[RunningSum] = []
    scalars: list[StepScalar] = []
    point: dict[Expr, Expr] = {}
    limits = _limits(optimizer)

    def named(stem: str, at_step: Expr) -> Expr:
        if STEP not in at_step.free_symbols:
            return at_step
        limit = None if limits is None else scalar_limit(at_step, field)
        scalars.append(StepScalar(free_name(stem, optimizer), at_step, limit))
        return scalars[-1].name

    for position, (variable, gain) in enumerate(
        zip(optimizer.momentum, gains(optimizer), strict=True), start=1
    ):
        if not remembers(variable):
            point[momentum_symbol(position)] = named(f"gain{position}", gain.value) * variable.g
            continue
        unit = _unit(variable, None if limits is None else limits[position - 1])
        value = free_name(f"x{position}", optimizer)
        share = named(f"share{position}", field.tidy(gain.b / unit))
        sums.append(RunningSum(position, value, variable.beta, unit, variable.g))
        point[momentum_symbol(position)] = share * value
    return RunningForm(tuple(sums), substituted(optimizer.phi, point), tuple(scalars))


def remembers(variable: Momentum) -> bool:
    """Whether the variable has a decay, and something that moves to remember."""
    return bool(variable.beta != 0 and variable.g.has(THETA, GRAD))


def frozen_parameters(derivation: Derivation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parameters on which F^(n) depends, and those on which its limit depends."""

    def used(update: Expr) -> tuple[str, ...]:
        names = {symbol.name for symbol in update.free_symbols}
        return tuple(p.name for p in derivation.optimizer.parameters if p.name in names)

    try:
        return used(derivation.F), used(derivation.limit.F)
    except DerivationError:
        return used(derivation.F), used(derivation.F)


def _limits(optimizer: Optimizer) -> tuple[Expr, ...] | None:
    try:
        return tuple(gain.b for gain in limit_gains(optimizer))
    except DerivationError:
        return None


def _unit(variable: Momentum, b: Expr | None) -> Expr:
    average = 1 - variable.beta
    if b is None:
        return S.One
    if isinstance(variable.beta, Symbol):
        return average if b.xreplace({variable.beta: S.One}) == 0 else S.One
    return average if b == average else S.One
