"""Are two optimizers the same?  Identical, identical up to lr or parameters, the same after many steps, or different.

"Identical" is a claim on the optimizer: the same update for every history and every loss, by a symbolic zero of the two
updates as functions of sums over the past (:mod:`.past_sums`), confirmed by runs.  "Different" is a claim with
a witness: a run in which they part, or limits that differ in numbers.  What is neither proved nor refuted is called so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from sympy import Expr, S, Symbol

from symmem.algebra.intervals import POSITIVE, Interval
from symmem.algebra.ranges import bounds
from symmem.algebra.signs import is_positive
from symmem.checks.difference import Difference, difference
from symmem.checks.maps import ParameterMap, candidates
from symmem.checks.open_functions import degrees_of, with_one_meaning
from symmem.checks.past_sums import PastSums, update_of
from symmem.checks.runs import Trial, first_parting
from symmem.checks.settled import settled
from symmem.checks.solved_maps import solved_maps
from symmem.checks.zero import Normal
from symmem.declaration.optimizer import Optimizer
from symmem.method.reading import method_of

Maps = Callable[[Optimizer, Optimizer], Iterator[ParameterMap]]
MOST_PROVED = 4
MOST_TRIED = 200
"""Maps of parameters that are tried by numbers."""


class Verdict(Enum):
    """What was found."""

    IDENTICAL = "identical"
    RESCALED = "identical up to lr"
    RENAMED = "identical up to parameters"
    BOTH = "identical up to lr and parameters"
    SETTLED = "the same after many steps"
    DIFFERENT = "different"
    UNDECIDED = "not decided"


@dataclass(frozen=True)
class Sameness:
    """The verdict on two optimizers, with what it takes to make them equal, or how they differ.

    ``first`` with lr is ``second`` with ``scale * lr`` and the parameters of ``values``.
    """

    first: Optimizer
    second: Optimizer
    verdict: Verdict
    scale: Expr = S.One
    values: tuple[tuple[Symbol, Expr], ...] = ()
    where: tuple[tuple[Expr, Interval], ...] = ()
    """What has to lie in its range for it, and may not: a parameter of the second, or the factor of lr."""
    swapped: bool = False
    difference: Difference | None = None


def same(first: Optimizer, second: Optimizer) -> Sameness:
    """The verdict: the simplest way in which the two are equal, or their difference."""
    first, second = with_one_meaning(first, second), with_one_meaning(second, first)
    apart = first_parting(first, second)
    for maps in (_promising, solved_maps):
        for swapped, (left, right) in ((False, (first, second)), (True, (second, first))):
            found = _equal(left, right, swapped, maps)
            if found is not None:
                return found
    told = difference(first, second, apart)
    if apart is None and told.is_proof:
        return Sameness(first, second, Verdict.DIFFERENT, difference=told)
    if apart is None:
        return Sameness(first, second, Verdict.UNDECIDED, difference=told)
    late = (settled(first), settled(second))
    if late[0] is not None and late[1] is not None and proved_scale(late[0], late[1], {}) == 1:
        return Sameness(first, second, Verdict.SETTLED, difference=told)
    return Sameness(first, second, Verdict.DIFFERENT, difference=told)


def _equal(left: Optimizer, right: Optimizer, swapped: bool, maps: Maps) -> Sameness | None:
    """The first map of right's parameters under which it is left, up to a constant factor of lr."""
    for values in islice(maps(left, right), MOST_PROVED):
        scale = proved_scale(left, right, values, maps is solved_maps)
        if scale is None:
            continue
        told = {name: _shortest(value, left) for name, value in values.items() if name in _used(right)}
        pairs = tuple((name, value) for name, value in told.items() if name != value)
        where = _conditions(left, right, scale, told)
        return Sameness(left, right, _verdict(scale, bool(pairs)), scale, pairs, where, swapped)
    return None


def _used(optimizer: Optimizer) -> set[Symbol]:
    """The symbols of the optimizer as it runs: not those of a smooth formula alone."""
    parts = [optimizer.phi, *(part for each in optimizer.momentum for part in (each.g, each.beta, each.b))]
    if optimizer.schedule is not None:
        parts.append(optimizer.schedule)
    return {symbol for part in parts for symbol in part.free_symbols}


def _shortest(value: Expr, left: Optimizer) -> Expr:
    return min((value, method_of(left).numbers.tidy(value)), key=lambda form: len(str(form)))


def _conditions(
    left: Optimizer, right: Optimizer, scale: Expr, values: ParameterMap
) -> tuple[tuple[Expr, Interval], ...]:
    """The range of every parameter that the map is not proved to keep, and that of the factor of lr."""
    ranges: dict[Expr, Interval] = {Symbol(each.name): each.range for each in left.parameters}
    found: list[tuple[Expr, Interval]] = [] if is_positive(scale, ranges) else [(scale, POSITIVE)]
    for parameter in right.parameters:
        name = Symbol(parameter.name)
        value = values.get(name, S.One)
        if not value.is_Rational and not bounds(value, ranges).within(parameter.range):
            found.append((name, parameter.range))
    return tuple(found)


def _promising(left: Optimizer, right: Optimizer) -> Iterator[ParameterMap]:
    """The maps under which the two updates are proportional in numbers."""
    for values in islice(candidates(left, right), MOST_TRIED):
        if Trial.of(left, right, values).scale is not None:
            yield values


def proved_scale(
    left: Optimizer, right: Optimizer, values: ParameterMap, partly: bool = False
) -> Expr | None:
    """The constant c > 0 with ``left's update = c right's update``, by a symbolic zero that runs confirm; else None.

    ``partly``: it is enough that the parameters of the second are in their ranges, and c > 0, for some of the first.
    """
    ranges: dict[Expr, Interval] = {Symbol(each.name): each.range for each in left.parameters}
    normal = Normal(dict(ranges), degrees=degrees_of(left, right))
    memories = PastSums(normal)
    ours = update_of(left, memories, {})
    theirs = update_of(right, memories, values)
    if normal.is_zero(ours - theirs):
        return S.One if _confirmed(left, right, values, S.One, partly) else None
    read = normal.ratio(ours, theirs)
    scale = normal.written(read)
    if not scale.free_symbols <= {*ranges} or not (partly or is_positive(scale, ranges)):
        return None
    proved = normal.is_zero(ours - scale * theirs) and _confirmed(left, right, values, scale, partly)
    return _shortest(scale, left) if proved else None


def _confirmed(left: Optimizer, right: Optimizer, values: ParameterMap, scale: Expr, partly: bool) -> bool:
    """Whether numbers over the whole ranges agree, at least once, and never disagree."""
    trials = list(Trial.all(left, right, values))
    if partly:
        trials = [each for each in (Trial.at_defaults(left, right, values), *trials) if each.may_be(scale)]
    return any(trial.is_real for trial in trials) and all(trial.confirms(scale) for trial in trials)


def _verdict(scale: Expr, renamed: bool) -> Verdict:
    if scale == 1:
        return Verdict.RENAMED if renamed else Verdict.IDENTICAL
    return Verdict.BOTH if renamed else Verdict.RESCALED
