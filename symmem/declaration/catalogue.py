"""The zoo's index: names, families, titles and references, without SymPy, so that ``symmem list`` is immediate.

The index is the folder ``zoo`` itself: one folder for each family, one file for each optimizer.  Nothing is registered.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from symmem.errors import DeclarationError, quote
from symmem.records import record

FAMILIES = ("momentum", "rmsprop", "adam", "sign", "nested", "layerwise", "matrix", "scheduled")
"""The order in which the families are shown; each is a folder of the zoo."""
FIRST = (
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
"""The optimizers that stand first in their family, from the simplest on; the others follow by name."""
_ZOO = Path(__file__).parent / "zoo"


@record(frozen=True)
class ZooEntry:
    """One optimizer of the zoo, as a list shows it."""

    name: str
    family: str
    title: str
    reference: str


@cache
def _places() -> dict[str, Path]:
    """Name -> file of every optimizer, in the order of the zoo."""
    places: dict[str, Path] = {}
    for family in FAMILIES:
        files = {file.stem: file for file in sorted((_ZOO / family).glob("*.toml"))}
        first = [name for name in FIRST if name in files]
        places |= {name: files[name] for name in (*first, *(name for name in files if name not in first))}
    return places


def names(family: str | None = None) -> tuple[str, ...]:
    """The names of the zoo in its order; of one family, where one is given."""
    if family is not None and family not in FAMILIES:
        hint = f"; did you mean {family.casefold()}?" if family.casefold() in FAMILIES else ""
        raise DeclarationError(f"{quote(family)} is not a family; known are {', '.join(FAMILIES)}{hint}")
    return tuple(name for name, file in _places().items() if family in (None, file.parent.name))


def entries(family: str | None = None) -> tuple[ZooEntry, ...]:
    """The zoo in its order, or one family of it."""
    tables = (tomllib.loads(text_of(name)) for name in names(family))
    return tuple(
        ZooEntry(*(table[key] for key in ("name", "family", "title", "reference"))) for table in tables
    )


def text_of(name: str) -> str:
    """The declaration of a zoo optimizer, as TOML."""
    if name not in _places():
        raise DeclarationError(f"{quote(name)} is not in the zoo; see symmem list")
    return _places()[name].read_text(encoding="utf-8")
