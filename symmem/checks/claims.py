"""The formulas of a derivation against brute force at random points (mathematics.md sections 1 and 2).

The derivation says F and M; the verification room computes what they mean with no formula at all.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import mpmath
from mpmath import mpf
from sympy import Expr

from symmem.algebra.results import Missing
from symmem.derivation.derivation import Derivation
from symmem.verification import bruteforce
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.values import settled_step
from symmem.verification.vectors import Number, Vector, distance

STEPS = (0, 1, 2, 5)
POINTS = 2
DIGITS = 30
BOUND = 1e-20
"""Brute force has 30 digits; a formula that is wrong in any term misses by far more."""
LEAST_SLOPE = mpf(1) / 8
"""No entry of the gradient is smaller at a random point: a kink at zero is not crossed by chance."""
RATE = mpf(1) / 64


@dataclass(frozen=True)
class Claim:
    """One quantity at one step, or in the limit (``step`` is None): its largest relative error over the points."""

    quantity: str
    step: int | None
    error: float
    bound: float

    @property
    def holds(self) -> bool:
        """Whether the formula is the truth, to all digits that are compared."""
        return self.error < self.bound


def random_points(literal: Literal, dimension: int, count: int, seed: int = 0) -> list[Vector]:
    """Points with coordinates k/64 in (-1, 1) at which no entry of the gradient is small."""
    chance = random.Random(seed)
    found: list[Vector] = []
    while len(found) < count:
        point = tuple(mpf(chance.randint(-63, 63)) / 64 for _ in range(dimension))
        if min(abs(entry) for entry in literal.loss.gradient(point)) > LEAST_SLOPE:
            found.append(point)
    return found


def claims(
    derivation: Derivation,
    literal: Literal,
    points: Sequence[Vector],
    steps: Sequence[int] = STEPS,
    *,
    limit: bool = True,
) -> Iterator[Claim]:
    """F and M at each of the steps, then in the limit, where the derivation has them."""
    with mpmath.workdps(DIGITS + 10):
        for step in steps:
            yield from _pair((derivation.F, derivation.M), literal, points, step)
        settled, at = derivation.limit, settled_step(literal.optimizer, literal.numbers)
        if limit and at is not None and not isinstance(settled, Missing):
            for claim in _pair((settled.F, settled.M), literal, points, at, faded=True):
                yield replace(claim, step=None)


def _pair(
    formulas: tuple[Expr | Missing, Expr | Missing],
    literal: Literal,
    points: Sequence[Vector],
    step: int,
    *,
    faded: bool = False,
) -> Iterator[Claim]:
    """``faded``: the limit may be 0, and what is left of the past is small beside the largest F^(s) on the way."""
    update, change = formulas
    if isinstance(update, Missing):
        return
    frozen = [bruteforce.memoryless(literal, point, step, DIGITS) for point in points]
    values = [value_of(update, literal, point, n=step, lr=RATE) for point in points]
    sizes = [_size(f) for f in frozen]
    if faded:
        sizes = [max(map(_size, literal.frozen(point, step + 1, DIGITS))) for point in points]
    yield Claim("F", step, _worst(values, frozen, sizes), BOUND)
    if not isinstance(change, Missing):
        moved = [bruteforce.correction(literal, point, step, RATE, DIGITS) for point in points]
        values = [value_of(change, literal, point, n=step, lr=RATE) for point in points]
        # Where memory does nothing, M is 0: its error is then measured against h F.
        scales = [max(_size(m), RATE * size) for m, size in zip(moved, sizes, strict=True)]
        yield Claim("M", step, _worst(values, moved, scales), BOUND)


def _size(entries: Vector) -> mpf:
    return max(abs(entry) for entry in entries)


def _worst(values: Sequence[Sequence[mpf]], truths: Sequence[Vector], scales: Sequence[mpf]) -> float:
    """The largest relative error over the points."""
    rows = zip(values, truths, scales, strict=True)
    return float(max(distance(value, truth) / (scale or 1) for value, truth, scale in rows))


def value_of(
    formula: Expr, literal: Literal, theta: Sequence[Number], *, n: int, lr: Number, digits: int = DIGITS
) -> list[mpf]:
    """The number that a derived formula is at a point."""
    scalars = {**literal.numbers, "n": n, "lr": lr}
    layouts = None if literal.layout is None else {"theta": literal.layout, "grad": literal.layout}
    found = evaluate(
        formula, scalars, {"theta": theta}, literal.loss, literal.functions, layouts=layouts, digits=digits
    )
    return found if isinstance(found, list) else [found] * len(theta)
