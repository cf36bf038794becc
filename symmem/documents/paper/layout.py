"""What an author asks of a paper beside its methods: the page, the part of the text, and the file of proofs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from symmem.errors import SymmemError, quote
from symmem.notation.latex import TEXT_WIDTH
from symmem.records import record

_POINTS_AN_EM = 10.0
_SAFETY = 0.5
"""Ems that a line stays below its width: the model of widths is that of Computer Modern."""
_NARROWEST, _WIDEST = 200.0, 2000.0
_TWO_COLUMNS_BELOW = 300.0
"""A text so narrow, in points, is taken for one of two columns."""
_BETWEEN = 20.0
"""Between two columns, in points, in a document of ours."""


class Share(Enum):
    """What is written of a paper."""

    WHOLE = "whole"
    STATEMENT = "statement"
    PROOF = "proof"
    LIMIT = "limit"

    @property
    def states(self) -> bool:
        """Whether theorems are stated."""
        return self is not Share.PROOF

    @property
    def proves(self) -> bool:
        """Whether they are proved."""
        return self in (Share.WHOLE, Share.PROOF)


@record(frozen=True)
class Page:
    """The width of a line in ems, and the class that has such lines, with what its preamble needs."""

    width: float = TEXT_WIDTH
    document_class: str = "article"
    options: str = ""
    setting: str = ""
    two_columns: bool = False
    has_amsthm: bool = True
    """Whether amsthm goes with the class; else the class has a proof environment of its own."""

    @property
    def whole_width(self) -> float:
        """Of a float across the page, in ems."""
        return 2 * self.width if self.two_columns else self.width


CLASSES: Mapping[str, Page] = {
    "article": Page(),
    "IEEEtran": Page(252 / 10 - _SAFETY, "IEEEtran", "[journal]", two_columns=True, has_amsthm=False),
    "revtex4-2": Page(246 / 10 - 2 * _SAFETY, "revtex4-2", "[aps,pra,reprint]", two_columns=True),
}
"""Pages by the class of the document; IEEEtran and revtex4-2 with two columns, of 252 pt and 246 pt."""


def page_of(asked: str) -> Page:
    """The page of a class, or of a width in points such as 235 (the column of ICML) or 397 (the line of NeurIPS)."""
    if asked in CLASSES:
        return CLASSES[asked]
    try:
        points = float(asked.removesuffix("pt"))
    except ValueError:
        points = 0.0
    if not _NARROWEST <= points <= _WIDEST:
        known = ", ".join(CLASSES)
        raise SymmemError(
            f"--width {quote(asked)}: give a class ({known}), or the points of a line, from 200 to 2000"
        )
    two = points < _TWO_COLUMNS_BELOW
    lengths = (
        rf"\setlength{{\columnsep}}{{{_BETWEEN:g}pt}}\setlength{{\textwidth}}{{{2 * points + _BETWEEN:g}pt}}"
        if two
        else rf"\setlength{{\textwidth}}{{{points:g}pt}}"
    )
    setting = lengths + r"\setlength{\oddsidemargin}{0pt}"
    return Page(points / _POINTS_AN_EM - _SAFETY, "article", "[twocolumn]" if two else "", setting, two)


@record(frozen=True)
class Checked:
    """A file of machine-checked proofs, and what of a method it proves, as the subject of a sentence in LaTeX."""

    file: str
    subject: str


@record(frozen=True)
class Layout:
    """How the sections of a paper are written."""

    page: Page = Page()
    share: Share = Share.WHOLE
    proofs: Mapping[str, Checked] = field(default_factory=dict)
    """The machine-checked proofs of a method, by the method's name."""
