"""Which program an optimizer is, and where its declaration departs from it, in words for every document.

What a departure has between backquotes is mathematics in the language of declarations: ``the sign is smoothed,
`x/sqrt(x**2 + eps)` ``.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Rational

from symmem.algebra.results import Part
from symmem.declaration.implementation import Argument, Implementation
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.parser import called_names, parse
from symmem.documents.prose import Prose
from symmem.errors import DeclarationError
from symmem.notation.decimals import decimal


class Code(str):
    """Words of a program, as they are typed there."""


def program_sentences(optimizer: Optimizer) -> tuple[Prose, ...]:
    """That it is the program, or where it departs from it, or why there is none; nothing where nothing is said."""
    named = optimizer.implementation
    if named is None:
        return ()
    if not named.is_named:
        return (("No program is named: ", *told(named.none), "."),)
    settings = _settings(named)
    called: tuple[Part, ...] = (Code(named.name), *([" with "] if settings else []), *_joined(settings, ", "))
    if named.said:
        return (("Unlike ", *called, ": ", *_joined(list(map(told, named.said)), "; "), "."),)
    scheduled = " under this schedule" if optimizer.schedule is not None else ""
    return (("This is ", *called, f"{scheduled}."),)


def told(words: str) -> tuple[Part, ...]:
    """A user's words, with what stands between backquotes as mathematics; what cannot be read stays as it is."""
    pieces = words.split("`")
    if len(pieces) % 2 == 0:
        return (words,)
    try:
        found = [parse(piece, called_names(piece)) for piece in pieces[1::2]]
    except DeclarationError:
        return (words,)
    parts: list[Part] = [pieces[0]]
    for formula, behind in zip(found, pieces[2::2], strict=True):
        parts += [formula, behind]
    return tuple(part for part in parts if part != "")


def _settings(named: Implementation) -> list[tuple[Part, ...]]:
    """What is more than a parameter handed on: numbers, expressions and options."""
    factor: list[tuple[Part, ...]] = (
        [] if named.lr_factor == 1 else [(Code("lr"), " times ", *_shown(named.lr_factor))]
    )
    arguments = [
        (Code(key), " = ", *_shown(value)) for key, value in named.arguments if not _is_handed_on(value)
    ]
    options = [(Code(f"{key} = {value}"),) for key, value in (*named.options, *named.group)]
    return [*factor, *arguments, *options]


def _is_handed_on(argument: Argument) -> bool:
    parts = argument if isinstance(argument, tuple) else (argument,)
    return all(part.is_Symbol for part in parts)


def _shown(argument: Argument) -> tuple[Part, ...]:
    """Numbers as they are typed."""
    if isinstance(argument, tuple):
        return ("(", *_joined(list(map(_shown, argument)), ", "), ")")
    return (Code(decimal(argument)) if isinstance(argument, Rational) else argument,)


def _joined(sentences: list[tuple[Part, ...]], between: str) -> Iterator[Part]:
    for position, sentence in enumerate(sentences):
        if position:
            yield between
        yield from sentence
