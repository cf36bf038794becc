"""Numbers for many steps at once: what in them depends on the step, and what is one number for all.

A target computes the first as arrays; a function of numbers alone is not one of arrays everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Expr, Function, Pow, S, Symbol

from symmem.algebra.real_functions import with_arguments
from symmem.program.digits.decay_functions import bare
from symmem.program.statements import Assignment, Internal


def split_ranges(
    assignments: Iterable[Assignment], index: Symbol
) -> tuple[list[Assignment], list[Assignment]]:
    """Numbers that do not depend on the index, roots and functions of such numbers among them, and those that do."""
    moving, single, many = {index}, list[Assignment](), list[Assignment]()
    names: dict[Expr, Symbol] = {}

    def lifted(value: Expr) -> Expr:
        if not value.args:
            return value
        is_root = isinstance(value, Pow) and value.exp in (S.Half, -S.Half)
        if not value.free_symbols & moving and (is_root or isinstance(value, Function)):
            if value not in names:
                # A stem of its own: the names of a block go on past this loop, and none of them may change here.
                names[value] = Internal(f"once{len(names) + 1}")
                single.append((names[value], bare(value)))
            return names[value]
        return with_arguments(value, map(lifted, value.args))

    for name, value in assignments:
        if value.free_symbols & moving:
            moving.add(name)
            many.append((name, lifted(value)))
        else:
            single.append((name, value))
    return single, many
