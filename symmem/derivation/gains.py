"""Gains: what each momentum variable makes of a constant history, at step n and in the limit.

gamma_l(n) = b_l^(n+1) (1 - beta_l^(n+1)) / (1 - beta_l),      m_l = gamma_l(n) g_l(theta)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sympy import Add, Expr, Mul, Pow, S, Symbol, nan, oo, zoo

from symmem.algebra.atoms import STEP, momentum_symbol
from symmem.algebra.passes import collect
from symmem.algebra.reals import substituted
from symmem.algebra.scalars import Scalars
from symmem.algebra.sums import NoLimitError
from symmem.declaration.optimizer import Optimizer
from symmem.errors import DerivationError
from symmem.method.numbers import scalars_of


@dataclass(frozen=True)
class Gain:
    """One momentum variable's scalars: decay ``beta``, factor ``b`` and gain ``value``, in n or in the limit."""

    beta: Expr
    b: Expr
    value: Expr

    @property
    def has_memory(self) -> bool:
        return bool(self.beta != 0)

    @property
    def is_constant(self) -> bool:
        return STEP not in self.value.free_symbols


@lru_cache(maxsize=256)
def gains(optimizer: Optimizer) -> tuple[Gain, ...]:
    """The gains at step n; ``0^0 = 1``, so that a variable without memory has the gain b."""
    scalars = scalars_of(optimizer)
    found = []
    for variable in optimizer.momentum:
        b = scalars.tidy(variable.b)
        decay = S.One if variable.beta == 0 else (1 - variable.beta ** (STEP + 1)) / (1 - variable.beta)
        found.append(Gain(variable.beta, b, scalars.tidy(variable.b * decay)))
    return tuple(found)


@lru_cache(maxsize=256)
def limit_gains(optimizer: Optimizer) -> tuple[Gain, ...]:
    """``b_l -> b_l(infinity)`` and ``gamma_l -> b_l / (1 - beta_l)`` for n -> infinity."""
    scalars = scalars_of(optimizer)
    found = []
    for position, variable in enumerate(optimizer.momentum, start=1):
        try:
            b = scalar_limit(variable.b, scalars)
        except NoLimitError as reason:
            raise DerivationError(
                f"{optimizer.name}: momentum {position}: b = {variable.b} has no known limit for n -> infinity "
                f"({reason}); ask for a finite step instead (--at-step N)"
            ) from None
        found.append(Gain(variable.beta, b, scalars.tidy(b / (1 - variable.beta))))
    return tuple(found)


def frozen_update(optimizer: Optimizer, values: tuple[Gain, ...]) -> Expr:
    """``Phi(gamma_1 g_1, ..., gamma_L g_L)``: the update on a constant history."""
    return at_frozen_point(optimizer.phi, optimizer, values)


def at_frozen_point(expression: Expr, optimizer: Optimizer, values: tuple[Gain, ...]) -> Expr:
    """An expression in m_1, ..., m_L with ``m_l = gamma_l g_l`` put in."""
    point = {
        momentum_symbol(position): gain.value * variable.g
        for position, (gain, variable) in enumerate(zip(values, optimizer.momentum, strict=True), start=1)
    }
    result = collect(substituted(expression, point), scalars_of(optimizer))
    if result.has(nan, zoo, oo):
        raise DerivationError(
            f"{optimizer.name}: Phi = {optimizer.phi} is singular where the history is constant; "
            "keep its denominators away from zero, e.g. with an eps"
        )
    return result


def scalar_limit(scalar: Expr, scalars: Scalars) -> Expr:
    """The limit n -> infinity of a scalar, by the field or by the continuity of its parts."""
    element = scalars.field.read(scalar)
    if element is not None:
        return scalars.write(scalars.limit(element))
    value = _limit_by_parts(scalar, scalars)
    if value.has(nan, zoo, oo):
        raise NoLimitError("it grows without bound, or its parts do")
    return scalars.tidy(value)


def _limit_by_parts(scalar: Expr, scalars: Scalars) -> Expr:
    """The value at the limits of the parts; infinities are kept for the caller to judge."""
    if scalar == STEP:
        return oo
    if STEP not in scalar.free_symbols:
        return scalar
    element = scalars.field.read(scalar)
    if element is not None:
        try:
            return scalars.write(scalars.limit(element))
        except NoLimitError:
            pass
    parts = [_limit_by_parts(part, scalars) for part in scalar.args]
    if isinstance(scalar, Pow) and parts[1] == oo and parts[0] in scalars.vanishing:
        return S.Zero
    if isinstance(scalar, (Add, Mul, Pow)) or not any(
        isinstance(part, Symbol) and part == STEP for part in parts
    ):
        value: Expr = scalar.func(*parts)
        return value
    raise NoLimitError(f"{scalar} has no known limit")
