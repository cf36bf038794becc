"""Two optimizers in numbers: their updates on the same random histories, and a run in which they part."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import chain

import mpmath
from mpmath import mpf
from sympy import Expr, Integer, Rational, Symbol

from symmem.checks.maps import may_be
from symmem.checks.verify import dimension_of, layout_of, literal_of
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Parameter
from symmem.verification.tensors import Layout
from symmem.verification.vectors import Vector, VerificationError, distance

DIGITS = 30
HISTORIES = (1, 2, 5)
"""Steps seen in the histories on which updates are compared."""
AGREE = mpf(10) ** -20
STEPS = (1, 5, 20)
"""How far runs are compared, the short ones first."""
RATES = (Rational(1, 100), Rational(1, 10**14))
"""The second one where the first is too large for the optimizer: a difference is seen with every rate."""


class Signs(Enum):
    """Which part of a range that has negative numbers in it is looked at."""

    ABOVE = "above 0"
    BELOW = "below 0"
    WHOLE = "all of it"


SEEDS = ((7, Signs.ABOVE), (8, Signs.BELOW), (9, Signs.WHOLE), (10, Signs.WHOLE))


@dataclass(frozen=True)
class Parting:
    """The step after which two runs are apart, by how much, and the parameters of the runs."""

    step: int
    gap: float
    values: Mapping[str, Rational]


@dataclass(frozen=True)
class Trial:
    """Two optimizers with numbers for their parameters; ``scale`` is the factor between their updates, if there is.

    ``is_real`` is False where a formula leaves the real numbers: such a trial says nothing.
    """

    first: Optimizer
    second: Optimizer
    ours: Mapping[str, Rational]
    theirs: Mapping[str, Rational]
    scale: mpf | None
    is_real: bool = True

    @classmethod
    def of(cls, first: Optimizer, second: Optimizer, values: Mapping[Symbol, Expr], number: int = 0) -> Trial:
        """With random numbers for the parameters of the first, and so by the map for those of the second."""
        seed, signs = SEEDS[number]
        chance = random.Random(seed)
        ours = {parameter.name: _number(parameter, chance, signs) for parameter in first.parameters}
        return cls.at(first, second, values, ours)

    @classmethod
    def at_defaults(cls, first: Optimizer, second: Optimizer, values: Mapping[Symbol, Expr]) -> Trial:
        """With the defaults of the first."""
        return cls.at(first, second, values, first.defaults)

    @classmethod
    def at(
        cls,
        first: Optimizer,
        second: Optimizer,
        values: Mapping[Symbol, Expr],
        ours: Mapping[str, Rational],
    ) -> Trial:
        """With these numbers for the parameters of the first."""
        table = {Symbol(name): number for name, number in ours.items()}
        theirs = {}
        for parameter in second.parameters:
            symbol = Symbol(parameter.name)
            value = values.get(symbol, symbol).xreplace(table)
            theirs[parameter.name] = _rational(value, parameter.default)
        try:
            return cls(first, second, ours, theirs, _scale(first, second, ours, theirs))
        except VerificationError:
            return cls(first, second, ours, theirs, None, is_real=False)

    @classmethod
    def all(cls, first: Optimizer, second: Optimizer, values: Mapping[Symbol, Expr]) -> Iterator[Trial]:
        """Over the whole ranges: above 0, below 0, and mixed."""
        return (cls.of(first, second, values, number) for number in range(len(SEEDS)))

    @property
    def is_inside(self) -> bool:
        """Whether the parameters of the second are in its ranges."""
        return all(each.range.contains(self.theirs[each.name]) for each in self.second.parameters)

    def may_be(self, scale: Expr) -> bool:
        """Whether the parameters of the second are in its ranges, or an eps is left out, and this factor is > 0."""
        inside = all(may_be(each, self.theirs[each.name]) for each in self.second.parameters)
        return inside and bool(scale.xreplace({Symbol(name): x for name, x in self.ours.items()}) > 0)

    def confirms(self, scale: Expr) -> bool:
        """Whether the factor between the updates is the value of this one; True where there is nothing to see."""
        if not self.is_real:
            return True
        value = scale.xreplace({Symbol(name): number for name, number in self.ours.items()})
        with mpmath.workdps(DIGITS):
            expected = mpf(str(value.evalf(DIGITS)))
            return self.scale is not None and bool(abs(self.scale - expected) < AGREE * abs(expected))


def _rational(value: Expr, default: Rational) -> Rational:
    """The number, or a fraction that is as near as the digits of a run; the default where there is none."""
    if value.is_Rational or not value.is_number or not value.is_extended_real:
        return value if value.is_Rational else default
    near = value.evalf(2 * DIGITS)
    return Rational(str(near)) if near.is_Float and near.is_finite else default


def _number(parameter: Parameter, chance: random.Random, signs: Signs) -> Rational:
    """A random number inside the range, or inside its part above or below 0."""
    share, interval = Rational(chance.randint(200, 800), 1000), parameter.range
    side = chance.choice((1, -1))
    lower, upper = interval.lower, interval.upper
    if lower < 0 < upper and signs is not Signs.WHOLE:
        lower, upper = (Integer(0), upper) if signs is Signs.ABOVE else (lower, Integer(0))
    if lower.is_finite and upper.is_finite:
        return lower + share * (upper - lower)
    if lower.is_finite:
        return lower + share
    return upper - share if upper.is_finite else side * share


def _scale(
    first: Optimizer, second: Optimizer, ours: Mapping[str, Rational], theirs: Mapping[str, Rational]
) -> mpf | None:
    """The one factor between the updates on all histories; None where there is none, or a number is out of range."""
    for parameter in second.parameters:
        if not may_be(parameter, theirs[parameter.name]):
            return None
    layout, factors = layout_of(first, second), list[mpf]()
    with mpmath.workdps(DIGITS):
        for place in range(len(HISTORIES)):
            pair = ((first, ours), (second, theirs))
            updates = (_moved(each, tuple(numbers.items()), layout, place) for each, numbers in pair)
            factors += [x / y if y else mpf("inf") for x, y in zip(*updates, strict=True)]
            if not all(abs(factor - factors[0]) < AGREE * abs(factors[0]) for factor in factors):
                return None
    return factors[0]


@lru_cache(maxsize=1024)
def _moved(
    optimizer: Optimizer, numbers: tuple[tuple[str, Rational], ...], layout: Layout | None, place: int
) -> tuple[mpf, ...]:
    """``rate(n) F^(n)``, the update in units of lr; kept, for one optimizer meets another under hundreds of maps."""
    literal, history = literal_of(optimizer, dict(numbers), layout), _histories(layout)[place]
    rate = literal.rate(len(history) - 1, DIGITS)
    return tuple(rate * entry for entry in literal.direction(history, DIGITS))


@lru_cache(maxsize=8)
def _histories(layout: Layout | None) -> tuple[list[Vector], ...]:
    chance = random.Random(11)
    return tuple([_point(chance, dimension_of(layout)) for _ in range(count)] for count in HISTORIES)


def _point(chance: random.Random, dimension: int) -> Vector:
    return tuple(mpf(chance.randint(-63, 63)) / 64 for _ in range(dimension))


def parting(trial: Trial) -> Parting | None:
    """The first step after which the runs of the two are apart; None where they are not, as far as both go."""
    large, small = RATES
    try:
        _parted(trial, large, STEPS[0])
    except VerificationError:  # it diverges at once, or leaves the real numbers
        return _parting(trial, small)
    return _parting(trial, large)


def _parting(trial: Trial, rate: Rational) -> Parting | None:
    for steps in STEPS:
        try:
            found = _parted(trial, rate, steps)
        except VerificationError:  # one diverges, after steps that were compared
            if steps == STEPS[0]:
                raise
            return None
        if found is not None:
            return found
    return None


def _parted(trial: Trial, rate: Rational, steps: int) -> Parting | None:
    layout = layout_of(trial.first, trial.second)
    start = _point(random.Random(3), dimension_of(layout))
    left = literal_of(trial.first, trial.ours, layout).run(start, rate, steps, DIGITS)
    right = literal_of(trial.second, trial.theirs, layout).run(start, rate, steps, DIGITS)
    for step, (ours, theirs) in enumerate(zip(left, right, strict=True)):
        gap = distance(ours, theirs)
        if gap > AGREE:
            return Parting(step, float(gap), {**trial.theirs, **trial.ours})
    return None


def first_parting(first: Optimizer, second: Optimizer) -> Parting | None:
    """A run in which they part, with parameters of one name equal, over the ranges and at the defaults; or None."""
    refused, seen = None, False
    # Over the whole ranges a warm-up may be shorter than one step: the defaults are looked at too.
    own = (Trial.at_defaults(*pair, {}) for pair in ((first, second), (second, first)))
    for trial in chain(Trial.all(first, second, {}), own):
        if not trial.is_inside:
            continue
        try:
            found = parting(trial)
        except VerificationError as error:  # a formula leaves the real numbers there, or the run diverges
            refused = refused or error
            continue
        seen = True
        if found is not None:
            return found
    if refused is not None and not seen:
        raise refused
    return None
