"""The errors of symmem: one base class, and messages of one line that name the place and the way out.

Every room may import this module; it imports nothing of the package.
"""

from __future__ import annotations

from datetime import date, time
from decimal import Decimal
from numbers import Integral
from typing import Self

LONGEST_QUOTE = 60
LONGEST_PATH = 200


class SymmemError(Exception):
    """The base of every error that symmem raises on purpose; its text is one printable line."""

    def __init__(self, message: str) -> None:
        super().__init__("".join(map(_printable, message)))

    def within(self, place: str) -> Self:
        """The same error, said from further out: ``place: message``."""
        return type(self)(f"{place}: {self}")


class DeclarationError(SymmemError):
    """A declaration that cannot be read, or that does not describe an optimizer."""


class DerivationError(SymmemError):
    """A question that a derivation cannot answer; the message says why, and what can be asked instead."""


class BudgetError(SymmemError):
    """The seconds or the megabytes of a budget are spent; the message says in what, and what can be asked instead."""


class CompilerError(SymmemError):
    """A compiler rejected what symmem wrote: a failed check, not bad input."""


def check_whole(number: object, least: int, words: str) -> None:
    """DerivationError with these words where a number is no whole one from the least on: int(1.5) would be 1."""
    if not isinstance(number, Integral) or int(number) < least:
        raise DerivationError(words)


def quote(value: object) -> str:
    """A user's own input as it may stand in a message: quoted, escaped, and cut where it is long."""
    text = value if isinstance(value, str) else _representation(value)
    if len(text) > LONGEST_QUOTE:
        text = text[:LONGEST_QUOTE] + "..."
    return f"'{text}'" if isinstance(value, str) else text


def quote_path(path: str) -> str:
    """A path as it may stand in a message: where it is long, its end is kept, which tells it from others."""
    return f"'{path if len(path) <= LONGEST_PATH else '...' + path[-LONGEST_PATH:]}'"


def _representation(value: object) -> str:
    try:
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(map(_representation, value))}]"
        return str(value) if isinstance(value, (Decimal, date, time)) else repr(value)
    except (ValueError, RecursionError):  # an integer of more digits than Python prints, a deep nest
        return f"a {type(value).__name__}"


def _printable(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
