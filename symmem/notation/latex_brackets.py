r"""Brackets and bars in LaTeX, as tall as what they enclose.

On one line they grow by themselves (\left( \right)); in lines they have a fixed size (\biggl( \biggr)), so that a line
may end between them.
"""

from __future__ import annotations

import re

from symmem.notation.layout import Cat, Doc, flat
from symmem.notation.tex_size import height
from symmem.records import record

_TALL = re.compile(r"\\frac|\\sum|\\left")
_PLAIN = re.compile(r"(?<![lr])[(\[]")


@record(frozen=True)
class Brackets:
    """`fixed`: with fixed sizes; `depth`: 1 inside a fraction, where fractions are small."""

    fixed: bool
    depth: int

    def around(self, body: Doc, left: str = "(", right: str = ")") -> Doc:
        """The body between brackets that are as large as it is."""
        inside = flat(body)
        if self.fixed:
            size = self._size(inside)
            opening, closing = (f"\\{size}l{left}", f"\\{size}r{right}") if size else (left, right)
            return Cat((opening, body, closing))
        if _TALL.search(inside):
            return Cat((rf"\left{left} ", body, rf" \right{right}"))
        return Cat((rf"\bigl{left}", body, rf"\bigr{right}") if "(" in inside else (left, body, right))

    def _size(self, inside: str) -> str:
        """The size of brackets of one height with what they enclose, and larger than brackets inside."""
        tall = height(inside, self.depth)
        if tall < 1.35:
            return "Big" if r"\bigl" in inside else "big" if _PLAIN.search(inside) else ""
        return "Big" if tall < 1.7 else "bigg" if tall < 2.9 else "Bigg"


def between(bars: tuple[str, str], inside: str) -> str:
    """Between bars, which are a pair of delimiters, or a macro with an optional size."""
    left, right = bars
    if not _TALL.search(inside):
        return left + inside + right
    if left.endswith("{"):
        return rf"{left[:-1]}[\bigg]{{{inside}{right}"
    return rf"\left{left}{inside} \right{right.strip()}"
