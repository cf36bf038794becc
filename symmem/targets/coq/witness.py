"""Whether the hypotheses of a file can hold together: theorems under hypotheses that contradict each other say nothing.

A witness is a value for each parameter in its range, and one entry of each vector, with which every hypothesis holds at
the first steps: those after them can only fail where a factor happens to meet a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from sympy import Expr, Integer, Rational, S, Symbol

from symmem.algebra.atoms import STEP
from symmem.algebra.intervals import Interval
from symmem.declaration.records import Parameter
from symmem.targets.coq.conditions import Condition

_STEPS, _DRAWS, _PARTS = 12, 8, 1000
_NOTHING = Rational(1, 10**12)


def is_met(found: Sequence[Condition], parameters: Sequence[Parameter]) -> bool:
    """Whether a witness was found: the default values, or others of the ranges."""
    asked = [each for each in found if not each.proof]
    symbols = sorted({symbol for each in asked for symbol in each.about.free_symbols} - {STEP}, key=str)
    return any(all(_holds(each, point) for each in asked) for point in _points(symbols, parameters))


def _points(symbols: Sequence[Symbol], parameters: Sequence[Parameter]) -> Iterator[dict[Symbol, Expr]]:
    known = {Symbol(each.name): each for each in parameters}
    for draw in range(_DRAWS):
        random = Random(draw)
        drawn = {symbol: Rational(random.randint(1, _PARTS - 1), _PARTS) for symbol in symbols}
        yield {
            symbol: _value(known[symbol], share, is_first=draw == 0) if symbol in known else share
            for symbol, share in drawn.items()
        }


def _value(parameter: Parameter, share: Expr, *, is_first: bool) -> Expr:
    """The default, then a place between the ends; beyond one where there is no other."""
    if is_first:
        return parameter.default
    lower, upper = _ends(parameter.range, parameter.default)
    return lower + share * (upper - lower)


def _ends(interval: Interval, default: Expr) -> tuple[Expr, Expr]:
    lower = interval.lower if interval.lower.is_finite else default - 1
    return lower, interval.upper if interval.upper.is_finite else default + 1


def _holds(condition: Condition, point: Mapping[Symbol, Expr]) -> bool:
    steps = range(_STEPS) if condition.by_step else range(1)
    about = condition.about.xreplace(dict(point))
    return all(_is_true(condition, about.xreplace({STEP: Integer(step)})) for step in steps)


def _is_true(condition: Condition, about: Expr) -> bool:
    value = about.evalf(30)
    if not (value.is_number and value.is_real):
        return False
    if condition.is_decay:
        return bool(-1 < value < 1)
    return bool(value > S.Zero) if condition.is_sign else bool(abs(value) > _NOTHING)
