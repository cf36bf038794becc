r"""Formula tree -> LaTeX, whole or broken into lines for `align`.

latex_printer.py spells the tree, latex_brackets.py sizes its brackets, layout.py breaks the lines.
"""

from __future__ import annotations

from collections.abc import Mapping

from symmem.notation.latex_printer import LatexPrinter
from symmem.notation.layout import Page, Ruler, flat, laid_out
from symmem.notation.symbols import Functions, Macros, Speller
from symmem.notation.tex_size import width
from symmem.notation.writable import Writable, formula_of

TEXT_WIDTH = 32.5
r"""The \textwidth of article, at each of its sizes, is 32.8 ems or more."""

_EMS = Ruler(width, lambda ems: r"\quad " * round(ems), step=1)


def latex(
    written: Writable,
    *,
    names: Mapping[str, str],
    functions: Functions | None = None,
    macros: Macros | None = None,
    arguments: bool = False,
) -> str:
    """An expression or a formula as LaTeX for math mode; the keywords are those of `text`, and the author's macros."""
    printer = LatexPrinter(Speller(names, functions or {}, macros or Macros(), arguments))
    return flat(printer.doc(formula_of(written, names, functions or {})))


def latex_lines(
    written: Writable,
    *,
    names: Mapping[str, str],
    functions: Functions | None = None,
    macros: Macros | None = None,
    arguments: bool = False,
    ems: float = TEXT_WIDTH,
    start: float = 0,
) -> tuple[str, ...]:
    r"""The LaTeX in lines of at most `ems` in print, broken where a person would; `start` is taken on the first.

    Each line after the first begins with a \quad and its operator, so that `" \\\\\n& ".join(lines)` behind
    `M &= ` is the body of an `aligned`.
    """
    printer = LatexPrinter(Speller(names, functions or {}, macros or Macros(), arguments), fixed=True)
    doc = printer.doc(formula_of(written, names, functions or {}))
    pages = [Page(_EMS, ems, limit, short) for limit, short in ((6, 6), (3, 6), (2, 4), (1, 4), (1, -1))]
    return tuple(laid_out(doc, pages, start))
