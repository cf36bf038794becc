"""The works that an optimizer comes from, as data for BibTeX: ``[citation.kingma2015]`` in a declaration."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from symmem.declaration.names import check_line, suggestion
from symmem.errors import DeclarationError, quote
from symmem.records import record

TYPES = ("article", "inproceedings", "book", "techreport", "phdthesis", "misc")
FIELDS = (
    "author", "title", "year", "journal", "booktitle", "volume", "number", "pages", "publisher", "school",
    "institution", "howpublished", "note", "doi", "url",
)  # fmt: skip
ADDRESSES = ("doi", "url")
r"""Fields that are copied into a .bib as they stand, since \url reads them so."""
MEMORY_KEY = "cattaneo2025"
"""The key of the paper that every bibliography has."""
_ADDRESS = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!&'()*+,;=-]|%[0-9A-Fa-f]{2})+")
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9:_-]{0,63}")


@record(frozen=True)
class Citation:
    """One entry of a bibliography: its key, its type, and its fields, as plain text, in their order."""

    key: str
    type: str
    fields: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not _KEY.fullmatch(self.key):
            raise DeclarationError(
                f"{quote(self.key)} is not a key; use a letter, then letters, digits, :, _ and -, at most 64"
            )
        if self.type not in TYPES:
            raise DeclarationError(f"type: {quote(self.type)} is unknown; known are {', '.join(TYPES)}")
        for name, value in self.fields:
            if name not in FIELDS:
                raise DeclarationError(
                    f"unknown key {quote(name)}; known are {', '.join(FIELDS)}{suggestion(name, FIELDS)}"
                )
            check_line(name, value)
            if name in ADDRESSES and not _ADDRESS.fullmatch(value):
                raise DeclarationError(
                    f"{name}: {quote(value)} is not an address; write other characters as %20, %7B, ..."
                )
        names = [name for name, _ in self.fields]
        if len({*names}) < len(names):
            raise DeclarationError("a field stands twice; give each once")
        for name in ("title",) if self.type == "misc" else ("author", "title", "year"):
            if not dict(self.fields).get(name):
                raise DeclarationError(f"{name} is missing; a citation has author, title and year")

    def __getitem__(self, field: str) -> str:
        """The field, empty where there is none."""
        return dict(self.fields).get(field, "")


def read_citations(given: object) -> tuple[Citation, ...]:
    """Citation records, or a mapping key -> mapping with type and the fields."""
    if isinstance(given, Mapping):
        return _distinct([_citation(key, entry) for key, entry in given.items()])
    if isinstance(given, (tuple, list)) and all(isinstance(entry, Citation) for entry in given):
        return _distinct(given)
    raise DeclarationError(
        f"citation: {quote(given)} is not a table; write [citation.name2020] with author, title, year"
    )


def _distinct(works: Sequence[Citation]) -> tuple[Citation, ...]:
    """BibTeX takes keys that differ in case alone for one."""
    seen = {MEMORY_KEY}
    for work in works:
        if work.key.lower() in seen:
            raise DeclarationError(f"citation: the key {quote(work.key)} is taken; choose another")
        seen.add(work.key.lower())
    return tuple(works)


def _citation(key: object, entry: object) -> Citation:
    if isinstance(entry, Citation):
        return entry
    try:
        if not isinstance(entry, Mapping):
            raise DeclarationError(f"expected a table, got {quote(entry)}; write [citation.{key}]")
        fields = tuple((str(name), value) for name, value in entry.items() if name != "type")
        return Citation(str(key), str(entry.get("type", "misc")), fields)
    except DeclarationError as error:
        raise error.within(f"citation: {key}") from None
