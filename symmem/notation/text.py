"""Formula tree -> lines of Unicode or ASCII text within a width.

text_printer.py spells the tree, layout.py breaks the lines.
Every continuation line begins with the operator that connects it.
"""

from __future__ import annotations

from symmem.notation.glyphs import ASCII, UNICODE
from symmem.notation.layout import layout
from symmem.notation.symbols import Functions, Names, Speller
from symmem.notation.text_printer import TextPrinter
from symmem.notation.writable import Writable, formula_of


def text(
    written: Writable,
    *,
    names: Names,
    functions: Functions | None = None,
    width: int = 80,
    unicode: bool = True,
    prefix: str = "",
    arguments: bool = False,
) -> str:
    """An expression or a formula as readable text, broken into lines of at most `width` columns behind `prefix`.

    `names`: parameter -> LaTeX; `functions`: opaque function -> (LaTeX, potential or None); `arguments`:
    write the loss and its derivatives at theta.
    """
    speller = Speller(names, functions or {}, arguments=arguments)
    printer = TextPrinter(speller, UNICODE if unicode else ASCII)
    return layout(printer.doc(formula_of(written, names, functions or {})), width, prefix)
