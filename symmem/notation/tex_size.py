r"""How wide and how tall LaTeX mathematics is in print, in ems: the model by which lines are broken.

Computer Modern at 10 pt in display style; sums of the characters' own widths, TeX's spaces around operators, and
seven tenths of it all in scripts.  A test holds the model against the widths that TeX itself finds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from symmem.records import record

SCRIPT_WIDTH, SCRIPT_HEIGHT = 0.8, 0.7
"""The size of scripts: seven tenths, in a design that is wider for its size."""

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_\[\]]|\s+|\d+|.", re.DOTALL)
_BINARY = 1.222
EQUALS = 1.333
r"""The width of a relation with its spaces: lines behind `&=` begin with it."""
_WIDTHS: Mapping[str, float] = {
    "+": _BINARY, "-": _BINARY, r"\times": _BINARY, r"\cdot": 0.722, "=": EQUALS, r"\leftarrow": 1.556,
    "<": EQUALS, ">": EQUALS, r"\leq": EQUALS, r"\geq": EQUALS,
    r"\to": 1.556, r"\colon": 0.5, ",": 0.445, "/": 0.5, "|": 0.278, "(": 0.389, ")": 0.389, "[": 0.278, "]": 0.278,
    r"\{": 0.5, r"\}": 0.5, r"\nabla": 0.833, r"\infty": 1.0, r"\partial": 0.59, r"\top": 0.778, r"\ell": 0.417,
    r"\lVert": 0.5, r"\rVert": 0.5, r"\lvert": 0.278, r"\rvert": 0.278, r"\,": 0.167, r"\;": 0.278, r"\!": -0.167,
    r"\quad": 1.0, r"\qquad": 2.0, r"\ldots": 1.34, r"\cdots": 1.34, "m": 0.878, "w": 0.716, "M": 1.08, "W": 1.05,
    r"\Phi": 0.75, r"\lr": 0.576, r"\btheta": 0.55, r"\loss": 0.72, r"\modloss": 0.72, r"\mom": 0.99, r"\bF": 0.79,
    r"\bM": 1.23, r"\bG": 0.88, r"\bd": 0.62, r"\gfun": 0.56, r"\update": 0.83, r"\trans": 0.56, r"\dirder": 0.83,
    r"\maploss": 0.72, r"\mappot": 0.78,
    r"\shorthand": 0.576, r"\phantom": 0.0, r"\boldsymbol": 0.0, r"\mathcal": 0.0, r"\mathrm": 0.0, r"\text": 0.0,
    r"\operatorname": 0.167, r"\mathbf": 0.1, r"\mathbb": 0.1, r"\tilde": 0.0, r"\dot": 0.0, r"\hat": 0.0, r"\bar": 0.0,
    r"\displaystyle": 0.0, r"\textstyle": 0.0,
}  # fmt: skip
_SIZES: Mapping[str, tuple[float, float, float]] = {
    "big": (0.458, 0.417, 1.2),
    "Big": (0.597, 0.472, 1.8),
    "bigg": (0.736, 0.528, 2.4),
    "Bigg": (0.792, 0.583, 3.0),
}
"""Sized delimiters: width of a parenthesis, width of a bracket, height."""

_SIZED = re.compile(r"\\(bigg?|Bigg?)[lr]?")
_WORD = re.compile(r"\\[A-Za-z]+")
_FLAT = frozenset("+-=,/")


@record(frozen=True)
class Extent:
    """Width and total height in ems."""

    width: float
    height: float

    def small(self) -> Extent:
        """The same in a script or a small fraction."""
        return Extent(self.width * SCRIPT_WIDTH, self.height * SCRIPT_HEIGHT)


@lru_cache(maxsize=8192)
def extent(source: str, depth: int = 0) -> Extent:
    """The extent of LaTeX in display style (depth 1: inside a fraction); braces are balanced, brackets may be open."""
    return _Measure(_TOKEN.findall(source), depth).row()


def width(source: str) -> float:
    """How wide the source is in print, in ems."""
    return extent(source).width


def height(source: str, depth: int = 0) -> float:
    """How high the source is in print, in ems."""
    return extent(source, depth).height


class _Measure:
    """Walks over the tokens once; `depth` counts scripts and fractions around."""

    def __init__(self, tokens: list[str], depth: int) -> None:
        self._tokens = tokens
        self._position = 0
        self._depth = depth

    def _next(self) -> str:
        self._position += 1
        return self._tokens[self._position - 1]

    def _peek(self) -> str:
        while self._position < len(self._tokens) and self._tokens[self._position].isspace():
            self._position += 1
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def row(self, end: str = "") -> Extent:
        """Everything up to the end, or to the token that closes a group."""
        total, tallest = 0.0, 1.0
        while self._peek() not in ("", end):
            part = self._piece(self._next())
            total, tallest = total + part.width, max(tallest, part.height)
        if end and self._peek() == end:
            self._next()
        return Extent(total, tallest)

    def _group(self, depth: int = 0) -> Extent:
        """The next argument: a group in braces, or one token."""
        self._depth += depth
        opening = self._peek()
        if opening:
            self._next()
        part = self.row("}") if opening == "{" else self._piece(opening) if opening else Extent(0, 1)
        self._depth -= depth
        return part

    def _piece(self, token: str) -> Extent:
        if token == "{":
            return self.row("}")
        if token in ("^", "_"):
            return self._script(token)
        if token in (r"\frac", r"\tfrac", r"\dfrac"):
            return self._fraction()
        if token == r"\sqrt":
            inside = self._group()
            return Extent(inside.width + 0.86, inside.height + 0.2)
        if token in (r"\norm", r"\abs"):
            return self._delimited(1.0 if token == r"\norm" else 0.556)
        if token in (r"\sum", r"\prod"):
            return self._sum()
        if sized := _SIZED.fullmatch(token):
            round_, square, tall = _SIZES[sized[1]]
            return Extent(round_ if self._next() in "()" else square, tall)
        if token in (r"\hspace", r"\label"):
            self._group()
            return Extent(0, 1)
        return Extent(self._letter(token), 1.0)

    def _letter(self, token: str) -> float:
        if self._depth > 1 and token in _FLAT:  # no spaces around operators in scripts
            return 0.778 if token in "+-=" else 0.5
        if token in _WIDTHS:
            return _WIDTHS[token]
        if token.isdigit():
            return 0.5 * len(token)
        if _WORD.fullmatch(token):
            known = token[1:] in ("log", "exp", "tanh", "max", "min", "sinh", "cosh", "sin", "cos", "tan")
            return 0.5 * (len(token) - 1) + 0.2 if known else 0.64
        return 0.74 if token.isupper() else 0.56

    def _script(self, mark: str) -> Extent:
        """A script; a second one above or below the first takes its width only where it is wider."""
        first = self._group(2).small()
        if self._peek() in ("^", "_") and self._peek() != mark:
            self._next()
            second = self._group(2).small()
            first = Extent(max(first.width, second.width), max(first.height, second.height))
        return Extent(first.width + 0.05, 1.1 if first.height < 1 else 1.3)

    def _fraction(self) -> Extent:
        above, below = self._group(1), self._group(1)
        stacked = Extent(max(above.width, below.width), above.height + below.height + 0.3)
        shown = stacked if self._depth == 0 else stacked.small()
        return Extent(shown.width + 0.24, shown.height)

    def _delimited(self, bars: float) -> Extent:
        if self._peek() == "[":
            while self._next() != "]":
                pass
        inside = self._group()
        return Extent(inside.width + bars, inside.height)

    def _sum(self) -> Extent:
        """The sign with its limits: above and below in display style, at its side elsewhere."""
        limits = [0.0]
        while self._peek() in ("^", "_"):
            self._next()
            limits.append(self._group(2).width * SCRIPT_WIDTH)
        if self._depth == 0:
            return Extent(max(1.444, *limits) + 0.25, 2.2)
        return Extent(1.056 + max(limits) + 0.2, 1.5)
