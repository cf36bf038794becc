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
NOISE_LETTERS = (r"\xi", r"\zeta", r"\chi", r"\boldsymbol{\xi}")
"""For the noise of a batch: the first that no parameter is written with."""
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
        names = {**OWN_NAMES, "batch_noise": noise_letter(optimizer), **optimizer.symbols}
        return cls(names, {**NOISE_FUNCTIONS, **optimizer.function_symbols})

    def formula(self, written: Writable) -> Formula:
        """To be put into a longer formula."""
        return formula_of(written, self.names, self.functions)

    def text(self, written: Writable, *, unicode: bool, width: int = WHOLE, prefix: str = "") -> str:
        """In lines of text, at most so wide."""
        return text(
            written, names=self.names, functions=self.functions, width=width, unicode=unicode, prefix=prefix
        )


def noise_letter(optimizer: Optimizer) -> str:
    """The noise of a batch in LaTeX: AccSGD has a parameter that is written as xi."""
    taken = {str(letter) for letter in optimizer.symbols.values()}
    return next(letter for letter in NOISE_LETTERS if letter not in taken)
