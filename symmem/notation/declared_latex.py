r"""The LaTeX of symbols that a user declared, `latex = '\beta_1'`: the one place where LaTeX is read.

Its letters in Unicode, its extent in print, and the potential behind a \nabla.  All LaTeX that this program writes
itself knows its extent from the start (piece.py).
"""

from __future__ import annotations

import re
from functools import lru_cache

from symmem.notation import extent
from symmem.notation.extent import BINARY, RELATION, SCRIPT_DEPTH, Extent
from symmem.notation.glyphs import GREEK, subscript
from symmem.notation.piece import Piece

_READING = re.compile(
    r"\s*(?:\\(?P<font>mathcal|mathbf|mathrm|mathbb|boldsymbol|bm|operatorname)\s*\{(?P<inner>[^{}]*)\}"
    r"|\\(?P<command>[A-Za-z]+)"
    r"|_(?:\{(?P<group>[^{}]*)\}|(?P<single>[A-Za-z0-9]))"
    r"|(?P<prime>')"
    r"|(?P<letters>[A-Za-z0-9]))\s*"
)
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_]|\d+|\S", re.DOTALL)
_SPACED = {
    "+": (0.778, BINARY), "-": (0.778, BINARY), "*": (0.5, BINARY), r"\times": (0.778, BINARY),
    r"\cdot": (0.278, BINARY), r"\pm": (0.778, BINARY), r"\mp": (0.778, BINARY), r"\odot": (0.778, BINARY),
    r"\oplus": (0.778, BINARY), r"\otimes": (0.778, BINARY), r"\circ": (0.5, BINARY), r"\bullet": (0.5, BINARY),
    "=": (0.778, RELATION), "<": (0.778, RELATION), ">": (0.778, RELATION), r"\mid": (0.278, RELATION),
    ",": (0.278, 0.167), ";": (0.278, 0.167),
}  # fmt: skip
"""Glyph and spaces of operators, which have none in scripts."""
_WIDTHS = {
    "/": 0.5, "|": 0.278, "(": 0.389, ")": 0.389, "[": 0.278, "]": 0.278, ".": 0.278, ":": 0.833, "!": 0.278,
    "'": 0.3, r"\{": 0.5, r"\}": 0.5, r"\|": 0.5, r"\,": 0.167, r"\:": 0.222, r"\;": 0.278, r"\!": -0.167,
    r"\ ": 0.333, r"\nabla": 0.833, r"\infty": 1.0, r"\partial": 0.59, r"\top": 0.778, r"\bot": 0.778,
    r"\ell": 0.417, r"\lVert": 0.5, r"\rVert": 0.5, r"\lvert": 0.278, r"\rvert": 0.278, r"\ldots": 1.34,
    r"\cdots": 1.34, r"\Phi": 0.75, r"\Re": 0.73,
}  # fmt: skip
_NAMED = frozenset(rf"\{name}" for name in ("max", "min", "log", "exp", "sup", "inf", "lim"))
_WIDER = {r"\mathbf": 0.1, r"\mathbb": 0.1, r"\operatorname": 0.167}
_FONTS = (
    "mathrm mathit mathsf mathtt mathcal mathfrak mathbf mathbb boldsymbol bm operatorname "
    "text textrm textbf textit texttt textsf"
)
_ACCENTS = "hat widehat bar overline underline tilde widetilde vec dot ddot check breve acute grave mathring"
_AROUND = frozenset(rf"\{name}" for name in f"{_FONTS} {_ACCENTS}".split())
"""Fonts and accents: their argument is as wide as it is."""


def unicode_of(latex: str) -> str | None:
    r"""A Unicode reading of a LaTeX symbol, `\beta_1` -> β₁; None if it has none."""
    result, position = "", 0
    while position < len(latex):
        piece = _READING.match(latex, position)
        if piece is None:
            return None
        position = piece.end()
        found = piece.groupdict()
        index = found["group"] or found["single"]
        if found["font"]:
            inner = unicode_of(found["inner"])
            if inner is None:
                return None
            result += inner
        elif found["command"]:
            if found["command"] not in GREEK:
                return None
            result += GREEK[found["command"]]
        elif index:
            lowered = subscript(index)
            if lowered is None:
                return None
            result += lowered
        else:
            result += "′" if found["prime"] else found["letters"]
    return result or None


def potential_of(latex: str) -> str | None:
    r"""The LaTeX behind a leading \nabla; None where there is no such sign."""
    stripped = latex.strip()
    behind = stripped.removeprefix(r"\nabla").strip()
    return None if behind == stripped else behind


@lru_cache(maxsize=1024)
def declared(latex: str, depth: int) -> Piece:
    """The symbol as it was declared, with its extent at the depth."""
    return Piece(latex, _Measure(_TOKEN.findall(latex), depth).row())


class _Measure:
    """Walks over the tokens once; no symbol is refused here, whatever it is."""

    def __init__(self, tokens: list[str], depth: int) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = depth

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def row(self, end: str = "") -> Extent:
        """Atoms with their scripts, up to the end or to what closes a group."""
        parts: list[Extent] = []
        while self._peek() not in ("", end):
            token = self._next()
            if token in ("^", "_"):
                script = extent.script(self._argument(SCRIPT_DEPTH), token == "^")
                parts.append(extent.scripted(parts.pop() if parts else Extent(0.0), script))
            else:
                parts.append(self._atom(token))
        self._next()
        return extent.row(parts)

    def _argument(self, deeper: int = 0) -> Extent:
        """A group in braces, or one token."""
        self._depth += deeper
        token = self._next()
        found = self.row("}") if token == "{" else self._atom(token) if token else Extent(0.0)
        self._depth -= deeper
        return found

    def _atom(self, token: str) -> Extent:
        if token == "{":
            return self.row("}")
        if token == r"\frac":
            above, below = self._argument(1), self._argument(1)
            return extent.fraction(above, below, self._depth)
        if token == r"\sqrt":
            return extent.root(self._argument())
        if token in (r"\sum", r"\prod", r"\int"):
            return Extent(1.7 if self._depth == 0 else 1.26, 2.2 if self._depth == 0 else 1.5, True)
        if token in _AROUND:
            inside = self._argument()
            return extent.row((Extent(_WIDER.get(token, 0.0)), inside))
        return Extent(self._width(token), bracket=1 if token in ("(", "[") else 0)

    def _width(self, token: str) -> float:
        if token in _SPACED:
            return extent.spaced(*_SPACED[token], self._depth)
        if token in _WIDTHS:
            return _WIDTHS[token]
        if token.isdigit():
            return extent.digits(len(token))
        if token in _NAMED:
            return 0.5 * (len(token) - 1) + 0.2
        return 0.64 if token.startswith("\\") else extent.letter(token)
