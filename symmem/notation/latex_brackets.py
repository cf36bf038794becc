r"""Brackets in LaTeX, as tall as what they enclose.

On one line they grow by themselves (\left( \right)); in lines they have a fixed size (\biggl( \biggr)), so that a line
may end between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from symmem.notation.extent import Extent, scale
from symmem.notation.layout import Cat, Doc, leaves
from symmem.notation.piece import Piece, joined, row
from symmem.records import record

_SIZES: Mapping[str, tuple[float, float, float, int]] = {
    "": (0.389, 0.278, 1.0, 1),
    "big": (0.458, 0.417, 1.2, 2),
    "Big": (0.597, 0.472, 1.8, 3),
    "bigg": (0.736, 0.528, 2.4, 4),
    "Bigg": (0.792, 0.583, 3.0, 5),
}
"""By size: width of a parenthesis, width of a square bracket, height, rank."""


def whole(doc: Doc) -> Piece:
    """A document of LaTeX on one line; all its leaves are pieces."""
    return doc if isinstance(doc, Piece) else joined(cast(Piece, leaf) for leaf in leaves(doc))


@record(frozen=True)
class Brackets:
    """`fixed`: with fixed sizes; else on one line they grow.  Small type has brackets of the same sizes."""

    fixed: bool
    depth: int = 0

    def around(self, body: Doc, left: str = "(", right: str = ")") -> Doc:
        """The body between brackets that are as large as it is."""
        inside = whole(body).extent
        if self.fixed:
            size = _size(inside)
            commands = (rf"\{size}l{left}", rf"\{size}r{right}") if size else (left, right)
        elif inside.tall:
            size = _size(inside)
            commands = rf"\left{left} ", rf" \right{right}"
        else:
            size = "big" if inside.bracket else ""
            commands = (rf"\bigl{left}", rf"\bigr{right}") if size else (left, right)
        opening, closing = (_bracket(command, left == "(", size, self.depth) for command in commands)
        return Cat((opening, body, closing))


def bracket(character: str) -> Piece:
    """One bracket of the size of letters."""
    return _bracket(character, character in ("(", ")"), "")


def in_parentheses(inside: Piece) -> Piece:
    """Between parentheses of the size of letters."""
    return row(bracket("("), inside, bracket(")"))


def _bracket(command: str, is_round: bool, size: str, depth: int = 0) -> Piece:
    """Its width is said in the type of its depth, and made smaller with what stands around it."""
    round_, square, height, rank = _SIZES[size]
    width = (round_ if is_round else square) / (scale(depth) if size else 1)
    return Piece(command, Extent(width, height, bracket=rank))


def _size(inside: Extent) -> str:
    """The size of brackets of one height with what they enclose, and larger than brackets inside."""
    if inside.height < 1.35:
        return ("", "big", "Big")[min(inside.bracket, 2)]
    return "Big" if inside.height < 1.7 else "bigg" if inside.height < 2.9 else "Bigg"
