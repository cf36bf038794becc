"""How each symbol is spelled in each format: the one place where notation is changed.

Below text.py and latex.py.  `Glyphs` spells the operators in lines of text (UNICODE, ASCII), `Macros` in
LaTeX; `Speller` knows the declared names and spells the atoms in all three.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from symmem.records import record

Functions = Mapping[str, tuple[str, str | None]]
"""Opaque functions: name -> (LaTeX, name of the potential or None)."""

_GREEK_NAMES = (
    "alpha beta gamma delta zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon chi psi omega"
)
GREEK: Mapping[str, str] = dict(zip(_GREEK_NAMES.split(), "αβγδζηθικλμνξπρστυχψω", strict=True)) | {
    "varepsilon": "ε", "epsilon": "ϵ", "varphi": "φ", "phi": "ϕ", "vartheta": "ϑ", "varrho": "ϱ", "ell": "ℓ",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ",
    "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "nabla": "∇", "partial": "∂", "infty": "∞",
}  # fmt: skip
SUPERSCRIPTS: Mapping[str, str] = dict(zip("0123456789+−()nsik", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿˢⁱᵏ", strict=True))
SUBSCRIPTS: Mapping[str, str] = dict(zip("0123456789+-−ijkln", "₀₁₂₃₄₅₆₇₈₉₊₋₋ᵢⱼₖₗₙ", strict=True))

_PIECE = re.compile(
    r"\s*(?:\\(?P<font>mathcal|mathbf|mathrm|mathbb|boldsymbol|bm|operatorname)\s*\{(?P<inner>[^{}]*)\}"
    r"|\\(?P<command>[A-Za-z]+)"
    r"|_(?:\{(?P<group>[^{}]*)\}|(?P<single>[A-Za-z0-9]))"
    r"|(?P<prime>')"
    r"|(?P<letters>[A-Za-z0-9]))\s*"
)
_NUMBERED = re.compile(r"([A-Za-z]+)_?([0-9]*)")


def unicode_of(latex: str) -> str | None:
    r"""A Unicode reading of a LaTeX symbol, `\beta_1` -> β₁; None if it has none."""
    result, position = "", 0
    while position < len(latex):
        piece = _PIECE.match(latex, position)
        if piece is None:
            return None
        position = piece.end()
        found = piece.groupdict()
        index = found["group"] or found["single"]
        if found["font"]:
            inner = unicode_of(found["inner"])
            if inner is None:
                return None
            result += inner
        elif found["command"]:
            if found["command"] not in GREEK:
                return None
            result += GREEK[found["command"]]
        elif index:
            lowered = subscript(index)
            if lowered is None:
                return None
            result += lowered
        else:
            result += "′" if found["prime"] else found["letters"]
    return result or None


def superscript(text: str) -> str | None:
    """The text as superscript characters, when every character has one."""
    compact = text.replace(" ", "")
    if all(character in SUPERSCRIPTS for character in compact):
        return "".join(SUPERSCRIPTS[character] for character in compact)
    return None


def subscript(text: str) -> str | None:
    """The text as subscript characters, when every character has one."""
    if all(character in SUBSCRIPTS for character in text):
        return "".join(SUBSCRIPTS[character] for character in text)
    return None


@record(frozen=True)
class Glyphs:
    """The operators in a line of text."""

    unicode: bool
    minus: str
    times: str
    root: str
    norm: str
    sum: str
    product: str
    nabla: str
    transpose: str
    half: str
    arrow_left: str
    arrow_right: str
    velocity: str
    atoms: Mapping[str, str]
    letters: Mapping[str, str]
    """The letters of the theory; one that is not here is spelled by its name."""

    @property
    def comparisons(self) -> Mapping[str, str]:
        """What is not spelled as Python spells it."""
        return {"<=": "≤", ">=": "≥"} if self.unicode else {}


UNICODE = Glyphs(
    True, "−", "·", "√", "‖", "Σ", "Π", "∇", "ᵀ", "½", "←", "→", "θ′",
    {"theta": "θ", "grad": "∇L", "loss": "L", "lr": "h", "oo": "∞", "pi": "π"},
    {"modified loss": "L̃", "map loss": "L̂", "Phi": "Φ", "Psi": "Ψ", "mu": "μ", "beta": "β"},
)  # fmt: skip
ASCII = Glyphs(
    False, "-", "*", "sqrt", "||", "sum", "prod", "grad ", "^T", "1/2", "<-", "->", "theta'",
    {"theta": "theta", "grad": "grad L", "loss": "L", "lr": "h", "oo": "inf", "pi": "pi"},
    {"modified loss": "L~", "map loss": "Lhat"},
)  # fmt: skip


LETTERS: Mapping[str, str] = {
    "modified loss": r"\tilde{\mathcal{L}}", "map loss": r"\hat{\mathcal{L}}", "Phi": r"\Phi", "Psi": r"\Psi",
    "mu": r"\mu", "beta": r"\beta", "l": r"\ell", "log": r"\log", "dots": r"\ldots", "partial": r"\partial",
    **{letter: rf"\boldsymbol{{{letter}}}" for letter in "FMGdm"},
}  # fmt: skip
"""The letters of the theory in LaTeX; one that is not here, such as P, is spelled by its name."""


@record(frozen=True)
class Macros:
    """The symbols and operators in LaTeX: standard amsmath; an author may pass other ones."""

    lr: str = "h"
    theta: str = r"\boldsymbol{\theta}"
    loss: str = r"\mathcal{L}"
    momentum: str = r"\boldsymbol{m}"
    nabla: str = r"\nabla"
    directional: str = "D"
    transpose: str = r"^{\top}"
    norm: tuple[str, str] = (r"\lVert ", r" \rVert")
    absolute: tuple[str, str] = (r"\lvert ", r" \rvert")
    times: str = r"\times"
    dot: str = r"\cdot"
    iterate: tuple[str, str] = ("_{", "}")
    """Around the step of theta."""
    letters: Mapping[str, str] = field(default_factory=lambda: LETTERS)


@record(frozen=True)
class Speller:
    """Spells the atoms: parameters by their declared LaTeX, the rest by the tables above."""

    names: Mapping[str, str]
    functions: Functions
    macros: Macros = Macros()
    arguments: bool = False
    """Whether the loss and its gradient are written at theta: L(theta)."""

    def text(self, name: str, glyphs: Glyphs) -> str:
        """The symbol of a name, in lines of text."""
        if name in glyphs.atoms:
            at = f"({glyphs.atoms['theta']})" if self.arguments and name in ("grad", "loss") else ""
            return glyphs.atoms[name] + at
        if not glyphs.unicode:
            return name
        return unicode_of(self.latex(name)) or name

    def latex(self, name: str) -> str:
        """The symbol of a name, in LaTeX."""
        macros = self.macros
        at = f"({macros.theta})" if self.arguments else ""
        known = {
            "theta": macros.theta, "lr": macros.lr, "loss": macros.loss + at, "oo": r"\infty", "pi": r"\pi",
            "grad": f"{macros.nabla} {macros.loss}{at}",
        }  # fmt: skip
        if name in self.functions:  # a sentence may speak of a function without its argument
            return self.function_latex(name)
        return known.get(name) or self.names.get(name) or self._guess(name)

    def _guess(self, name: str) -> str:
        """An undeclared name: m1 is a momentum variable, Greek and one-letter names are symbols."""
        match = _NUMBERED.fullmatch(name)
        stem, digits = match.groups() if match else (name, "")
        index = f"_{{{digits}}}" if len(digits) > 1 else f"_{digits}" if digits else ""
        if stem == "m" and digits:
            return self.macros.momentum + index
        if stem in GREEK:
            return f"\\{stem}{index}"
        if len(stem) == 1:
            return stem + index
        return r"\mathrm{" + name.replace("_", r"\_") + "}"

    def function_latex(self, name: str) -> str:
        """An open function, in LaTeX: as declared, else by its name."""
        known = self.functions.get(name)
        return known[0] if known else self._guess(name)

    def function_text(self, name: str, glyphs: Glyphs) -> str:
        """An open function, in lines of text."""
        return (unicode_of(self.function_latex(name)) or name) if glyphs.unicode else name

    def potential_latex(self, name: str) -> str:
        r"""The potential of an opaque gradient: its LaTeX without the \nabla, else its name."""
        latex, potential = self.functions[name]
        stripped = latex.strip().removeprefix(r"\nabla").strip()
        return stripped if stripped != latex.strip() else self._guess(potential or name)

    def potential_text(self, name: str, glyphs: Glyphs) -> str:
        """The potential of an open gradient, in lines of text."""
        potential = self.functions[name][1] or name
        return (unicode_of(self.potential_latex(name)) or potential) if glyphs.unicode else potential
