r"""The macros of everything that is emitted for a paper: the one place where an author changes the notation.

``symmem-macros.tex`` defines each by \providecommand, so that a paper's own definition, made before, stands.  Lines are
broken by the widths of the definitions given here.  All names begin with ``smm``: an author's own macros stay theirs.
"""

from __future__ import annotations

from collections.abc import Mapping

from symmem.notation.macros import LETTERS, Bars, Macros
from symmem.notation.piece import Piece, symbol
from symmem.records import record

FILE = "symmem-macros.tex"
PREFIX = "smm"


@record(frozen=True)
class Macro:
    """One macro of the notation, and what it stands for."""

    name: str
    """Behind the prefix."""
    width: float
    """In ems; of bars, without what stands between them."""
    definition: str
    meaning: str
    arguments: str = ""

    @property
    def command(self) -> str:
        """Its name in LaTeX, without the backslash."""
        return PREFIX + self.name

    @property
    def line(self) -> str:
        """Its definition, which yields to one that an author made before."""
        return rf"\providecommand{{\{self.command}}}{self.arguments}{{{self.definition}}}% {self.meaning}"


COEFFICIENTS = (
    Macro("coefa", 0.64, r"\kappa", "short-hands for coefficients"),
    Macro("coefb", 0.64, r"\chi", "the same"),
    Macro("coefc", 0.66, r"\psi", "the same"),
    Macro("coefd", 0.64, r"\omega", "the same"),
    Macro("coefe", 0.5, r"\xi", "the same"),
    Macro("coeff", 0.52, r"\zeta", "the same"),
    Macro("coefg", 0.56, r"\eta", "the same"),
)
BLOCKS = (
    Macro("bu", 0.66, r"\boldsymbol{u}", "a vector that a long formula reads"),
    Macro("num", 0.66, r"\varphi", "a number that a long formula reads"),
)
_TIGHT = r"\scriptscriptstyle" + "".join(
    rf"\let\{size}{side}\relax" for size in ("big", "Big", "bigg", "Bigg") for side in "lr"
)
"""Brackets in it are of that size too; it ends with its cell."""
MACROS = (
    Macro("lr", 0.576, "h", "the learning rate"),
    Macro("btheta", 0.55, r"\boldsymbol{\theta}", "the parameters"),
    Macro("memless", 0.55, r"\tilde{\smmbtheta}", "the parameters of the memoryless iteration"),
    Macro("loss", 0.72, r"\mathcal{L}", "the loss"),
    Macro("modloss", 0.72, r"\tilde{\smmloss}", "the modified loss"),
    Macro("maploss", 0.72, r"\hat{\smmloss}", "the modified loss inside a gradient map"),
    Macro("mappot", 0.78, r"\Psi", "the potential of the gradient map"),
    Macro("precond", 0.78, "P", "the preconditioner"),
    Macro("mom", 0.99, r"\boldsymbol{m}", "a momentum variable"),
    Macro("gfun", 0.56, r"\boldsymbol{g}", "what a momentum variable remembers"),
    Macro("update", 0.83, r"\boldsymbol{\Phi}", "the update, a function of the momentum variables"),
    Macro("gain", 0.64, r"\gamma", "the gain of a momentum variable"),
    Macro("bF", 0.79, r"\boldsymbol{F}", "the memoryless update, and the coefficients of the expansion"),
    Macro("bM", 1.23, r"\boldsymbol{M}", "the correction of memory"),
    Macro("bG", 0.88, r"\boldsymbol{G}", "the modified equation"),
    Macro("bd", 0.62, r"\boldsymbol{d}", "the start-up shift"),
    Macro("bS", 0.72, r"\boldsymbol{S}", "a sum over the history"),
    Macro("time", 1.73, r"t_{\max}", "the time n h up to which a bound holds"),
    Macro("age", 0.52, r"\bar{k}", "the mean age of what is remembered"),
    *BLOCKS,
    Macro("by", 0.62, r"\boldsymbol{y}", "the change of the gradient in one step of a line"),
    Macro("bR", 0.86, r"\boldsymbol{R}", "a term that is no gradient"),
    Macro("weight", 0.72, "w", "a weight of a memory over delays"),
    Macro("bv", 0.62, r"\boldsymbol{v}", "a direction"),
    Macro("dirder", 0.83, "D", "the derivative of a vector function"),
    Macro("trans", 0.56, r"^{\top}", "the transpose"),
    Macro("norm", 1.0, r"#1\lVert #2 #1\rVert", r"a norm; the option is a size, \big", "[2][]"),
    Macro("abs", 0.556, r"#1\lvert #2 #1\rvert", "absolute values, entry by entry", "[2][]"),
    Macro("tight", 0.0, _TIGHT, "the rest of a line that no page could take, as small as it gets"),
    *COEFFICIENTS,
)

SMALLEST = rf"\{PREFIX}tight"
SHORTHANDS = tuple((macro.name, macro.definition) for macro in COEFFICIENTS)

_SIGNS: Mapping[str, Piece] = {macro.name: symbol(rf"\{macro.command}", macro.width) for macro in MACROS}


def _bars(name: str) -> Bars:
    sign = _SIGNS[name]
    return Bars((f"{sign.text}{{", "}"), (rf"{sign.text}[\bigg]{{", "}"), sign.width)


PAPER = Macros(
    lr=_SIGNS["lr"],
    theta=_SIGNS["btheta"],
    loss=_SIGNS["loss"],
    momentum=_SIGNS["mom"],
    directional=_SIGNS["dirder"],
    transpose=_SIGNS["trans"],
    norm=_bars("norm"),
    absolute=_bars("abs"),
    step_above=True,
    letters={
        **LETTERS,
        "mean age": _SIGNS["age"],
        "modified loss": _SIGNS["modloss"],
        "map loss": _SIGNS["maploss"],
        "Psi": _SIGNS["mappot"],
        "memoryless": _SIGNS["memless"],
        "Phi": _SIGNS["update"],
        "P": _SIGNS["precond"],
        "m": _SIGNS["mom"],
        "g": _SIGNS["gfun"],
        "g'": symbol(rf"{_SIGNS['gfun'].text}'", 0.8),
        "g''": symbol(rf"{_SIGNS['gfun'].text}''", 1.0),
        "gain": _SIGNS["gain"],
        "w": _SIGNS["weight"],
        **{letter: _SIGNS[f"b{letter}"] for letter in "FMGdSRuvy"},
        "varphi": _SIGNS["num"],
        **{name: _SIGNS[name] for name, _ in SHORTHANDS},
    },
)
