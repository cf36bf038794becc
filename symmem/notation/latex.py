r"""Formula tree -> LaTeX, whole or broken into lines for `align`.

latex_printer.py spells the tree, latex_brackets.py sizes its brackets, layout.py breaks the lines.
"""

from __future__ import annotations

from symmem.notation.latex_printer import LatexPrinter
from symmem.notation.latex_symbols import LatexSpeller
from symmem.notation.layout import Line, Page, Ruler, laid_out
from symmem.notation.macros import Macros
from symmem.notation.piece import QUAD, Piece
from symmem.notation.symbols import Functions, Names
from symmem.notation.writable import Writable, formula_of

TEXT_WIDTH = 32.5
r"""The \textwidth of article, at each of its sizes, is 32.8 ems or more."""

_EMS = Ruler(lambda ems: QUAD.text * round(ems), step=QUAD.width)


def piece(written: Writable, speller: LatexSpeller) -> Piece:
    """An expression or a formula as LaTeX for math mode, with its extent."""
    return LatexPrinter(speller).line(formula_of(written, speller.names, speller.functions))


def lines(written: Writable, speller: LatexSpeller, ems: float, start: float = 0) -> tuple[Line, ...]:
    r"""LaTeX in lines of at most `ems` in print, broken where a person would; `start` is taken on the first.

    Each line after the first begins with a \quad and its operator, so that `" \\\\\n& ".join(...)` of their sources
    behind `M &= ` is the body of an `aligned`.
    """
    doc = LatexPrinter(speller, fixed=True).doc(formula_of(written, speller.names, speller.functions))
    pages = [Page(_EMS, ems, limit, short) for limit, short in ((6, 6), (3, 6), (2, 4), (1, 4), (1, -1))]
    return tuple(laid_out(doc, pages, start))


def latex(
    written: Writable,
    *,
    names: Names,
    functions: Functions | None = None,
    macros: Macros | None = None,
    arguments: bool = False,
) -> str:
    """An expression or a formula as LaTeX; the keywords are those of `text`, and the author's macros."""
    return piece(written, LatexSpeller(names, functions or {}, arguments, macros or Macros())).text


def latex_lines(
    written: Writable, *, names: Names, functions: Functions | None = None, ems: float = TEXT_WIDTH
) -> tuple[str, ...]:
    """The same in lines of at most `ems`."""
    return tuple(line.source for line in lines(written, LatexSpeller(names, functions or {}), ems))
