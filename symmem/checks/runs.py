"""Two optimizers in numbers: their updates on the same random histories, and a run in which they part."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

import mpmath
from mpmath import mpf
from sympy import Expr, Rational, Symbol

from symmem.algebra.atoms import STEP
from symmem.checks.verify import dimension_of, layout_of, literal_of
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Parameter
from symmem.verification.literal import Literal
from symmem.verification.vectors import Vector, VerificationError, distance

DIGITS = 30
HISTORIES = (1, 2, 5)
"""Steps seen in the histories on which updates are compared."""
AGREE = mpf(10) ** -20
STEPS = 20
RATE = Rational(1, 100)


@dataclass(frozen=True)
class Parting:
    """The step after which two runs are apart, and by how much."""

    step: int
    gap: float


@dataclass(frozen=True)
class Trial:
    """Two optimizers with numbers for their parameters; ``scale`` is the factor between their updates, if there is."""

    first: Optimizer
    second: Optimizer
    ours: Mapping[str, Rational]
    theirs: Mapping[str, Rational]
    scale: mpf | None

    @classmethod
    def of(cls, first: Optimizer, second: Optimizer, values: Mapping[Symbol, Expr], seed: int = 7) -> Trial:
        """With random numbers for the parameters of the first, and so by the map for those of the second."""
        chance = random.Random(seed)
        ours = {parameter.name: _number(parameter, chance) for parameter in first.parameters}
        table = {Symbol(name): number for name, number in ours.items()}
        theirs = {}
        for parameter in second.parameters:
            symbol = Symbol(parameter.name)
            value = values.get(symbol, symbol).xreplace(table)
            theirs[parameter.name] = value if value.is_Rational else parameter.default
        return cls(first, second, ours, theirs, _scale(first, second, ours, theirs))

    @property
    def sample(self) -> dict[Symbol, Rational]:
        """The numbers by symbol, with a step."""
        return {**{Symbol(name): number for name, number in self.ours.items()}, STEP: Rational(3)}


def _number(parameter: Parameter, chance: random.Random) -> Rational:
    """A random number inside the range."""
    share, interval = Rational(chance.randint(200, 800), 1009), parameter.range
    if interval.lower.is_finite and interval.upper.is_finite:
        return interval.lower + share * (interval.upper - interval.lower)
    return interval.lower + share if interval.lower.is_finite else share


def _scale(
    first: Optimizer, second: Optimizer, ours: Mapping[str, Rational], theirs: Mapping[str, Rational]
) -> mpf | None:
    """The one factor between the updates on all histories; None where there is none, or a number is out of range."""
    for parameter in second.parameters:
        if not parameter.range.contains(theirs[parameter.name]):
            return None
    chance, factors = random.Random(11), []
    layout = layout_of(first, second)
    left, right = literal_of(first, ours, layout), literal_of(second, theirs, layout)
    with mpmath.workdps(DIGITS):
        for count in HISTORIES:
            history = [_point(chance, dimension_of(layout)) for _ in range(count)]
            try:
                ours_now, theirs_now = (_moved(literal, history) for literal in (left, right))
            except VerificationError:  # the formula leaves the real numbers there
                return None
            factors += [x / y if y else mpf("inf") for x, y in zip(ours_now, theirs_now, strict=True)]
            if not all(abs(factor - factors[0]) < AGREE * abs(factors[0]) for factor in factors):
                return None
    return factors[0]


def _moved(literal: Literal, history: list[Vector]) -> list[mpf]:
    """``rate(n) F^(n)``: the update in units of lr."""
    rate = literal.rate(len(history) - 1, DIGITS)
    return [rate * entry for entry in literal.direction(history, DIGITS)]


def _point(chance: random.Random, dimension: int) -> Vector:
    return tuple(mpf(chance.randint(-63, 63)) / 64 for _ in range(dimension))


def parting(trial: Trial) -> Parting | None:
    """The first step after which the runs of the two are apart; None where they are not."""
    layout = layout_of(trial.first, trial.second)
    start = _point(random.Random(3), dimension_of(layout))
    left = literal_of(trial.first, trial.ours, layout).run(start, RATE, STEPS, DIGITS)
    right = literal_of(trial.second, trial.theirs, layout).run(start, RATE, STEPS, DIGITS)
    for step, (ours, theirs) in enumerate(zip(left, right, strict=True)):
        gap = distance(ours, theirs)
        if gap > AGREE:
            return Parting(step, float(gap))
    return None
