"""Minima and maxima of a step and numbers: from some step on they are gone.

    Min(1, r) is 1 from r = 1 on,    Max(0, Min(1, r - 2)) is 1 from r = 3 on,    Max(0, r - 1) is r - 1 from r = 1 on

Delays bring them: before the start they look at the first value, or at nothing.
"""

from __future__ import annotations

from sympy import Expr, Max, Min, S, Symbol


def late_form(expression: Expr, r: Symbol) -> tuple[Expr, int] | None:
    """The expression from some step r on without minima and maxima, and that step; None where they do not resolve."""
    if r not in expression.free_symbols:
        return None if expression.has(Min, Max) else (expression, 0)
    if not expression.args:
        return expression, 0
    parts, steps = [], 0
    for part in expression.args:
        found = late_form(part, r)
        if found is None:
            return None
        parts.append(found[0])
        steps = max(steps, found[1])
    if not isinstance(expression, (Min, Max)):
        return expression.func(*parts), steps
    fixed = [part for part in parts if part.is_Integer]
    growing = [part for part in parts if (part - r).is_Integer]
    if len(fixed) + len(growing) < len(parts):
        return None
    if not growing:
        return expression.func(*fixed), steps
    # A number against r + c: from r = number - c on the number is the smaller one.
    number = expression.func(*fixed) if fixed else S.Zero
    crossing = max((int(number - part + r) for part in growing), default=0) if fixed else 0
    kept = number if isinstance(expression, Min) and fixed else expression.func(*growing)
    return kept, max(steps, crossing, 0)
