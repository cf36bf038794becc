"""How the formulas of one optimizer are spelled: its parameters and functions, in every alphabet."""

from __future__ import annotations

from dataclasses import field

from symmem.declaration.optimizer import Optimizer
from symmem.notation.formula import Atom, Formula
from symmem.notation.symbols import Functions, Names
from symmem.notation.text import text
from symmem.notation.writable import Writable, formula_of
from symmem.records import record

OWN_NAMES: Names = {"variance": "V", "batches": "N", "gradient_change": Atom("d")}
"""Symbols that no declaration has."""
NOISE_FUNCTIONS = {
    "variance_along": (r"\mathrm{D}V", None),
    "variance_gradient": (r"\nabla V", None),
    "noisy_hessian": (r"\mathcal{Q}", None),
}
"""The averages over the noise of a batch; no declaration has these names."""
WHOLE = 10**6
"""A width that no formula has."""


@record(frozen=True)
class Spelling:
    """``names`` are the parameters, as declared in LaTeX, and further symbols by what they stand for."""

    names: Names
    functions: Functions = field(default_factory=dict)

    @classmethod
    def of(cls, optimizer: Optimizer) -> Spelling:
        """The spelling of an optimizer's own symbols."""
        return cls({**OWN_NAMES, **optimizer.symbols}, {**NOISE_FUNCTIONS, **optimizer.function_symbols})

    def formula(self, written: Writable) -> Formula:
        """To be put into a longer formula."""
        return formula_of(written, self.names, self.functions)

    def text(self, written: Writable, *, unicode: bool, width: int = WHOLE, prefix: str = "") -> str:
        """In lines of text, at most so wide."""
        return text(
            written, names=self.names, functions=self.functions, width=width, unicode=unicode, prefix=prefix
        )
