"""Orders of error: the optimizer with memory against its memoryless iteration, without and with the correction.

One step from the same past: |F^(n)(theta_n, ..., theta_0) - F| = O(h), with M O(h^2), on the straight-line history
O(h^2) too (mathematics.md section 10).  Over a fixed time the same orders (section 6).  Measured by lowering h, with
decays and smoothing at gentle values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mpmath
from mpmath import mpf
from sympy import Expr, Integer, Rational

from symmem.algebra.results import Missing
from symmem.checks.claims import value_of
from symmem.derivation.derivation import Derivation
from symmem.verification import bruteforce
from symmem.verification.error_orders import fit_order
from symmem.verification.literal import Literal
from symmem.verification.values import first_calm_step, longest_decay, longest_delay
from symmem.verification.vectors import Vector, distance, real

DIGITS = 25
AT = 6
"""The step at which one step is compared: some of the past has been seen."""
TIME = 16
"""Steps of the largest h that a run over a fixed time takes, at least."""
LARGEST = Rational(1, 64)
LONGEST = 48
"""Steps that factors b(n) and rates are given to come to rest."""
MOST_STEPS = 200
"""Of the largest h, that a run takes: memory that lasts longer is not seen to fade, and no order over a fixed time."""
HALVINGS = (1, 2, 4)
TOLERANCE = 0.2
EXACT = mpf(10) ** -18
"""Errors below this are rounding: the memoryless iteration is the optimizer itself."""
STRAIGHT = "straight"
"""How the direction on the straight-line history is called."""
MOST = 6
"""How many pieces of work ``error_orders`` tells of, at most."""


@dataclass(frozen=True)
class Direction:
    """What takes the place of F^(n): its formula at symbolic n, at the first step, and the order of its error."""

    name: str
    expected: int
    formula: Expr
    first: Expr

    def at(self, step: int) -> Expr:
        """At the first step there is no past, and no line through it."""
        return self.formula if step else self.first


@dataclass(frozen=True)
class Errors:
    """The errors of one direction, counted in one way, h by h; ``slope`` is None where they are zero but for rounding.

    ``path`` has the errors of the run with the smallest h, step by step.
    """

    counted: str
    direction: str
    expected: int
    rates: tuple[float, ...]
    errors: tuple[float, ...]
    slope: float | None
    path: tuple[float, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the error falls at least as fast as the theory says."""
        return self.slope is None or self.slope > self.expected - TOLERANCE


def step_sizes(literal: Literal, theta: Vector) -> list[Rational]:
    """h, h/2, h/4, with h/(1 - beta) and h times a delay small, and h F no larger than h times the gradient."""
    room = 1 - longest_decay(literal.optimizer, literal.numbers)
    moves = bruteforce.memoryless(literal, theta, AT, DIGITS), literal.loss.gradient(theta)
    update, slope = (max(abs(entry) for entry in entries) for entries in moves)
    memory = max(1, round(0.6 / room), longest_delay(literal.optimizer) // 4)
    scale = Rational(1, memory * max(1, int(mpmath.ceil(update / slope))))
    return [LARGEST * scale / Integer(part) for part in HALVINGS]


def error_orders(
    derivation: Derivation,
    literal: Literal,
    theta: Vector,
    told: Callable[[str], None] = lambda _: None,
) -> tuple[Errors, ...]:
    """One step and a fixed time for every direction; empty where there is no formula at step n."""
    sizes, found = step_sizes(literal, theta), []
    steps = [time_of(literal) * part for part in HALVINGS]
    is_seen = memory_of(literal) <= MOST_STEPS
    for direction in directions(derivation):
        told(f"one step of {direction.name}")
        local = [[one_step_error(direction, literal, theta, h)] for h in sizes]
        found.append(_errors("one step", direction, sizes, local))
        if not is_seen:
            continue
        told(f"a fixed time of {direction.name}")
        runs = [
            run_errors(direction, literal, theta, h, count) for h, count in zip(sizes, steps, strict=True)
        ]
        found.append(_errors("a fixed time", direction, sizes, runs))
    return tuple(found)


def directions(derivation: Derivation) -> tuple[Direction, ...]:
    """Without the correction, with it, and on the straight-line history where there is one."""
    if isinstance(derivation.F, Missing) or isinstance(derivation.M, Missing):
        return ()
    memoryless, corrected = derivation.F, derivation.F + derivation.M
    found = (Direction("F", 1, memoryless, memoryless), Direction("F + M", 2, corrected, corrected))
    straight = derivation.straight
    if isinstance(straight, Missing):
        return found
    return (*found, Direction(STRAIGHT, 2, straight, memoryless))


def one_step_error(direction: Direction, literal: Literal, theta: Vector, lr: Rational) -> mpf:
    """How far the formula is from the direction of the one run that is at theta at step AT."""
    with mpmath.workdps(DIGITS):
        truth = bruteforce.exact_direction(literal, theta, AT, lr, DIGITS)
        return distance(value_of(direction.at(AT), literal, theta, n=AT, lr=lr, digits=DIGITS), truth)


def run_errors(direction: Direction, literal: Literal, theta: Vector, lr: Rational, steps: int) -> list[mpf]:
    """``max_i |theta_n - approximation_n|`` for n = 0, ..., steps, from the same start."""
    with mpmath.workdps(DIGITS):
        rate, point, errors = real(lr), list(theta), []
        truth = literal.run(theta, lr, steps, DIGITS)
        for n in range(steps + 1):
            errors.append(distance(truth[n], point))
            move = value_of(direction.at(n), literal, point, n=n, lr=lr, digits=DIGITS)
            now = rate * literal.rate(n, DIGITS)
            point = [x - now * f for x, f in zip(point, move, strict=True)]
        return errors


def memory_of(literal: Literal) -> int:
    """Steps of the largest h in which memory fades: before that an error grows as memory fills, whatever h is."""
    decays = round(10 / (1 - longest_decay(literal.optimizer, literal.numbers)))
    return max(decays, 3 * longest_delay(literal.optimizer))


def time_of(literal: Literal) -> int:
    """How many steps of the largest h a fixed time is: memory fades in it, and factors b(n) and rates come to rest."""
    calm = 3 * first_calm_step(literal.optimizer, literal.numbers)
    return max(TIME, memory_of(literal), min(LONGEST, calm))


def _errors(
    counted: str, direction: Direction, sizes: Sequence[Rational], runs: Sequence[Sequence[mpf]]
) -> Errors:
    errors = [max(run) for run in runs]
    exact = max(errors) < EXACT or min(errors) == 0
    # The two smallest h are nearest to the limit; the first shows how the order comes to it.
    slope = None if exact else fit_order(sizes[1:], errors[1:]).slope
    rates, path = tuple(float(h) for h in sizes), tuple(map(float, runs[-1]))
    return Errors(counted, direction.name, direction.expected, rates, tuple(map(float, errors)), slope, path)
