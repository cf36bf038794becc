"""How the formulas of one optimizer are spelled: its parameters and functions, in every alphabet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from symmem.declaration.optimizer import Optimizer
from symmem.notation.formula import Formula
from symmem.notation.latex import TEXT_WIDTH, latex, latex_lines
from symmem.notation.symbols import Functions, Macros
from symmem.notation.text import text
from symmem.notation.writable import Writable, formula_of
from symmem.records import record

WHOLE = 10**6
"""A width that no formula has."""


@record(frozen=True)
class Spelling:
    """``names`` are the parameters, and further symbols, in LaTeX; ``functions`` the opaque functions."""

    names: Mapping[str, str]
    functions: Functions = field(default_factory=dict)

    @classmethod
    def of(cls, optimizer: Optimizer) -> Spelling:
        """The spelling of an optimizer's own symbols."""
        return cls(optimizer.symbols, optimizer.function_symbols)

    def formula(self, written: Writable) -> Formula:
        """To be put into a longer formula."""
        return formula_of(written, self.names, self.functions)

    def text(self, written: Writable, *, unicode: bool, width: int = WHOLE, prefix: str = "") -> str:
        """In lines of text, at most so wide."""
        return text(
            written, names=self.names, functions=self.functions, width=width, unicode=unicode, prefix=prefix
        )

    def latex(self, written: Writable, macros: Macros | None = None, *, arguments: bool = False) -> str:
        """In LaTeX, in one line."""
        return latex(written, names=self.names, functions=self.functions, macros=macros, arguments=arguments)

    def lines(
        self,
        written: Writable,
        macros: Macros | None = None,
        *,
        arguments: bool = False,
        ems: float = TEXT_WIDTH,
        start: float = 0,
    ) -> tuple[str, ...]:
        """LaTeX in lines of at most ``ems``; ``start`` is taken on the first."""
        return latex_lines(
            written,
            names=self.names,
            functions=self.functions,
            macros=macros,
            arguments=arguments,
            ems=ems,
            start=start,
        )
