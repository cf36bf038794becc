"""Words with mathematics in them, spelled in each alphabet; used by every form of a report.

The mathematics of a sentence is written once, in ASCII between backticks: ``it is `theta <- theta - h F```.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from symmem.notation.symbols import SUBSCRIPTS, superscript, unicode_of


@dataclass(frozen=True)
class Label:
    """A piece of mathematics, in each alphabet."""

    unicode: str
    ascii: str
    latex: str


Words = tuple[str | Label, ...]
"""A sentence: plain text and mathematics."""

_TOKEN = re.compile(r"[A-Za-z]\w*(?<!_)(?:~|')?|\d+|\^\d+|<-|->|\s+|.")
_UNICODE = {
    "theta": "θ",
    "theta'": "θ′",
    "Phi": "Φ",
    "mu": "μ",
    "L~": "L̃",
    "grad": "∇",
    "<-": "←",
    "->": "→",
    "-": "−",
}
_LATEX = {
    "theta": r"\boldsymbol{\theta}",
    "theta'": r"\dot{\boldsymbol{\theta}}",
    "Phi": r"\Phi",
    "mu": r"\mu",
    "l": r"\ell",
    "L": r"\mathcal{L}",
    "L~": r"\tilde{\mathcal{L}}",
    "grad": r"\nabla",
    "<-": r"\leftarrow",
    "->": r"\to",
    "inf": r"\infty",
    **{letter: rf"\boldsymbol{{{letter}}}" for letter in "FMGdm"},
}
_MACROS = {
    **_LATEX,
    "theta": r"\btheta",
    "theta_0": r"\btheta^{(0)}",
    "theta'": r"\dot{\btheta}",
    "Phi": r"\update",
    "L": r"\loss",
    "L~": r"\modloss",
    "P": r"\precond",
    "h": r"\lr",
    "g": r"\gfun",
    "m": r"\mom",
    **{letter: rf"\b{letter}" for letter in "FMGd"},
}
_IN_A_SENTENCE = re.compile(
    r"\bO\(h(?:\^\d+)?\)|\btheta_0(?: \+ h(?:\^\d+)? d_\d+)*|\bd_\d+|\bg_l\b|\bPhi\b|[\[(]-?[\w.]+, [\w.]+[\])]"
)


def mathematics(source: str, names: Mapping[str, str] | None = None) -> Label:
    r"""ASCII mathematics in each alphabet; ``names`` are the parameters with their LaTeX.

    Known are theta, grad, L~, Phi, bold F M G d m, indices ``G_1``, powers ``h^2``, and the two arrows.
    """
    known = names or {}
    tokens = _TOKEN.findall(source)
    unicode = "".join(_unicode_token(token, known) for token in tokens)
    latex = " ".join(_latex_token(token, known, _LATEX) for token in tokens if not token.isspace())
    return Label(unicode.replace("∇ ", "∇"), source, _closed_up(latex))


def _closed_up(latex: str) -> str:
    return re.sub(r"(?<=[(\[]) | (?=[)\]^,])|(?<=\bO) ", "", latex)


def in_macros(label: Label, names: Mapping[str, str] | None = None) -> str:
    """The mathematics in the macros of a paper."""
    tokens = (token for token in _TOKEN.findall(label.ascii) if not token.isspace())
    return _closed_up(" ".join(_latex_token(token, names or {}, _MACROS) for token in tokens))


def marked(sentence: str, names: Mapping[str, str] | None = None) -> Words:
    """A sentence with its mathematics between backticks."""
    parts = sentence.split("`")
    return tuple(mathematics(part, names) if k % 2 else part for k, part in enumerate(parts) if part)


def found(sentence: str, names: Mapping[str, str] | None = None) -> Words:
    """A sentence from another room, in which the mathematics is found: theta_0, O(h^2), parameters."""
    parameters = "".join(rf"|\b{re.escape(name)}\b(?: -> 0)?" for name in names or {} if len(name) > 1)
    pattern = re.compile(_IN_A_SENTENCE.pattern + parameters)
    return marked(pattern.sub(lambda match: f"`{match.group()}`", sentence.replace("`", "'")), names)


def _unicode_token(token: str, names: Mapping[str, str]) -> str:
    if token in names:
        return unicode_of(names[token]) or token
    if token in _UNICODE:
        return _UNICODE[token]
    if token.startswith("^") and len(token) > 1:
        return superscript(token[1:]) or token
    stem, _, index = token.partition("_")
    if index and all(character in {**SUBSCRIPTS, "l": "ₗ"} for character in index):
        lowered = "".join(SUBSCRIPTS.get(character, "ₗ") for character in index)
        return _UNICODE.get(stem, stem) + lowered
    return token


def _latex_token(token: str, names: Mapping[str, str], table: Mapping[str, str]) -> str:
    if token in names:
        return names[token]
    if token.startswith("^") and len(token) > 1:
        return f"^{{{token[1:]}}}"
    if token in table:
        return table[token]
    stem, _, index = token.partition("_")
    return table.get(stem, stem) + (f"_{{{table.get(index, index)}}}" if index else "")
