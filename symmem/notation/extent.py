r"""How wide and how tall mathematics is in print, in ems: the model by which brackets are sized and lines are broken.

Computer Modern at 10 pt; the characters' own widths, TeX's spaces around operators, and seven tenths of it all in
scripts, half in scripts of scripts, and nothing is smaller.  Whoever writes a piece of LaTeX (piece.py) puts its
extent together here, from those of its parts.  The
``depth`` counts scripts (2) and fractions (1) around: 0 is TeX's display style, 1 its text style, 2 and more scripts.
A test holds the model against the widths that TeX itself finds.
"""

from __future__ import annotations

from collections.abc import Iterable

from symmem.records import record

SCRIPT_DEPTH = 2
"""From this depth on the type is small, and no spaces stand around operators."""
BINARY, RELATION = 0.444, 0.556
"""TeX's spaces on both sides of + and of =."""

_SMALLER = {0: (0.8, 0.7), 1: (0.8, 0.7), 2: (0.85, 0.72)}
"""By depth, how much narrower and lower the next smaller type is; the design of small type is wider for its size."""
_BAR, _ROOT = 0.24, 0.86
_WIDE_LETTERS = {"m": 0.878, "w": 0.716, "M": 1.08, "W": 1.05}


@record(frozen=True)
class Extent:
    """Width and total height in ems, and what those who stand around have to know."""

    width: float
    height: float = 1.0
    tall: bool = False
    """Whether a fraction or a sum is inside: brackets around it grow."""
    bracket: int = 0
    r"""The size of the largest brackets inside: 1 as letters, 2 \big; the larger ones are seen by their height."""
    script: float = 0.0
    """The width of the script at its end: one on the other side of the line stands above or below it."""
    raised: bool = False
    """Whether a superscript is inside: a second one cannot be written behind it."""

    def small(self, depth: int = 0) -> Extent:
        """The same in a script, or a small fraction, of what stands at the depth."""
        narrower, lower = _SMALLER.get(depth, (1.0, 1.0))
        return Extent(self.width * narrower, self.height * lower, self.tall, self.bracket, 0.0, self.raised)


def scale(depth: int) -> float:
    """How wide the type at the depth is, beside that of the line."""
    return {0: 1.0, 1: 1.0, 2: 0.8}.get(depth, 0.68)


def row(parts: Iterable[Extent]) -> Extent:
    """One behind the other."""
    width, height, tall, bracket, script, raised = 0.0, 1.0, False, 0, 0.0, False
    for part in parts:
        width += part.width
        height = max(height, part.height)
        bracket = max(bracket, part.bracket)
        tall, raised, script = tall or part.tall, raised or part.raised, part.script
    return Extent(width, height, tall, bracket, script, raised)


def script(inside: Extent, raised: bool, depth: int = 0) -> Extent:
    """A script by itself, above (`raised`) or below the line, which is at the depth."""
    small = inside.small(depth)
    width = small.width + 0.05
    return Extent(
        width, 1.1 if small.height < 1 else 1.3, small.tall, small.bracket, width, raised or small.raised
    )


def scripted(base: Extent, mark: Extent) -> Extent:
    """The base with a script: one that stands above another takes no width but what it is wider."""
    both = row((base, mark))
    overlap = min(base.script, mark.script)
    return Extent(
        both.width - overlap, both.height, both.tall, both.bracket, max(base.script, mark.script), both.raised
    )


def fraction(above: Extent, below: Extent, depth: int) -> Extent:
    """With a bar; the parts are those of one depth more."""
    width, height = max(above.width, below.width), above.height + below.height + 0.3
    inside = row((above, below))
    stacked = Extent(width, height, True, inside.bracket, 0.0, inside.raised)
    shown = stacked if depth == 0 else stacked.small(depth)
    # The space at the ends of a bar is the same in every type.
    return Extent(shown.width + _BAR / scale(depth), shown.height, True, shown.bracket, 0.0, shown.raised)


def root(inside: Extent) -> Extent:
    """Under a root."""
    return Extent(inside.width + _ROOT, inside.height + 0.2, inside.tall, inside.bracket, 0.0, inside.raised)


def big_sum(limits: Iterable[Extent], depth: int) -> Extent:
    """The sign with its limits: above and below in display style, at its side elsewhere."""
    inside = [limit.small(depth) for limit in limits]
    widest = max((limit.width for limit in inside), default=0.0)
    bracket = max((limit.bracket for limit in inside), default=0)
    if depth == 0:
        return Extent(max(1.444, widest) + 0.25, 2.2, True, bracket)
    return Extent(1.056 + widest + 0.2, 1.5, True, bracket)


def spaced(glyph: float, space: float, depth: int) -> float:
    """The width of an operator between its operands."""
    return glyph + space if depth < SCRIPT_DEPTH else glyph


def digits(count: int) -> float:
    """The width of a number."""
    return 0.5 * count


def letter(character: str) -> float:
    """The width of one letter of the mathematics, or of text, which is narrower."""
    return _WIDE_LETTERS.get(character) or (0.74 if character.isupper() else 0.56)


def words(text: str) -> float:
    """The width of plain words."""
    return sum(0.34 if character.isspace() else letter(character) for character in text)
