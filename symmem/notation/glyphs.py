"""How symbols are spelled in lines of text: Unicode and ASCII; below text_printer.py."""

from __future__ import annotations

from collections.abc import Mapping

from symmem.records import record

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
    {"modified loss": "L̃", "map loss": "L̂", "Phi": "Φ", "Psi": "Ψ", "mu": "μ", "beta": "β", "lag": "d"},
)  # fmt: skip
ASCII = Glyphs(
    False, "-", "*", "sqrt", "||", "sum", "prod", "grad ", "^T", "1/2", "<-", "->", "theta'",
    {"theta": "theta", "grad": "grad L", "loss": "L", "lr": "h", "oo": "inf", "pi": "pi"},
    {"modified loss": "L~", "map loss": "Lhat", "lag": "d"},
)  # fmt: skip
