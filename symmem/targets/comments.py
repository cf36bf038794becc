"""A user's words (title, reference) in the comments of emitted code: the one place that keeps them words.

A declaration comes from a stranger.  Its titles are single printable lines (``declaration/names.py``); here they lose
what would end a docstring or a comment, or continue a line.
"""

from __future__ import annotations


def in_docstring(text: str) -> str:
    """For a Python docstring between triple double quotes: no quote can end it, no backslash can open an escape."""
    return text.replace("\\", "/").replace('"', "'")


def in_c_comment(text: str) -> str:
    """For a C comment: no ``*/`` and no ``/*``; ``\\`` and its trigraph, which continue a line, become ``/``."""
    plain = text.replace("\\", "/").replace("??/", "/")
    # Replacing can bring a star and a slash together, so this comes last; **/ and */*/ are split at every place.
    return plain.replace("*/", "* /").replace("/*", "/ *")


def in_octave_comment(text: str) -> str:
    """For a comment behind ``%`` and a space: its line ends it; only a line of ``%{`` would open a block."""
    return text.replace("\\", "/")


def in_coq_comment(text: str) -> str:
    """For a comment of Coq, in which comments nest and strings are read: no bracket with a star, no double quote."""
    return text.replace('"', "'").replace("(*", "( *").replace("*)", "* )")
