r"""How symbols and operators are spelled in LaTeX: standard amsmath, each with its width in print.

Below latex_printer.py.  An author's own macros, as those of a paper (documents/paper/macros.py), are another `Macros`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from symmem.notation.extent import Extent
from symmem.notation.piece import Piece, above, symbol
from symmem.records import record

LETTERS: Mapping[str, Piece] = {
    "modified loss": symbol(r"\tilde{\mathcal{L}}", 0.72),
    "map loss": symbol(r"\hat{\mathcal{L}}", 0.72),
    "Phi": symbol(r"\Phi", 0.75),
    "Psi": symbol(r"\Psi", 0.78),
    "mu": symbol(r"\mu", 0.64),
    "beta": symbol(r"\beta", 0.64),
    "l": symbol(r"\ell", 0.417),
    "log": symbol(r"\log", 1.7),
    "dots": symbol(r"\ldots", 1.34),
    "partial": symbol(r"\partial", 0.59),
    "F": symbol(r"\boldsymbol{F}", 0.79),
    "M": symbol(r"\boldsymbol{M}", 1.23),
    "G": symbol(r"\boldsymbol{G}", 0.88),
    "d": symbol(r"\boldsymbol{d}", 0.62),
    "lag": symbol("d", 0.52),
    "m": symbol(r"\boldsymbol{m}", 0.99),
}
"""The letters of the theory in LaTeX; one that is not here, such as P, is spelled by its name."""


@record(frozen=True)
class Bars:
    """Bars around a body, and those around one that is tall: what stands before and behind it."""

    plain: tuple[str, str]
    tall: tuple[str, str]
    width: float
    """Of both bars."""

    def around(self, inside: Piece) -> Piece:
        """The body between bars as tall as it is."""
        left, right = self.tall if inside.extent.tall else self.plain
        size = inside.extent
        return Piece(
            left + inside.text + right,
            Extent(size.width + self.width, size.height, size.tall, size.bracket, 0.0, size.raised),
        )


@record(frozen=True)
class Macros:
    """The symbols and operators in LaTeX; an author may pass other ones."""

    lr: Piece = symbol("h", 0.576)
    theta: Piece = symbol(r"\boldsymbol{\theta}", 0.55)
    loss: Piece = symbol(r"\mathcal{L}", 0.72)
    momentum: Piece = LETTERS["m"]
    nabla: Piece = symbol(r"\nabla", 0.833)
    directional: Piece = symbol("D", 0.83)
    transpose: Piece = above(symbol(r"\top", 0.778))
    norm: Bars = Bars((r"\lVert ", r" \rVert"), (r"\left\lVert ", r" \right\rVert"), 1.0)
    absolute: Bars = Bars((r"\lvert ", r" \rvert"), (r"\left\lvert ", r" \right\rvert"), 0.556)
    times: str = r"\times"
    dot: str = r"\cdot"
    step_above: bool = False
    """Whether the step of theta stands above it, in parentheses, or below."""
    letters: Mapping[str, Piece] = field(default_factory=lambda: LETTERS)
