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
MOST_RESTLESS = 64
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
    """A step after which decay^n is below 1e-26, and every factor b(n) and the rate are as near to their limits.

    None where that takes more than LATEST steps, as for a rate that falls like a power of n.
    """
    decay = longest_decay(optimizer, values)
    step = MANY + 2 * longest_delay(optimizer) + (math.ceil(FORGOTTEN / -math.log(decay)) if decay > 0 else 0)
    while step <= max(LATEST, 2 * MANY):
        if _are_settled(optimizer, values, step, NEAR):
            return step
        step *= 2
    return step if not _moving(optimizer) else None


def first_calm_step(optimizer: Optimizer, values: dict[str, Number]) -> int:
    """A step after which no factor b(n) and no rate changes by more than a tenth; at most MOST_RESTLESS."""
    restless, step = 1, 1
    while step < MOST_RESTLESS:
        if not _are_settled(optimizer, values, step, mpmath.mpf(1) / 10):
            restless = 2 * step
        step *= 2
    return restless


def _moving(optimizer: Optimizer) -> list[Expr]:
    """What depends on the step by itself."""
    parts = [variable.b for variable in optimizer.momentum]
    parts += [] if optimizer.schedule is None else [optimizer.schedule]
    return [part for part in parts if STEP_NAME in {symbol.name for symbol in part.free_symbols}]


def _are_settled(optimizer: Optimizer, values: dict[str, Number], step: int, near: mpmath.mpf) -> bool:
    """Whether nothing moves any more between this step and twice as many."""
    for part in _moving(optimizer):
        now, later = (evaluate(part, {**values, "n": at}, {}, digits=40) for at in (step, 2 * step))
        if abs(now - later) > near * (1 + abs(later)):
            return False
    return True
