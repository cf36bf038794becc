"""Values for the parameters of an optimizer at which numbers tell something, chosen from the declared ranges alone."""

from __future__ import annotations

import math

import mpmath
from sympy import Rational

from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Parameter
from symmem.verification.evaluation import evaluate
from symmem.verification.vectors import Number

MANY = 20
"""A default above this counts steps, or is a ratio of scales: the gentle value is a few."""
FEW = 5
FORGOTTEN = 60
"""A transient of decay^n is gone after so many e-folds: below 1e-26."""
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


def settled_step(optimizer: Optimizer, values: dict[str, Number]) -> int:
    """A step after which decay^n is below 1e-26."""
    decay = longest_decay(optimizer, values)
    delays = max((variable.delay for variable in optimizer.momentum), default=0)
    return MANY + 2 * delays + (math.ceil(FORGOTTEN / -math.log(decay)) if decay > 0 else 0)
