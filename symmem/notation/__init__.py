"""Notation: expression -> formula tree -> Unicode, ASCII and LaTeX, with line breaking.

decimals.py        long numbers rounded, for what a person will read
structure.py       SymPy expression -> formula tree: what a mathematician would write (ordering.py, factors.py,
                   operators.py; merging.py makes two fractions one)
formula.py         the tree; statement.py has what sentences say beyond expressions: theta <- theta - h F, O(h^2)
writable.py        expressions and results alike -> tree
text.py            tree -> lines of Unicode or ASCII (text_printer.py, statement_text.py; layout.py breaks the lines)
latex.py           tree -> LaTeX, whole or in lines (latex_printer.py, latex_brackets.py, latex_tensors.py,
                   statement_latex.py)
piece.py           LaTeX beside its extent in print (extent.py), by which brackets are sized and lines are broken
symbols.py         how each symbol is spelled (latex_symbols.py); notation is changed in glyphs.py and macros.py
declared_latex.py  the LaTeX that a user declared: the one place where LaTeX is read
shorthands.py      letters for coefficients that come back in a paper
blocks.py          letters for parts of a formula that is longer than a person reads; block_places.py finds them
html.py            sentences and tables of a notebook
"""
