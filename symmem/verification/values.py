"""Values for the parameters of an optimizer at which numbers tell something, chosen from the declared ranges alone."""

from __future__ import annotations

import math

import mpmath
from sympy import Expr, Rational

from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Parameter
from symmem.verification.evaluation import evaluate
from symmem.verification.vectors import Number

MANY = 20
"""A default above this counts steps, or is a ratio of scales: the gentle value is a few."""
FEW = 5
FORGOTTEN = 60
"""A transient of decay^n is gone after so many e-folds: below 1e-26."""
NEAR = mpmath.mpf(10) ** -26
LATEST = 700
STEP_NAME = "n"
SMALL = Rational(1, 50)


def felt_values(optimizer: Optimizer) -> dict[str, Rational]:
    """Values at which every parameter is felt: decays away from 0 and 1, small numbers not small, none zero.

    A default of 0 or of 1e-8 would hide what the parameter does.
    """
    return {
        parameter.name: _inside(parameter, Rational(7, 10) + Rational(position, 50), SMALL)
        for position, parameter in enumerate(optimizer.parameters)
    }


def gentle_values(optimizer: Optimizer) -> dict[str, Rational]:
    """Values at which the theory's regime is reached with few steps: short memory, smooth functions."""
    return {
        parameter.name: _inside(parameter, Rational(3, 10) + Rational(position, 50), Rational(1, 2), FEW)
        for position, parameter in enumerate(optimizer.parameters)
    }


def _inside(parameter: Parameter, share: Rational, least: Rational, few: int | None = None) -> Rational:
    """A share of a bounded range; beside an unbounded one the default, but not smaller than ``least``."""
    interval, default = parameter.range, parameter.default
    value = default
    if interval.lower.is_finite and interval.upper.is_finite:
        value = interval.lower + share * (interval.upper - interval.lower)
    elif abs(default) < least:
        value = least
    elif few is not None and default > MANY and interval.lower.is_finite:
        value = interval.lower + few
    return value if interval.contains(value) else default


def longest_decay(optimizer: Optimizer, values: dict[str, Number]) -> float:
    """The largest decay in absolute value: how long the memory is."""
    decays = [abs(evaluate(variable.beta, values, {}, digits=15)) for variable in optimizer.momentum]
    return float(max(decays, default=mpmath.mpf(0)))


def longest_delay(optimizer: Optimizer) -> int:
    """Steps from a gradient to the last update that sees it by delays: those of a chain, m2 of m1, add up."""
    reach: dict[str, int] = {}
    for position, variable in enumerate(optimizer.momentum, 1):
        read = (reach.get(symbol.name, 0) for symbol in variable.g.free_symbols)
        reach[f"m{position}"] = variable.delay + max(read, default=0)
    return max(reach.values(), default=0)


def settled_step(optimizer: Optimizer, values: dict[str, Number]) -> int | None:
    """A step at which nothing is left of the start: every factor b(n) and the rate have come within 1e-26 of their
    limits, and then decay^n has fallen below 1e-26 too, for memory holds the steps in which they moved.

    None where that takes more than LATEST steps, as for a rate that falls like a power of n.
    """
    decay = longest_decay(optimizer, values)
    fading = (
        MANY + 2 * longest_delay(optimizer) + (math.ceil(FORGOTTEN / -math.log(decay)) if decay > 0 else 0)
    )
    if not moves_by_itself(optimizer):
        return fading
    calm = MANY
    while calm <= LATEST:
        if _are_settled(optimizer, values, calm):
            return calm + fading
        calm *= 2
    return None


def moves_by_itself(optimizer: Optimizer) -> bool:
    """Whether a factor b(n) or the rate depends on the step."""
    return bool(_moving(optimizer))


def _moving(optimizer: Optimizer) -> list[Expr]:
    """What depends on the step by itself."""
    parts = [variable.b for variable in optimizer.momentum]
    parts += [] if optimizer.schedule is None else [optimizer.schedule]
    return [part for part in parts if STEP_NAME in {symbol.name for symbol in part.free_symbols}]


def _are_settled(optimizer: Optimizer, values: dict[str, Number], step: int) -> bool:
    """Whether nothing moves any more between this step and twice as many."""
    for part in _moving(optimizer):
        now, later = (evaluate(part, {**values, "n": at}, {}, digits=40) for at in (step, 2 * step))
        if abs(now - later) > NEAR * (1 + abs(later)):
            return False
    return True
