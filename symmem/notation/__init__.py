"""Notation: expression -> formula tree -> Unicode, ASCII and LaTeX, with line breaking.

reading.py    SymPy expression -> formula tree: what a mathematician would write
formula.py    the tree
text.py       tree -> lines of Unicode or ASCII (layout.py breaks the lines)
latex.py      tree -> LaTeX, whole or in lines
symbols.py    how each symbol is spelled in each format: the one place to change notation
"""
