"""The checks of ``[smooth]``: which symbols a formula knows, and whether its function is there to be smoothed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import preorder_traversal

from symmem.declaration.kinks import ARGUMENTS
from symmem.declaration.names import suggestion
from symmem.declaration.smoothing import kink_of
from symmem.errors import DeclarationError, quote

if TYPE_CHECKING:
    from symmem.declaration.optimizer import Optimizer


def check_smooth(optimizer: Optimizer) -> None:
    """A formula in its arguments and the parameters, once for a function that phi or a g has."""
    expressions = [optimizer.phi, *(momentum.g for momentum in optimizer.momentum)]
    present = {kink_of(node) for expression in expressions for node in preorder_traversal(expression)}
    seen: set[str] = set()
    for each in optimizer.smooth:
        place = f"smooth: {each.function}"
        known = [*ARGUMENTS[each.function], *(parameter.name for parameter in optimizer.parameters)]
        for name in sorted(symbol.name for symbol in each.formula.free_symbols):
            if name not in known:
                hint = suggestion(name, known) or "; or declare it in [parameters]"
                listed = ", ".join(known)
                raise DeclarationError(f"{place}: unknown symbol {quote(name)}; known here: {listed}{hint}")
        if each.function not in present:
            raise DeclarationError(f"{place}: neither phi nor a g has {each.function}; use it or remove it")
        if each.function in seen:
            raise DeclarationError(f"{place}: two formulas; keep one")
        seen.add(each.function)
