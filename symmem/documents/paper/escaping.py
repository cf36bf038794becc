r"""Plain text -> LaTeX that any engine sets: special characters escaped, letters beyond ASCII by their commands.

The one place for TeX and BibTeX: no text of a declaration reaches either but through here; symbols are checked by
``declaration/tex.py`` instead, and addresses and keys by ``declaration/citation.py``.
"""

from __future__ import annotations

import unicodedata

from symmem.notation.glyphs import GREEK

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_",
    "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\ensuremath{<}", ">": r"\ensuremath{>}",
    "[": "{[}", "]": "{]}", "*": "{*}",  # at the head of a row they would be arguments of the \\ before it
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c", "\u0328": "k", "\u0323": "d",
}  # fmt: skip
_CHARACTERS = {
    "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}", "Ø": r"\O{}",
    "ł": r"\l{}", "Ł": r"\L{}", "đ": r"\dj{}", "Đ": r"\DJ{}", "ı": r"\i{}", "\N{NO-BREAK SPACE}": "~",
    "–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''", "…": r"\ldots{}", "−": r"\ensuremath{-}",
    "×": r"\ensuremath{\times}", "·": r"\ensuremath{\cdot}", "∞": r"\ensuremath{\infty}", "§": r"\S{}",
    "∇": r"\ensuremath{\nabla}", "²": r"\textsuperscript{2}", "³": r"\textsuperscript{3}",
}  # fmt: skip
_BRACES = {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}
_GREEK = {letter: rf"\ensuremath{{\{name}}}" for name, letter in GREEK.items()}


def escape(words: str) -> str:
    """Plain text with LaTeX's special characters made harmless; letters beyond ASCII stay as they are."""
    return "".join(_SPECIAL.get(character, character) for character in words)


def typeset(words: str) -> str:
    r"""Plain text in ASCII LaTeX: \'{e} for é; a character that LaTeX cannot set is written by its number."""
    result = ""
    for character in _composed(words):
        result += character if character.isascii() and character not in _SPECIAL else _command(character)
    return result


def bibtex_text(words: str) -> str:
    r"""The same inside a field of BibTeX, which counts ``\{`` and ``\}`` as braces: they are written by name."""
    return "".join(_BRACES.get(character) or typeset(character) for character in _composed(words))


def _composed(words: str) -> str:
    return unicodedata.normalize("NFC", words)


def _command(character: str) -> str:
    known = _SPECIAL.get(character) or _CHARACTERS.get(character) or _GREEK.get(character)
    if known:
        return known
    base, *marks = list(unicodedata.normalize("NFD", character))
    if base.isascii() and base.isalpha() and all(mark in _ACCENTS for mark in marks) and marks:
        letter = (
            {"i": r"\i", "j": r"\j"}.get(base, base) if marks[0] in "\u0300\u0301\u0302\u0303\u0308" else base
        )
        for mark in marks:
            letter = rf"\{_ACCENTS[mark]}{{{letter}}}"
        return letter
    flat = unicodedata.normalize("NFKD", character)
    if flat.isascii():
        return escape(flat)
    return escape(f"[U+{ord(character):04X}]")
