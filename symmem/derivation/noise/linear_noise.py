"""Pairs of steps in the correction of a method linear in the gradient, for symbolic n and after many steps.

    M_xi = h (C_eq + rho C_neq) grad sum_i V_i / 2        (mathematics.md section 7)

:mod:`.steady_noise` has the sums where memory does not change with the step, :mod:`.noisy_kernel` else.
"""

from __future__ import annotations

from sympy import Expr, S

from symmem.algebra.atoms import PAST, STEP
from symmem.algebra.scalars import Scalars
from symmem.derivation.noise.noisy_kernel import earlier_overlap_at_step
from symmem.derivation.noise.steady_noise import all_pairs, equal_pairs
from symmem.derivation.past.history import sum_scalar
from symmem.method.kernel import Kernel
from symmem.method.overlaps import earlier_overlap
from symmem.method.steady import steady_weights
from symmem.records import record


@record(frozen=True)
class PairCounts:
    """``C_eq`` and ``C_neq`` of a method linear in the gradient: pairs of equal and of different batches in M."""

    equal: Expr
    different: Expr
    weight: Expr
    """``C_eq + rho C_neq``."""


def pairs_at_n(kernel: Kernel, rho: Expr, scalars: Scalars) -> PairCounts | None:
    """For symbolic n; None where the sums do not close."""
    steady = steady_weights(kernel, scalars)
    if steady is not None:
        equal, every = equal_pairs(steady), all_pairs(steady)
        different = every + equal.times(S.NegativeOne)
        return PairCounts(equal.written(), different.written(), (equal + different.times(rho)).written())
    alike = earlier_overlap_at_step(kernel, scalars)
    if alike is None:
        return None
    whole = sum_scalar(kernel.tail(STEP, PAST) * kernel.gain(PAST), scalars)
    return _counted(scalars.tidy(alike), scalars.add([whole, -alike]), rho, scalars)


def pairs_in_limit(kernel: Kernel, rho: Expr, scalars: Scalars) -> PairCounts:
    """After many steps: ``C_eq + C_neq`` is the mean lag times the gain."""
    equal = scalars.tidy(earlier_overlap(kernel, kernel))
    every = kernel.factorial_moment(1) * kernel.limit_gain
    return _counted(equal, scalars.tidy(every - equal), rho, scalars)


def _counted(equal: Expr, different: Expr, rho: Expr, scalars: Scalars) -> PairCounts:
    return PairCounts(equal, different, scalars.tidy(equal + rho * different))
