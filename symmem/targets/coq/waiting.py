"""From which step on a formula with delays has no cases: ``min(4, n)`` is 4 from step 4 on."""

from __future__ import annotations

from sympy import Expr, Max, Min

from symmem.algebra.atoms import STEP
from symmem.algebra.every import every


def later(formula: Expr) -> tuple[int, Expr]:
    """``(d, x(n + d))`` with the least d for which no ``Min`` and no ``Max`` of the step is left; else ``(0, x)``."""
    cases = [part for part in formula.atoms(Min, Max) if STEP in part.free_symbols]
    starts = every(map(_start, cases))
    if not starts:
        return 0, formula
    start = max(0, *starts)
    return start, formula.xreplace({part: _decided(part) for part in cases}).subs(STEP, STEP + start)


def _start(part: Expr) -> int | None:
    """The step at which ``n - k`` passes a number."""
    pair = _pair(part)
    return None if pair is None else int(pair[0] - (pair[1] - STEP))


def _decided(part: Expr) -> Expr:
    pair = _pair(part)
    assert pair is not None, "asked before"
    fixed, moving = pair
    return fixed if isinstance(part, Min) else moving


def _pair(part: Expr) -> tuple[Expr, Expr] | None:
    """The number and ``n - k``, where these are the two."""
    fixed = [each for each in part.args if each.is_Integer]
    moving = [each for each in part.args if (each - STEP).is_Integer]
    return (fixed[0], moving[0]) if len(fixed) == len(moving) == 1 and len(part.args) == 2 else None
