"""Which program an optimizer is, and where its declaration departs from it, in words for every document."""

from __future__ import annotations

from sympy import Rational

from symmem.declaration.implementation import Argument, Implementation
from symmem.declaration.optimizer import Optimizer
from symmem.notation.decimals import decimal


def program_sentences(optimizer: Optimizer) -> tuple[str, ...]:
    """That it is the program, or where it departs from it, or why there is none; nothing where nothing is said."""
    named = optimizer.implementation
    if named is None:
        return ()
    if not named.is_named:
        return (f"No program is named: {named.none}.",)
    settings = _settings(named)
    called = f"{named.name} with {', '.join(settings)}" if settings else named.name
    if named.said:
        return (f"Unlike {called}: {'; '.join(named.said)}.",)
    scheduled = " under this schedule" if optimizer.schedule is not None else ""
    return (f"This is {called}{scheduled}.",)


def _settings(named: Implementation) -> list[str]:
    """What is more than a parameter handed on: numbers, expressions and options."""
    arguments = [f"{key} = {_shown(value)}" for key, value in named.arguments if not _is_handed_on(value)]
    factor = [] if named.lr_factor == 1 else [f"lr times ({named.lr_factor})"]
    return factor + arguments + [f"{key} = {value}" for key, value in (*named.options, *named.group)]


def _is_handed_on(argument: Argument) -> bool:
    parts = argument if isinstance(argument, tuple) else (argument,)
    return all(part.is_Symbol for part in parts)


def _shown(argument: Argument) -> str:
    """Numbers as they are typed."""
    if isinstance(argument, tuple):
        return f"({', '.join(map(_shown, argument))})"
    return decimal(argument) if isinstance(argument, Rational) else str(argument)
