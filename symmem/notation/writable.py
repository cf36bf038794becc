"""Whatever can be written -> formula tree: expressions by structure.py, and results that are no expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from sympy import Expr

from symmem.algebra.results import Bound, Regime
from symmem.notation.formula import Atom, Formula, Number
from symmem.notation.statement import BigO, Tends
from symmem.notation.structure import read
from symmem.notation.symbols import Functions

Writable: TypeAlias = Expr | Bound | Regime | Formula
"""What the notation room spells: an expression, a bound, a limit of small symbols, or a formula as it is."""


def formula_of(written: Writable, names: Mapping[str, str], functions: Functions) -> Formula:
    """Whatever can be written, as a formula."""
    if isinstance(written, Formula):
        return written
    if isinstance(written, Bound):
        return BigO(read(written.size, names, functions))
    if isinstance(written, Regime):
        return Tends(tuple(Atom(symbol.name) for symbol in written.small), Number(0))
    return read(written, names, functions)
