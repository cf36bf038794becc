"""Gains: what each channel makes of a constant history, at step n and in the limit.

m_l = gamma_l(n) g_l(theta),      gamma_l(n) = sum_{k=0..n} c_l(n, k)        (mathematics.md section 1)
"""

from __future__ import annotations

from functools import lru_cache

from sympy import Expr, S

from symmem.algebra.atoms import STEP
from symmem.algebra.passes import collect
from symmem.algebra.reals import substituted
from symmem.algebra.results import Advice, Missing, Sentence, Whose, present
from symmem.method.frozen import frozen_values
from symmem.method.method import Method

Gains = tuple[Expr, ...]
"""One for each channel."""


@lru_cache(maxsize=256)
def gains(method: Method) -> Gains:
    """``gamma_l(n)``."""
    return tuple(method.numbers.tidy(channel.kernel.gain(STEP)) for channel in method.channels)


@lru_cache(maxsize=256)
def scales(method: Method) -> Gains:
    """The factors in front of what the kernels remember at step n."""
    return tuple(method.numbers.tidy(channel.kernel.remembered.scale(STEP)) for channel in method.channels)


@lru_cache(maxsize=256)
def limit_gains(method: Method) -> Gains:
    """``gamma_l`` for n -> infinity."""
    missing = unsettled(method)
    if missing is not None:
        present(missing)
    return tuple(method.numbers.tidy(channel.kernel.limit_gain) for channel in method.channels)


def settled_rate(method: Method) -> Expr:
    """The limit of the rate, asked where it exists; 1 where there is no schedule."""
    return S.One if method.rate is None else present(method.rate.settled)


def unsettled(method: Method) -> Missing | None:
    """Why there is no limit n -> infinity; None where there is one."""
    for position, channel in enumerate(method.channels, start=1):
        missing = channel.kernel.unsettled
        if missing is not None:
            reason = Sentence.of(Whose(method.name), f"momentum {position}: ", *missing.reason.parts)
            return Missing(reason, (Advice.STEP,))
    return None


def frozen_update(method: Method, values: Gains) -> Expr:
    """``Phi(gamma_1 g_1, ..., gamma_L g_L)``: the update on a constant history."""
    return at_frozen_point(method.phi, method, values)


def is_steady(method: Method) -> bool:
    """Whether ``F^(s) = F`` at every step: no gain depends on it, or the gains cancel, as where Phi has degree 0."""
    return method.is_settled or STEP not in frozen_update(method, gains(method)).free_symbols


def is_steady_step(method: Method) -> bool:
    """Whether every step on a constant history is the same: F is, and so is the rate."""
    return is_steady(method) and (method.rate is None or method.rate.is_constant)


def at_frozen_point(expression: Expr, method: Method, values: Gains) -> Expr:
    """An expression in m_1, ..., m_L with ``m_l = gamma_l g_l`` put in; its poles: :mod:`.conditions.singular`."""
    return collect(substituted(expression, frozen_point(method, values)), method.numbers)


def frozen_point(method: Method, values: Gains) -> dict[Expr, Expr]:
    """``m_l = gamma_l g_l`` by its symbol; in a cascade as :mod:`symmem.method.frozen` says."""
    return frozen_values(method.channels, values, method.numbers)
