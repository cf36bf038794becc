"""Words in the columns of a terminal: how wide they are, tables, wrapping, and what is left of them in ASCII."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

from symmem.records import record

_PLAIN = str.maketrans({"–": "-", "—": "-", "−": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "…": "..."})
_NO_BREAK = "\N{NO-BREAK SPACE}"


@record(frozen=True)
class Style:
    """What the terminal can show."""

    width: int = 80
    unicode: bool = True
    colour: bool = False

    def plain(self, words: str) -> str:
        """Somebody's words, in the alphabet of the terminal."""
        return words if self.unicode else in_ascii(words)


def columns(words: str) -> int:
    """How many columns of a terminal the words take: a combining character takes none."""
    return sum(not unicodedata.combining(character) for character in words)


def filled(words: str, size: int) -> str:
    """The words, with blanks up to the size."""
    return words + " " * (size - columns(words))


def table(rows: Sequence[Sequence[str]], indent: str) -> list[str]:
    """The rows in columns that are as wide as their widest cell."""
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    return [indent + "  ".join(map(filled, row, widths)).rstrip() for row in rows]


def unbroken(formula: str) -> str:
    """A formula that `wrapped` keeps on one line."""
    return formula.replace(" ", _NO_BREAK)


def wrapped(words: str, width: int, first: str, later: str) -> list[str]:
    """The words in lines of at most the width, behind the one and the other indent."""
    lines = textwrap.wrap(words, width, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)
    return [line.replace(_NO_BREAK, " ") for line in lines]


def in_ascii(words: str) -> str:
    """Letters without their accents; what has no ASCII form is written by its number."""
    flat = unicodedata.normalize("NFKD", words.translate(_PLAIN))
    bare = "".join(character for character in flat if not unicodedata.combining(character))
    return bare.encode("ascii", "backslashreplace").decode("ascii")
