"""Orders of error: how fast an approximation approaches the literal optimizer as the step size shrinks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import mpmath
from mpmath import mpf

from symmem.verification.vectors import Number, VerificationError, distance, real

Trajectory: TypeAlias = Callable[[mpf, int], Sequence[Sequence[Number]]]
"""``trajectory(lr, steps)``: the true iterates theta_0, ..., theta_steps."""
Step: TypeAlias = Callable[[Any, int, mpf], Any]
"""``step(theta, n, lr)``: the approximation's next iterate; any sequence of numbers, mpf or float."""


@dataclass(frozen=True)
class ErrorOrder:
    """The slope of log error against log step size, and the root mean square residual of the fit."""

    slope: float
    residual: float


def fit_order(step_sizes: Sequence[Number], errors: Sequence[Number]) -> ErrorOrder:
    """Least squares of ``log error = slope * log h + constant``."""
    if len(step_sizes) != len(errors) or len(set(step_sizes)) < 2:
        raise VerificationError("an order needs an error for each of at least two different step sizes")
    if not all(error > 0 for error in errors):
        raise VerificationError("an order cannot be fitted to errors of zero: the two methods agree exactly")
    x = [mpmath.log(real(h)) for h in step_sizes]
    y = [mpmath.log(real(error)) for error in errors]
    mean_x, mean_y = mpmath.fsum(x) / len(x), mpmath.fsum(y) / len(y)
    slope = mpmath.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / mpmath.fsum(
        (a - mean_x) ** 2 for a in x
    )
    squares = [(b - mean_y - slope * (a - mean_x)) ** 2 for a, b in zip(x, y, strict=True)]
    return ErrorOrder(float(slope), float(mpmath.sqrt(mpmath.fsum(squares) / len(squares))))


def global_error(
    trajectory: Trajectory,
    step: Step,
    start: Any,
    lr: Number,
    horizon: Number,
    *,
    skip: int = 0,
    digits: int = 30,
) -> mpf:
    """``max |theta_n - approximation_n|_inf`` over ``skip <= n <= horizon/lr``.

    ``start`` is the approximation's own: it may be shifted away from theta_0, and ``skip`` then leaves out
    the first steps, in which the two are not meant to be close.
    """
    with mpmath.workdps(digits):
        rate = real(lr)
        steps = int(mpmath.floor(real(horizon) / rate + mpf(10) ** (-digits // 2)))
        truth = trajectory(rate, steps)
        if not skip <= steps < len(truth):
            raise VerificationError(f"{steps} steps reach the horizon: no room after {skip} skipped ones")
        theta, worst = start, mpf(0)
        for n in range(steps + 1):
            if n >= skip:
                worst = max(worst, distance(truth[n], theta))
            if n < steps:
                theta = step(theta, n, rate)
        return worst


def measured_order(error: Callable[[Number], Number], step_sizes: Sequence[Number]) -> ErrorOrder:
    """The order of an error that is a function of the step size."""
    return fit_order(step_sizes, [error(lr) for lr in step_sizes])
