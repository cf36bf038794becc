"""Documents in a notebook: a heading, sentences, tables and displayed formulas as HTML; MathJax sets the LaTeX.

Everything that comes from a declaration is escaped: a stranger's title is text, neither markup nor mathematics.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from symmem.records import record


@record(frozen=True)
class Mathematics:
    """LaTeX inside a sentence."""

    latex: str


Words = Sequence[str | Mathematics]


def page(title: str, note: str, parts: Sequence[str]) -> str:
    """A heading with a note behind it, and the parts below."""
    behind = f" <small>{_words(note)}</small>" if note else ""
    return f"<div><strong>{_words(title)}</strong>{behind}{''.join(parts)}</div>"


def display(equations: Sequence[tuple[str, str]]) -> str:
    """Equations ``(left, right)`` in LaTeX, aligned."""
    lines = " \\\\ ".join(f"{left} &= {right}" for left, right in equations)
    return escape(f"$$\\begin{{aligned}} {lines} \\end{{aligned}}$$")


def table(head: Sequence[Words], rows: Sequence[Sequence[Words]]) -> str:
    """A table, with its head."""
    cells = "".join(f"<th>{_written(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{_written(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def caption(title: str, words: Words) -> str:
    """The title of a part, and what it says first."""
    return f"<div><strong>{_words(title)}</strong>{': ' if words else ''}{_written(words)}</div>"


def items(sentences: Sequence[Words]) -> str:
    """A list."""
    return f"<ul>{''.join(f'<li>{_written(each)}</li>' for each in sentences)}</ul>"


def sentence(words: Words) -> str:
    """Words and mathematics on a line of their own."""
    return f"<div>{_written(words)}</div>"


def _written(words: Words) -> str:
    return "".join(
        escape(f"${part.latex}$") if isinstance(part, Mathematics) else _words(part) for part in words
    )


def _words(text: str) -> str:
    r"""Text that is neither markup nor mathematics.

    MathJax reads ``$...$`` and ``\(...\)`` wherever they stand, and its \href runs scripts: a dollar and a backslash of
    a title are shown by their wide forms.
    """
    return escape(
        text.replace("$", "\N{FULLWIDTH DOLLAR SIGN}").replace("\\", "\N{FULLWIDTH REVERSE SOLIDUS}")
    )
