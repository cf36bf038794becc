"""Documents in a notebook: a heading, sentences, tables and displayed formulas as HTML; MathJax sets the LaTeX.

Everything that comes from a declaration is escaped: a stranger's title is text, not markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Mathematics:
    """LaTeX inside a sentence."""

    latex: str


def page(title: str, note: str, parts: Sequence[str]) -> str:
    """A heading with a note behind it, and the parts below."""
    behind = f" <small>{escape(note)}</small>" if note else ""
    return f"<div><strong>{escape(title)}</strong>{behind}{''.join(parts)}</div>"


def display(equations: Sequence[tuple[str, str]]) -> str:
    """Equations ``(left, right)`` in LaTeX, aligned."""
    lines = " \\\\ ".join(f"{left} &= {right}" for left, right in equations)
    return escape(f"$$\\begin{{aligned}} {lines} \\end{{aligned}}$$")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose cells are LaTeX."""
    cells = "".join(f"<th>{_math(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{_math(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def sentence(parts: Sequence[str | Mathematics]) -> str:
    written = (_math(part.latex) if isinstance(part, Mathematics) else escape(part) for part in parts)
    return f"<div>{''.join(written)}</div>"


def _math(latex: str) -> str:
    return escape(f"${latex}$") if latex else ""
