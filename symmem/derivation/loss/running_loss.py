"""The modified loss inside a gradient map along a trajectory, taken apart for who sums over tensors: section 11.

    S_n = now L(theta_n) + kept S_{n-1} - h (sum over all entries of density),

with the density ``beta K*(v)`` of the step before, a function of its momentum variable.
"""

from __future__ import annotations

from sympy import Add, Expr, S, expand_mul

from symmem.algebra.atoms import LOSS, LR, TOTAL, terms_of
from symmem.algebra.results import Missing, Sentence
from symmem.derivation.conditions.singular import singular_limit
from symmem.derivation.loss.gradient_map_loss import PREVIOUS, GradientMapLoss, gradient_map_loss
from symmem.method.method import Method
from symmem.records import record


@record(frozen=True)
class RunningLoss:
    """``now`` is a number, ``kept`` one with lr, ``density`` a function of the channel, entry by entry."""

    now: Expr
    kept: Expr
    density: Expr


def running_loss(method: Method) -> RunningLoss | Missing:
    """The parts of the running form; or why there is none, or why it is no sum over entries."""
    if singular_limit(method, 1) is not None:
        return Missing(Sentence.of("it has no limit of many steps"))
    found = gradient_map_loss(method, 1)
    if not isinstance(found, GradientMapLoss) or found.running is None:
        return Missing(Sentence.of("it is no gradient map of one geometric memory"))
    if found.coupled != 0:
        return Missing(Sentence.of("its running form reads the parameters too"))
    whole = expand_mul(found.running)
    now, kept = whole.coeff(LOSS), expand_mul(whole.coeff(PREVIOUS))
    density = []
    for term in terms_of(expand_mul(whole - now * LOSS - kept * PREVIOUS)):
        scalar, rest = _of_total(term)
        if rest is None:
            return Missing(Sentence.of("its running form is no sum over entries"))
        density.append(-scalar / LR * rest)
    return RunningLoss(now, kept, Add(*density))


def _of_total(term: Expr) -> tuple[Expr, Expr | None]:
    """``(scalar, vector)`` of ``scalar * total(vector)``; (0, 0) of 0, and None for another term."""
    if term == 0:
        return S.Zero, S.Zero
    totals = term.atoms(TOTAL)
    if len(totals) != 1:
        return S.Zero, None
    (one,) = totals
    scalar = term.coeff(one)
    if scalar == 0 or scalar.has(TOTAL) or (term - scalar * one).expand() != 0:
        return S.Zero, None
    return scalar, one.args[0]
