"""Maps from the parameters of one optimizer to those of another, the likely ones first.

A parameter may be the one with the same name, a decay of the other, any other parameter, or one of the numbers 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sympy import Expr, Integer, Rational, Symbol

from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Parameter

ParameterMap = dict[Symbol, Expr]
"""Each parameter of the second optimizer as an expression in those of the first."""


def candidates(first: Optimizer, second: Optimizer) -> Iterator[ParameterMap]:
    """First those in which parameters with one name are one, then all others; each in the order of their effort."""
    ours = [Symbol(parameter.name) for parameter in first.parameters]
    theirs = [Symbol(parameter.name) for parameter in second.parameters]
    seen: set[tuple[Expr, ...]] = set()
    for keeps_names in (True, False):
        choices = [_choices(name, ours, first, second, keeps_names) for name in theirs]
        for chosen in sorted(product(*choices), key=lambda values: _effort(theirs, values)):
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


def _effort(names: list[Symbol], values: tuple[Expr, ...]) -> int:
    """Few changes are tried before many, names before numbers, and one parameter in two places last."""
    pairs = zip(names, values, strict=True)
    shared = [value for value in values if value.free_symbols]
    return sum(map(_cost, pairs)) + 2 * (len(shared) - len({*shared}))


def _cost(pair: tuple[Symbol, Expr]) -> int:
    name, value = pair
    return 0 if name == value else 1 if value.is_Symbol else 2
