"""Line breaking: a document of pieces and possible breaks -> lines within a width.

Below text.py and latex.py.  A document is a leaf (unbreakable), a `Cat` of documents, a `Fill`: items packed into
lines, with breaks between them, or a `Choice`: another document where the first does not fit on a line.  A leaf is a
string, which is as wide as it has columns, or a `Piece` of LaTeX, which knows its width in ems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import TypeAlias

from symmem.notation.piece import Piece
from symmem.records import record

Leaf: TypeAlias = str | Piece


@record(frozen=True, eq=False)
class Cat:
    """Documents side by side."""

    parts: tuple[Doc, ...]


@record(frozen=True, eq=False)
class Item:
    """One item of a fill, with what stands before it: on the same line, or at the head of a new line."""

    flat: Leaf
    broken: Leaf
    body: Doc


@record(frozen=True, eq=False)
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


@record(frozen=True, eq=False)
class Choice:
    """`whole` where it fits on a line, else `broken`, which says the same and can be broken."""

    whole: Leaf
    broken: Doc


Doc: TypeAlias = "Leaf | Cat | Fill | Choice"


@record(frozen=True)
class Ruler:
    """How a line is moved in by a given size.

    With a `step` every nested fill moves its new lines one step further in; without, they stand under its own first
    column, which needs exact sizes.
    """

    indent: Callable[[float], str]
    step: float | None = None


COLUMNS = Ruler(lambda columns: " " * int(columns))


@record(frozen=True)
class Line:
    """A line as it stands in the source, and its size in print."""

    source: str
    size: float


@record(frozen=True)
class Page:
    """The room: no line beyond `width`; new lines start at `limit` at most."""

    ruler: Ruler
    width: float
    limit: float
    short: float
    _known: dict[int, float] = field(default_factory=dict)

    def margin(self, column: float, hang: float, outer: float) -> float:
        """Where the new lines of a fill start, which begins at `column` inside lines that start at `outer`."""
        step = self.ruler.step
        return min(column + hang if step is None else outer + step, self.limit)

    def size(self, doc: Doc) -> float:
        """The size of the document on one line; documents live as long as the page."""
        if isinstance(doc, str):
            return len(doc)
        if isinstance(doc, Piece):
            return doc.extent.width
        if id(doc) not in self._known:
            self._known[id(doc)] = self._measured(doc)
        return self._known[id(doc)]

    def _measured(self, doc: Cat | Fill | Choice) -> float:
        if isinstance(doc, Choice):
            return self.size(doc.whole)
        if isinstance(doc, Cat):
            return sum(map(self.size, doc.parts))
        first, *rest = doc.items
        return self.size(first.body) + sum(self.size(item.flat) + self.size(item.body) for item in rest)


def leaves(doc: Doc) -> Iterator[Leaf]:
    """The leaves of the document on one line, from left to right."""
    if isinstance(doc, (str, Piece)):
        yield doc
    elif isinstance(doc, Choice):
        yield doc.whole
    elif isinstance(doc, Cat):
        for part in doc.parts:
            yield from leaves(part)
    else:
        first, *rest = doc.items
        yield from leaves(first.body)
        for item in rest:
            yield item.flat
            yield from leaves(item.body)


def source(leaf: Leaf) -> str:
    """The leaf as it is written."""
    return leaf if isinstance(leaf, str) else leaf.text


def flat(doc: Doc) -> str:
    """The document on one line."""
    return doc if isinstance(doc, str) else "".join(map(source, leaves(doc)))


def _head(doc: Doc, page: Page) -> tuple[float, bool]:
    """The size up to the first possible break, and whether there is one."""
    if isinstance(doc, (str, Piece, Choice)):
        return page.size(doc), False
    parts = doc.parts if isinstance(doc, Cat) else (doc.items[0].body,)
    total = 0.0
    for part in parts:
        size, breaks = _head(part, page)
        total += size
        if breaks:
            return total, True
    return total, isinstance(doc, Fill) and len(doc.items) > 1


def _joined(lines: list[Line], more: list[Line]) -> list[Line]:
    seam = Line(lines[-1].source + more[0].source, lines[-1].size + more[0].size)
    return [*lines[:-1], seam, *more[1:]]


def _column(lines: list[Line], start: float) -> float:
    """The column behind the last line; only the first line begins at `start`."""
    return lines[-1].size + (start if len(lines) == 1 else 0)


def _lay(doc: Doc, column: float, tail: float, page: Page, outer: float) -> list[Line]:
    """Lines of the document that starts at `column` and has `tail` columns glued behind it."""
    size = page.size(doc)
    if isinstance(doc, (str, Piece)) or column + size + tail <= page.width:
        return [Line(flat(doc), size)]
    if isinstance(doc, Choice):
        return _lay(doc.broken, column, tail, page, outer)
    lay = _lay_cat if isinstance(doc, Cat) else _lay_fill
    return lay(doc, column, tail, page, outer)  # type: ignore[arg-type]  # each is given its own kind


def _lay_cat(doc: Cat, column: float, tail: float, page: Page, outer: float) -> list[Line]:
    lines = [Line("", 0)]
    for position, part in enumerate(doc.parts):
        glued, breaks = _head(Cat(doc.parts[position + 1 :]), page)
        more = _lay(part, _column(lines, column), glued + (0 if breaks else tail), page, outer)
        lines = _joined(lines, more)
    return lines


def _lay_fill(doc: Fill, column: float, tail: float, page: Page, outer: float) -> list[Line]:
    """Items packed into lines, each on the present line if it fits there, else on a new one.

    With a width of 12, ``Fill((a, + bbbb, + cccccc))`` behind "x = ":

        x = a + bbbb         a and + bbbb fit
            + cccccc         a new line, under the first item, beginning with its own sign
    """
    margin = page.margin(column, doc.hang, outer)
    lines = [Line("", 0)]
    in_pieces = False
    for position, item in enumerate(doc.items):
        glued = tail if position == len(doc.items) - 1 else 0
        before = Line(source(item.flat), page.size(item.flat)) if position else Line("", 0)
        head = Line(page.ruler.indent(margin) + source(item.broken), margin + page.size(item.broken))
        here = _column(lines, column) + before.size
        size = page.size(item.body) + glued
        fits_here, fits_below = here + size <= page.width, head.size + size <= page.width
        behind_little = doc.stay and here - column <= page.short and not fits_below
        no_gain = head.size >= here
        stays = position == 0 or (not in_pieces and (fits_here or behind_little or no_gain))
        start = here if stays else head.size
        more = _lay(item.body, start, glued, page, margin)
        lines = _joined(lines, _joined([before], more)) if stays else [*lines, *_joined([head], more)]
        in_pieces = len(more) > 1 and not doc.tight
    return lines


def laid_out(doc: Doc, pages: list[Page], start: float) -> list[Line]:
    """The lines behind a beginning of size `start`, on the first page without an overfull line, else the best."""
    best: tuple[float, list[Line]] | None = None
    for page in pages:
        lines = _lay(doc, start, 0, page, 0)
        sizes = [start + lines[0].size, *(line.size for line in lines[1:])]
        overfull = max(0.0, max(sizes) - page.width)
        if best is None or overfull < best[0]:
            best = (overfull, lines)
        if overfull == 0:
            break
    assert best is not None
    return best[1]


def layout(doc: Doc, width: int, prefix: str = "") -> str:
    """The document in lines of text of at most `width` columns, unless one unbreakable piece is wider.

    Lines are aligned behind the opening bracket; where that leaves too little room the margin is moved
    left, step by step, and the first margin without an overfull line is taken.
    """
    limits = [(width, 8), (width // 2, 8), (width // 4, 8), (4, 8), (0, -1)]
    pages = [Page(COLUMNS, width, limit, short) for limit, short in limits]
    first, *others = (line.source for line in laid_out(doc, pages, len(prefix)))
    return "\n".join(line.rstrip() for line in [prefix + first, *others])
