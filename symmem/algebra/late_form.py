"""Minima and maxima of a step and numbers: from some step on they are gone.

    Min(1, r) is 1 from r = 1 on,    Max(0, Min(1, r - 2)) is 1 from r = 3 on,    Max(0, 1 - r) is 0 from r = 1 on

Delays bring them: before the start they look at the first value, or at nothing.
"""

from __future__ import annotations

from sympy import Expr, Max, Min, Symbol

from symmem.algebra.every import every


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
    lines = every(_line(part, r) for part in parts)
    if lines is None:
        return None
    kept, crossing = _last_kept(lines, isinstance(expression, Min))
    return kept[0] * r + kept[1], max(steps, crossing)


def _line(part: Expr, r: Symbol) -> tuple[int, int] | None:
    """Slope and height of ``c``, ``r + c`` or ``c - r`` with an integer c."""
    for slope in (0, 1, -1):
        height = part - slope * r
        if height.is_Integer:
            return slope, int(height)
    return None


def _last_kept(lines: list[tuple[int, int]], is_least: bool) -> tuple[tuple[int, int], int]:
    """The line that is the least, or the greatest, in the end, and the step from which on it is."""
    kept = min(lines) if is_least else max(lines)
    # a r + b against c r + d: they cross at r = (b - d)/(c - a), and slopes differ by 1 or 2.
    crossings = [-((other[1] - kept[1]) // (other[0] - kept[0])) for other in lines if other[0] != kept[0]]
    return kept, max(crossings, default=0)
