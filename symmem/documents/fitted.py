"""A table in the width of a terminal: the columns that cost the fewest lines are narrowed, their long cells wrapped."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from symmem.documents.columns import columns, filled

GAP = "  "
NARROWEST = 4
"""No column is narrower."""
CUT = 10
"""A word that is cut in two counts as so many lines: it is the last thing to do."""


def fitted_table(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """The rows in columns, in lines of at most the width; a row begins on the line of its first cell."""
    by_column = list(zip(*rows, strict=True))
    widths = [max(map(columns, column)) for column in by_column]
    while sum(widths) + len(GAP) * (len(widths) - 1) > width:
        costs = {
            place: _cost(column, size - 1) - _cost(column, size)
            for place, (column, size) in enumerate(zip(by_column, widths, strict=True))
            if size > NARROWEST
        }
        if not costs:
            break
        # Among equals the widest gives way.
        cheapest = min(costs, key=lambda place: (costs[place], -widths[place]))
        widths[cheapest] -= 1
    return [line for row in rows for line in _row(row, widths)]


def _row(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    cells = [_wrapped(cell, size) for cell, size in zip(row, widths, strict=True)]
    height = max(map(len, cells))
    lines = zip(*(cell + [""] * (height - len(cell)) for cell in cells), strict=True)
    return [GAP.join(map(filled, line, widths)).rstrip() for line in lines]


def _wrapped(cell: str, size: int) -> list[str]:
    if columns(cell) <= size:
        return [cell]
    return textwrap.wrap(cell, size, break_on_hyphens=False)


def _cost(column: Sequence[str], size: int) -> int:
    """The lines that the column takes at this width."""
    long = [cell for cell in column if columns(cell) > size]
    cut = sum(columns(word) > size for cell in long for word in cell.split())
    return sum(len(_wrapped(cell, size)) for cell in long) + len(column) - len(long) + CUT * cut
