"""Numbers that depend on the step, by names: what a formula for code is written in."""

from __future__ import annotations

from sympy import Expr, Integer, Symbol

from symmem.method.method import Method
from symmem.records import record

MANY_STEPS = Integer(2**30)
"""In the place of n in a sum over the whole past, after many steps: far more terms than are added up."""


@record(frozen=True)
class StepScalar:
    """A number that depends on the step: its name, its value at step n, and its limit, None where it has none."""

    name: Symbol
    at_step: Expr
    limit: Expr | None


def free_name(stem: str, method: Method) -> Symbol:
    """The stem, with underscores where a parameter or a function has this name."""
    taken = {parameter.name for parameter in method.parameters}
    taken |= {function.name for function in method.functions}
    while stem in taken:
        stem += "_"
    return Symbol(stem)
