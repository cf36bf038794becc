"""Line breaking: a document of pieces and possible breaks -> lines within a width.

Below text.py.  A document is a string (unbreakable), a `Cat` of documents, or a `Fill`: items packed into
lines, with breaks between them, continued under its own first column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Cat:
    """Documents side by side."""

    parts: tuple[Doc, ...]


@dataclass(frozen=True)
class Item:
    """One item of a fill, with what stands before it: on the same line, or at the head of a new line."""

    flat: str
    broken: str
    body: Doc


@dataclass(frozen=True)
class Fill:
    """Items packed into lines; a new line starts `hang` columns behind the first item's column.

    An item that fits on no line of its own stays behind a short beginning (a lone h) if `stay`, and is
    broken inside; else it gets a new line first.  Behind an item in several lines a new line is begun,
    unless the items are `tight`, as the two sides of a slash.
    """

    items: tuple[Item, ...]
    hang: int = 0
    stay: bool = False
    tight: bool = False


Doc: TypeAlias = "str | Cat | Fill"


@dataclass(frozen=True)
class Page:
    """The room: no line beyond `width`; new lines start at column `limit` at most."""

    width: int
    limit: int
    short: int


def flat(doc: Doc) -> str:
    """The document on one line."""
    if isinstance(doc, str):
        return doc
    if isinstance(doc, Cat):
        return "".join(flat(part) for part in doc.parts)
    first, *rest = doc.items
    return flat(first.body) + "".join(item.flat + flat(item.body) for item in rest)


def _head(doc: Doc) -> tuple[int, bool]:
    """Columns up to the first possible break, and whether there is one."""
    if isinstance(doc, str):
        return len(doc), False
    parts = doc.parts if isinstance(doc, Cat) else (doc.items[0].body,)
    total = 0
    for part in parts:
        columns, breaks = _head(part)
        total += columns
        if breaks:
            return total, True
    return total, isinstance(doc, Fill) and len(doc.items) > 1


def _joined(lines: list[str], more: list[str]) -> list[str]:
    return [*lines[:-1], lines[-1] + more[0], *more[1:]]


def _column(lines: list[str], start: int) -> int:
    """The column behind the last line; only the first line begins at `start`."""
    return len(lines[-1]) + (start if len(lines) == 1 else 0)


def _lay(doc: Doc, column: int, tail: int, page: Page) -> list[str]:
    """Lines of the document that starts at `column` and has `tail` columns glued behind it."""
    line = flat(doc)
    if isinstance(doc, str) or column + len(line) + tail <= page.width:
        return [line]
    return _lay_cat(doc, column, tail, page) if isinstance(doc, Cat) else _lay_fill(doc, column, tail, page)


def _lay_cat(doc: Cat, column: int, tail: int, page: Page) -> list[str]:
    lines = [""]
    for position, part in enumerate(doc.parts):
        glued, breaks = _head(Cat(doc.parts[position + 1 :]))
        more = _lay(part, _column(lines, column), glued + (0 if breaks else tail), page)
        lines = _joined(lines, more)
    return lines


def _lay_fill(doc: Fill, column: int, tail: int, page: Page) -> list[str]:
    margin = min(column + doc.hang, page.limit)
    lines: list[str] = [""]
    in_pieces = False
    for position, item in enumerate(doc.items):
        glued = tail if position == len(doc.items) - 1 else 0
        before = item.flat if position else ""
        here = _column(lines, column) + len(before)
        size = len(flat(item.body)) + glued
        new_line_size = margin + len(item.broken) + size
        short = doc.stay and here - column <= page.short and new_line_size > page.width
        no_gain = margin + len(item.broken) >= here
        if position == 0 or (not in_pieces and (here + size <= page.width or short or no_gain)):
            more = _lay(item.body, here, glued, page)
            lines = _joined(lines, [before + more[0], *more[1:]])
        else:
            head = " " * margin + item.broken
            more = _lay(item.body, len(head), glued, page)
            lines = [*lines, head + more[0], *more[1:]]
        in_pieces = len(more) > 1 and not doc.tight
    return lines


def layout(doc: Doc, width: int, prefix: str = "") -> str:
    """The document in lines of at most `width` columns, unless one unbreakable piece is wider.

    Lines are aligned behind the opening bracket; where that leaves too little room the margin is moved
    left, step by step, and the first margin without an overfull line is taken.
    """
    pages = [Page(width, limit, 8) for limit in (width, width // 2, width // 4, 4)] + [Page(width, 0, -1)]
    best: tuple[int, str] | None = None
    for page in pages:
        lines = _lay(doc, len(prefix), 0, page)
        lines[0] = prefix + lines[0]
        overfull = max(0, max(len(line) for line in lines) - width)
        if best is None or overfull < best[0]:
            best = (overfull, "\n".join(line.rstrip() for line in lines))
        if overfull == 0:
            break
    assert best is not None
    return best[1]
