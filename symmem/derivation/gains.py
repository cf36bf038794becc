"""Gains: what each channel makes of a constant history, at step n and in the limit.

m_l = gamma_l(n) g_l(theta),      gamma_l(n) = sum_{k=0..n} c_l(n, k)        (mathematics.md section 1)
"""

from __future__ import annotations

from functools import lru_cache

from sympy import Expr

from symmem.algebra.atoms import STEP
from symmem.algebra.passes import collect
from symmem.algebra.reals import substituted
from symmem.algebra.results import Advice, Missing, Sentence, present
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


def unsettled(method: Method) -> Missing | None:
    """Why there is no limit n -> infinity; None where there is one."""
    for position, channel in enumerate(method.channels, start=1):
        missing = channel.kernel.unsettled
        if missing is not None:
            reason = Sentence.of(f"{method.name}: momentum {position}: ", *missing.reason.parts)
            return Missing(reason, (Advice.STEP,))
    return None


def frozen_update(method: Method, values: Gains) -> Expr:
    """``Phi(gamma_1 g_1, ..., gamma_L g_L)``: the update on a constant history."""
    return at_frozen_point(method.phi, method, values)


def is_steady(method: Method) -> bool:
    """Whether ``F^(s) = F`` at every step: no gain depends on it, or the gains cancel, as where Phi has degree 0."""
    return method.is_settled or STEP not in frozen_update(method, gains(method)).free_symbols


def at_frozen_point(expression: Expr, method: Method, values: Gains) -> Expr:
    """An expression in m_1, ..., m_L with ``m_l = gamma_l g_l`` put in; see :mod:`.singular` for its poles."""
    point = {c.symbol: gain * c.g for gain, c in zip(values, method.channels, strict=True)}
    return collect(substituted(expression, point), method.numbers)
