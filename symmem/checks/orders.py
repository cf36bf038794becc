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
from symmem.derivation.conditions.growth import growing
from symmem.derivation.derivation import Derivation
from symmem.verification import bruteforce
from symmem.verification.error_orders import fit_order
from symmem.verification.literal import Literal
from symmem.verification.values import longest_decay, longest_delay, moves_by_itself
from symmem.verification.vectors import Vector, VerificationError, distance, real

DIGITS = 25
AT = 6
"""The step at which one step is compared: some of the past has been seen."""
TIME = 16
"""Steps of the largest h that a run over a fixed time takes, at least."""
LARGEST = Rational(1, 64)
MOST_STEPS = 200
"""Of the largest h, that a run takes: memory that lasts longer is not seen to fade, and no order over a fixed time."""
LONGEST = 48
"""The same for what comes to rest late: under a schedule M is a sum over the past, anew in every step."""
HALVINGS = (1, 2, 4)
SMALLER = (1, 2**6, 2**12)
"""Every h by these, one after the other, until the orders are seen."""
TOLERANCE = 0.2
GROWTH = 0.15
"""What an update that still grows may take from an order; the rest of the tolerance is for the order itself."""
EXACT = mpf(10) ** -18
"""Errors below this are rounding: the memoryless iteration is the optimizer itself."""
FIXED_TIME = "a fixed time"
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
    """One step and a fixed time for every direction; empty where there is no formula at step n.

    An order is a statement about small h.  Where the run diverges, or an order is not seen, h may not be small beside
    a scale of this declaration, as in m1/(m1**2 + 1e-12): a smaller h tells, for what is wrong is wrong with every h.
    """
    sizes = step_sizes(literal, theta)
    # No closeness is claimed where a rate or a gain grows.
    time = time_of(literal, theta) if next(growing(derivation.method), None) is None else None
    found: tuple[Errors, ...] = ()
    for factor in SMALLER:
        try:
            found = _measured(derivation, literal, theta, [h / factor for h in sizes], time=time, told=told)
        except VerificationError:
            if factor == SMALLER[-1]:
                raise
            continue
        if all(each.holds for each in found):
            break
    return found


def _measured(
    derivation: Derivation,
    literal: Literal,
    theta: Vector,
    sizes: Sequence[Rational],
    *,
    time: int | None,
    told: Callable[[str], None],
) -> tuple[Errors, ...]:
    """The errors with these h; ``time`` counts steps of the largest."""
    found = []
    for direction in directions(derivation):
        told(f"one step of {direction.name}")
        local = [[one_step_error(direction, literal, theta, h)] for h in sizes]
        found.append(_errors("one step", direction, sizes, local))
        if time is None:
            continue
        told(f"{FIXED_TIME} of {direction.name}")
        pairs = zip(sizes, HALVINGS, strict=True)
        runs = [run_errors(direction, literal, theta, h, time * part) for h, part in pairs]
        found.append(_errors(FIXED_TIME, direction, sizes, runs))
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


def time_of(literal: Literal, theta: Vector) -> int | None:
    """How many steps of the largest h a fixed time is; None where no run that is made here is long enough.

    Memory fades in it, and what moves by itself, a factor b(n) or a rate, no longer makes the update grow.  The error
    of F after N steps is some constant times h^2 sum_{n<N} u(n)^2, with u(n) = |rate(n) F^(n)|: O(h) for N ~ 1/h where
    u stays bounded.  While u grows, as in a long warm-up, twice the steps have more than twice the sum, and the order
    shows itself later than these runs end.
    """
    time = max(TIME, memory_of(literal))
    if not moves_by_itself(literal.optimizer):
        return time if time <= MOST_STEPS else None
    for steps in range(time, min(MOST_STEPS, max(LONGEST, time)) + 1, TIME // 2):
        middle, last = (_work(literal, theta, part * steps) for part in HALVINGS[1:])
        if last <= 2 ** (1 + GROWTH) * middle:
            return steps
    return None


def _work(literal: Literal, theta: Vector, steps: int) -> mpf:
    """``sum_{n < steps} |rate(n) F^(n)(theta)|^2``."""
    with mpmath.workdps(DIGITS):
        updates = literal.frozen(theta, steps, DIGITS)
        return mpmath.fsum(
            max(abs(literal.rate(n, DIGITS) * entry) for entry in update) ** 2
            for n, update in enumerate(updates)
        )


def _errors(
    counted: str, direction: Direction, sizes: Sequence[Rational], runs: Sequence[Sequence[mpf]]
) -> Errors:
    errors = [max(run) for run in runs]
    exact = max(errors) < EXACT or min(errors) == 0
    # The two smallest h are nearest to the limit; the first shows how the order comes to it.
    slope = None if exact else fit_order(sizes[1:], errors[1:]).slope
    rates, path = tuple(float(h) for h in sizes), tuple(map(float, runs[-1]))
    return Errors(counted, direction.name, direction.expected, rates, tuple(map(float, errors)), slope, path)
