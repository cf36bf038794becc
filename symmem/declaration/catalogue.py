"""The zoo's index: names, titles and references, without SymPy, so that ``symmem list`` is immediate."""

from __future__ import annotations

import tomllib
from pathlib import Path

from symmem.errors import DeclarationError, quote
from symmem.records import record

NAMES = (
    "gd",
    "heavyball",
    "ema-momentum",
    "ema-momentum-debiased",
    "nesterov",
    "rmsprop",
    "rmsprop-torch",
    "adam",
    "adam-torch",
    "adamw",
    "adamw-torch",
    "nadamw",
    "signum",
    "lion",
    "lion-bc",
    "lion-k",
)
"""The order in which the zoo is shown: from the simplest on."""
_ZOO = Path(__file__).parent / "zoo"


@record(frozen=True)
class Entry:
    """One optimizer of the zoo, as a list shows it."""

    name: str
    title: str
    reference: str


def entries() -> tuple[Entry, ...]:
    """The zoo in its order."""
    tables = (tomllib.loads(text_of(name)) for name in NAMES)
    return tuple(Entry(table["name"], table["title"], table["reference"]) for table in tables)


def text_of(name: str) -> str:
    """The declaration of a zoo optimizer, as TOML."""
    if name not in NAMES:
        raise DeclarationError(f"{quote(name)} is not in the zoo; see symmem list")
    return (_ZOO / f"{name}.toml").read_text(encoding="utf-8")
