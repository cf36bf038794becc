"""The straight-line history as a routine: what the formula leaves open has a value in code."""

from __future__ import annotations

from sympy import Expr

from symmem.algebra.results import Advice, Missing
from symmem.derivation.derivation import Derivation
from symmem.derivation.straight import inverted, straight_update
from symmem.program.stable_sums import stabilised


def straight_formulas(derivation: Derivation) -> tuple[Expr | Missing, Expr | Missing]:
    """``F_straight`` at step n and in the limit, as they are computed."""
    finite, limit = derivation.straight, derivation.limit_straight
    method = derivation.method
    computed = finite
    if not isinstance(finite, Missing):
        computed = stabilised(straight_update(method, inverted), method.numbers)
    return computed, Missing(limit.reason, (Advice.STEP,)) if isinstance(limit, Missing) else limit
