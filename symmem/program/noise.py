"""The noise of mini-batches as routines: F_xi and M_xi of the mean over their draw (mathematics.md section 7), and the
variance over the order of the batches of an epoch (section 13).

How the batches are drawn is one number, ``rho``: what the noise of two steps has in common over that of one with
itself, 0 with replacement and -1/(N - 1) without.  Both formulas are affine in it.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Add, Expr, S

from symmem.algebra.atoms import LR
from symmem.algebra.results import Advice, Missing
from symmem.algebra.scalars import Scalars
from symmem.algebra.symbols import VARIANCE
from symmem.derivation.derivation import Derivation
from symmem.derivation.noise.epoch import Paths, order_paths
from symmem.derivation.noise.mean_over_batches import MeanOverBatches, noise_in_mean, with_batches
from symmem.derivation.noise.minibatch import variance_gradient
from symmem.errors import DerivationError
from symmem.method.merging import merged
from symmem.method.sampling import Sampling
from symmem.program.digits.coefficients import cleared
from symmem.program.digits.stable_sums import stabilised
from symmem.program.expansion import advised
from symmem.program.lowering import vector_routine
from symmem.program.memories import memory_of
from symmem.program.program import Program, Routine, Variants
from symmem.program.statements import Internal

RHO = Internal("rho")
DRAWN = Sampling(1 - 1 / RHO)
"""Batches of which two different ones have the covariance rho of one with itself."""
MEMORYLESS, CORRECTION, ORDER = "noise_memoryless", "noise_correction", "order_variance"
ARGUMENTS = ("grads", "hvps", "batches", "noise", "memories")
"""Names in the code that a parameter cannot have, beside those that no parameter has."""


def with_noise(program: Program, derivation: Derivation) -> Program:
    """The program with the routines of noise; where the limit is not known there is nothing to write."""
    clash = sorted(set(ARGUMENTS) & set(program.parameters))
    if clash:
        raise DerivationError(
            f"{program.optimizer.name}: the code of noise has a {clash[0]} of its own; rename the parameter"
        )
    limit = noise_in_mean(derivation.method, DRAWN, "limit")
    if isinstance(limit, Missing):
        raise DerivationError(str(limit))
    finite = noise_in_mean(derivation.method, DRAWN, "n")
    found = {
        MEMORYLESS: _variants(finite, limit, derivation, "frozen"),
        CORRECTION: _variants(finite, limit, derivation, "memory"),
    }
    # Not the normal form: it divides by numbers of Phi, such as a decay, that may be 0.
    method = derivation.method
    paths = order_paths(method)
    if isinstance(paths, Missing):
        return replace(program, routines={**program.routines, **found})
    found[ORDER] = Variants.always(_routine(_order_variance(paths, method.numbers)))
    memories = tuple(memory_of(kernel, method.numbers) for _, kernel in paths)
    return replace(program, routines={**program.routines, **found}, memories=memories)


def scatter(q: int, r: int) -> Internal:
    """``N/(N-1) sum_j (a_q(j) - mean)(a_r(j) - mean)`` of two ways, q <= r, by which noise reaches the update."""
    return Internal(f"scatter{q + 1}_{r + 1}")


def _order_variance(paths: Paths, numbers: Scalars) -> Expr:
    """``h^2 V sum_qr w_q w_r scatter_qr``: mathematics.md section 13."""
    terms = [
        (1 if q == r else 2) * one * other * scatter(q, r)
        for q, (one, _) in enumerate(paths)
        for r, (other, _) in enumerate(paths)
        if q <= r
    ]
    return cleared(LR**2 * VARIANCE * Add(*terms), numbers.field)


def _variants(
    finite: MeanOverBatches | Missing, limit: MeanOverBatches, derivation: Derivation, part: str
) -> Variants:
    numbers = derivation.method.numbers
    last = _routine(cleared(getattr(limit, part), numbers.field))
    if isinstance(finite, Missing):
        missing = advised(finite, Advice.LIMIT)
        assert isinstance(missing, Missing)
        return Variants(missing, last)
    whole = with_batches(merged(derivation.method), DRAWN).numbers
    return Variants(_routine(_at_step(finite, part, whole)), last)


def _at_step(found: MeanOverBatches, part: str, numbers: Scalars) -> Expr:
    """``h (C_eq + rho C_neq) grad sum_i V_i / 2``, each count a sum of one sign where that was found.

    A curved update has other sums over pairs, and explicit ones over the past.
    """
    if part == "frozen" or found.pairs is None:
        formula: Expr = getattr(found, part)
        return stabilised(formula, numbers)
    equal, different = (stabilised(each, numbers) for each in (found.pairs.equal, found.pairs.different))
    return LR * (equal + RHO * different) / 2 * variance_gradient(S.One)


def _routine(formula: Expr) -> Routine:
    return vector_routine(formula, (VARIANCE,))
