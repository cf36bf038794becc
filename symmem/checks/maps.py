"""Maps from the parameters of one optimizer to those of another, the likely ones first.

A parameter may be the one with the same name, a decay of the other, any other parameter, or one of the numbers 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Integer, Rational, Symbol

from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Parameter

ParameterMap = dict[Symbol, Expr]
"""Each parameter of the second optimizer as an expression in those of the first."""
MOST_COST = 4
"""Of one value."""


def candidates(first: Optimizer, second: Optimizer) -> Iterator[ParameterMap]:
    """First those in which parameters with one name are one, then all others; each in the order of their effort."""
    ours = [Symbol(parameter.name) for parameter in first.parameters]
    theirs = [Symbol(parameter.name) for parameter in second.parameters]
    seen: set[tuple[Expr, ...]] = set()
    for keeps_names in (True, False):
        choices = [_choices(name, ours, first, second, keeps_names) for name in theirs]
        for chosen in by_effort(theirs, choices):
            if chosen not in seen:
                seen.add(chosen)
                yield dict(zip(theirs, chosen, strict=True))


def _choices(
    name: Symbol, ours: list[Symbol], first: Optimizer, second: Optimizer, keeps_names: bool
) -> list[Expr]:
    if keeps_names and name in ours:
        return [name]
    decays = [variable.beta for variable in first.momentum if variable.beta.free_symbols]
    is_decay = any(variable.beta == name for variable in second.momentum)
    found: list[Expr] = [*ours, *(decays if is_decay else ())]
    (parameter,) = (each for each in second.parameters if each.name == name.name)
    found += [number for number in (Integer(0), Integer(1)) if may_be(parameter, number)]
    return list(dict.fromkeys(found))


def may_be(parameter: Parameter, number: Rational) -> bool:
    """Whether a parameter may be this number: in its range, or 0 at the end of it, as for an eps that is left out."""
    return parameter.range.contains(number) or (number == 0 and parameter.range.lower == 0)


def by_effort(names: list[Symbol], choices: list[list[Expr]]) -> Iterator[tuple[Expr, ...]]:
    """One value for each name, in every way: few changes before many, names before numbers, a value in two places last.

    The effort is the sum of :func:`_cost`; of one effort the first choices come first.  Made one by one, since twelve
    names with five choices each have 244 million ways, of which the first thousands are looked at.
    """
    if all(choices):
        for effort in range(MOST_COST * len(names) + 1):
            yield from _of_effort(names, choices, (), effort)


def _of_effort(
    names: list[Symbol], choices: list[list[Expr]], chosen: tuple[Expr, ...], left: int
) -> Iterator[tuple[Expr, ...]]:
    """The ways that begin with ``chosen`` and cost ``left`` more; a beginning that cannot is not gone on from."""
    position = len(chosen)
    if position == len(names):
        if left == 0:
            yield chosen
        return
    if not _least(names, choices, chosen) <= left <= MOST_COST * (len(names) - position):
        return
    for value in choices[position]:
        cost = _cost(names[position], value, chosen)
        if cost <= left:
            yield from _of_effort(names, choices, (*chosen, value), left - cost)


def _least(names: list[Symbol], choices: list[list[Expr]], chosen: tuple[Expr, ...]) -> int:
    """No more than what is left costs: a name without its own takes another's, once for each, or something dearer."""
    others = [
        values for name, values in list(zip(names, choices, strict=True))[len(chosen) :] if name not in values
    ]
    free = {value for values in others for value in values if value.is_Symbol} - {*chosen}
    cheap = min(len(free), len(others))
    return cheap + 2 * (len(others) - cheap)


def _cost(name: Symbol, value: Expr, chosen: tuple[Expr, ...]) -> int:
    """0 for its own name, 1 for another's, 2 for all else; 2 more where a parameter has its place already."""
    own = 0 if name == value else 1 if value.is_Symbol else 2
    return own + (2 if value.free_symbols and value in chosen else 0)
