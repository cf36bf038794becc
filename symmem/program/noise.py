"""The noise of mini-batches as routines: F_xi and M_xi of the mean over their draw (mathematics.md section 7).

How the batches are drawn is one number, ``rho``: what the noise of two steps has in common over that of one with
itself, 0 with replacement and -1/(N - 1) without.  Both formulas are affine in it.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, S

from symmem.algebra.atoms import LR
from symmem.algebra.results import Advice, Missing
from symmem.algebra.scalars import Scalars
from symmem.algebra.symbols import VARIANCE
from symmem.derivation.derivation import Derivation
from symmem.derivation.mean_over_batches import MeanOverBatches, noise_in_mean, with_batches
from symmem.derivation.minibatch import variance_gradient
from symmem.errors import DerivationError
from symmem.method.merging import merged
from symmem.method.sampling import Sampling
from symmem.program.coefficients import cleared
from symmem.program.lowering import advised, vector_routine
from symmem.program.program import Program, Routine, Variants
from symmem.program.stable_sums import stabilised
from symmem.program.statements import Internal

RHO = Internal("rho")
DRAWN = Sampling(1 - 1 / RHO)
"""Batches of which two different ones have the covariance rho of one with itself."""
MEMORYLESS, CORRECTION = "noise_memoryless", "noise_correction"
ARGUMENTS = ("grads", "hvps", "batches", "noise")
"""Names in the code that a parameter cannot have, beside those that no parameter has."""


def with_noise(program: Program, derivation: Derivation) -> Program:
    """The program with the two routines of noise; where the limit is not known there is nothing to write."""
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
    return replace(program, routines={**program.routines, **found})


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
