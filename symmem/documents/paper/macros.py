r"""The macros of everything that is emitted for a paper: the one place where an author changes the notation.

``symmem-macros.tex`` defines each by \providecommand, so that a paper's own definition, made before, stands.
"""

from __future__ import annotations

from symmem.notation.symbols import LETTERS, Macros
from symmem.records import record

FILE = "symmem-macros.tex"


@record(frozen=True)
class Macro:
    """One macro of the notation, and what it stands for."""

    name: str
    definition: str
    meaning: str
    arguments: str = ""

    @property
    def line(self) -> str:
        """Its definition, which yields to one that an author made before."""
        return rf"\providecommand{{\{self.name}}}{self.arguments}{{{self.definition}}}% {self.meaning}"


MACROS = (
    Macro("lr", "h", "the learning rate"),
    Macro("btheta", r"\boldsymbol{\theta}", "the parameters"),
    Macro("memless", r"\tilde{\btheta}", "the parameters of the memoryless iteration"),
    Macro("loss", r"\mathcal{L}", "the loss"),
    Macro("modloss", r"\tilde{\loss}", "the modified loss"),
    Macro("maploss", r"\hat{\loss}", "the modified loss inside a gradient map"),
    Macro("mappot", r"\Psi", "the potential of the gradient map"),
    Macro("precond", "P", "the preconditioner"),
    Macro("mom", r"\boldsymbol{m}", "a momentum variable"),
    Macro("gfun", r"\boldsymbol{g}", "what a momentum variable remembers"),
    Macro("update", r"\boldsymbol{\Phi}", "the update, a function of the momentum variables"),
    Macro("gain", r"\gamma", "the gain of a momentum variable"),
    Macro("bF", r"\boldsymbol{F}", "the memoryless update, and the coefficients of the expansion"),
    Macro("bM", r"\boldsymbol{M}", "the correction of memory"),
    Macro("bG", r"\boldsymbol{G}", "the modified equation"),
    Macro("bd", r"\boldsymbol{d}", "the start-up shift"),
    Macro("bS", r"\boldsymbol{S}", "a sum over the history"),
    Macro("bR", r"\boldsymbol{R}", "a term that is no gradient"),
    Macro("bv", r"\boldsymbol{v}", "a direction"),
    Macro("dirder", "D", "the derivative of a vector function"),
    Macro("trans", r"^{\top}", "the transpose"),
    Macro("norm", r"#1\lVert #2 #1\rVert", r"a norm; the option is a size, \big", "[2][]"),
    Macro("abs", r"#1\lvert #2 #1\rvert", "absolute values, entry by entry", "[2][]"),
    Macro("coefa", r"\kappa", "short-hands for coefficients"),
    Macro("coefb", r"\chi", "the same"),
    Macro("coefc", r"\psi", "the same"),
    Macro("coefd", r"\omega", "the same"),
    Macro("coefe", r"\xi", "the same"),
    Macro("coeff", r"\zeta", "the same"),
    Macro("coefg", r"\eta", "the same"),
)

SHORTHANDS = tuple((macro.name, macro.definition) for macro in MACROS if macro.name.startswith("coef"))

PAPER = Macros(
    lr=r"\lr",
    theta=r"\btheta",
    loss=r"\loss",
    momentum=r"\mom",
    directional=r"\dirder",
    transpose=r"\trans",
    norm=(r"\norm{", "}"),
    absolute=(r"\abs{", "}"),
    iterate=("^{(", ")}"),
    letters={
        **LETTERS,
        "modified loss": r"\modloss",
        "map loss": r"\maploss",
        "Psi": r"\mappot",
        "memoryless": r"\memless",
        "Phi": r"\update",
        "P": r"\precond",
        "m": r"\mom",
        "g": r"\gfun",
        "gain": r"\gain",
        **{letter: rf"\b{letter}" for letter in "FMGdSRv"},
        **{name: rf"\{name}" for name, _ in SHORTHANDS},
    },
)
