"""Records in a notebook: a heading, tables and displayed formulas as HTML; the notebook's MathJax sets the LaTeX.

Everything that comes from a declaration is escaped: a stranger's title is text, not markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def page(title: str, note: str, parts: Sequence[str]) -> str:
    """A heading with a note behind it, and the parts below."""
    behind = f" <small>{escape(note)}</small>" if note else ""
    return f"<div><strong>{escape(title)}</strong>{behind}{''.join(parts)}</div>"


def display(caption: str, equations: Sequence[tuple[str, str]]) -> str:
    """Equations ``(left, right)`` in LaTeX, aligned, behind a caption."""
    lines = " \\\\ ".join(f"{left} &= {right}" for left, right in equations)
    return f"<div>{escape(caption)}</div>" + escape(f"$$\\begin{{aligned}} {lines} \\end{{aligned}}$$")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose cells are LaTeX."""
    cells = "".join(f"<th>{_math(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{_math(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def sentence(words: str) -> str:
    return f"<div>{escape(words)}</div>"


def _math(latex: str) -> str:
    return escape(f"${latex}$") if latex else ""
