r"""A piece of LaTeX that knows how large it is in print: the text beside its extent, put together in one step.

Below latex_printer.py, which makes pieces of a formula.  What is written and how large it is are never told apart, so
that nobody has to read LaTeX to measure it:

    fraction(number(1), symbol(r"\beta", 0.566), 0)     \frac{1}{\beta}, 0.81 ems wide
"""

from __future__ import annotations

from collections.abc import Iterable

from symmem.notation import extent
from symmem.notation.extent import BINARY, RELATION, Extent
from symmem.records import record


@record(frozen=True)
class Piece:
    """LaTeX for math mode, and its extent."""

    text: str
    extent: Extent

    @property
    def width(self) -> float:
        """Its width in ems."""
        return self.extent.width


def symbol(text: str, width: float) -> Piece:
    """A sign of one height with the letters."""
    return Piece(text, Extent(width))


NOTHING, SPACE = symbol("", 0.0), symbol(" ", 0.0)
QUAD = symbol(r"\quad ", 1.0)


def number(value: int) -> Piece:
    """A natural number."""
    return symbol(str(value), extent.digits(len(str(value))))


def words(text: str) -> Piece:
    """Plain words among the mathematics."""
    # A single word is upright also where the text around it is in italics.
    command = r"\text" if " " in text else r"\mathrm"
    return symbol(rf"{command}{{{text}}}", extent.words(text))


def row(*parts: Piece) -> Piece:
    """One behind the other."""
    return joined(parts)


def joined(parts: Iterable[Piece]) -> Piece:
    """The same for any number of them."""
    known = tuple(parts)
    return Piece("".join(part.text for part in known), extent.row(part.extent for part in known))


def listed(parts: Iterable[Piece], depth: int) -> Piece:
    """With commas between them."""
    comma = symbol(", ", extent.spaced(0.278, 0.167, depth))
    first, *rest = parts
    return joined([first, *(part for other in rest for part in (comma, other))])


def above(inside: Piece, depth: int = 0) -> Piece:
    """A superscript by itself, to stand behind what it raises at the depth; the inside was made at script depth."""
    return Piece(f"^{{{inside.text}}}", extent.script(inside.extent, True, depth))


def below(inside: Piece, depth: int = 0) -> Piece:
    """A subscript by itself."""
    return Piece(f"_{{{inside.text}}}", extent.script(inside.extent, False, depth))


def scripted(base: Piece, script: Piece) -> Piece:
    """A script at its base."""
    return Piece(base.text + script.text, extent.scripted(base.extent, script.extent))


def fraction(numerator: Piece, denominator: Piece, depth: int) -> Piece:
    r"""One \frac at the depth; its parts were made one deeper."""
    size = extent.fraction(numerator.extent, denominator.extent, depth)
    return Piece(rf"\frac{{{numerator.text}}}{{{denominator.text}}}", size)


def root(radicand: Piece) -> Piece:
    r"""One \sqrt."""
    return Piece(rf"\sqrt{{{radicand.text}}}", extent.root(radicand.extent))


def big_sum(lower: Piece, upper: Piece | None, depth: int, sign: str = r"\sum") -> Piece:
    r"""The sign of a sum, or of a product, with its limits, which were made at script depth."""
    limits = (lower,) if upper is None else (lower, upper)
    text = rf"{sign}_{{{lower.text}}}" + ("" if upper is None else f"^{{{upper.text}}}")
    return Piece(text, extent.big_sum((limit.extent for limit in limits), depth))


def binary(sign: str, glyph: float, depth: int) -> Piece:
    """An operator between two operands."""
    return symbol(f" {sign} ", extent.spaced(glyph, BINARY, depth))


def relation(sign: str, glyph: float, depth: int) -> Piece:
    """A relation between two sides."""
    return symbol(f" {sign} ", extent.spaced(glyph, RELATION, depth))


def equals(depth: int) -> Piece:
    """The sign that most lines begin with."""
    return relation("=", 0.778, depth)


EQUALS = equals(0).width
r"""The width of a relation with its spaces: lines behind `&=` begin with it."""
