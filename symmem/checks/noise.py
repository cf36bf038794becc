"""What mini-batches add, against all draws of three batches (mathematics.md section 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import mpmath
from mpmath import mpf
from sympy import Expr, Rational

from symmem.algebra.results import Missing
from symmem.checks.claims import Claim
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.derivation.noise.mean_over_batches import noise_in_mean
from symmem.method.sampling import Sampling
from symmem.verification.batches import Batches, NoisyOptimizer
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import coupled_loss, probe_point, ridge_loss
from symmem.verification.ridges import Monomial, exponential, mixing, sine
from symmem.verification.vectors import Vector, distance

STEPS = (1, 2)
DIGITS = 48
BOUND = 1e-12
"""Of the second order in the noise a third of the digits is left."""
NOTHING = 1e-24
"""Below it a truth of 48 digits is its own rounding: the second difference of a linear update."""


@lru_cache(maxsize=1)
def three_batches() -> Batches:
    """A loss in two dimensions, and the noise of its batches, whose variance moves with theta."""
    rows = mixing(6, 2, twist=5)
    first = ridge_loss([(mpf(3) / 4, sine, rows[0]), (mpf(1) / 2, Monomial(2), rows[1])])
    second = ridge_loss([(mpf(5) / 8, exponential, rows[2]), (mpf(-1) / 2, sine, rows[3])])
    return Batches(coupled_loss(2), (first, second))


def noise_claims(optimizer: Optimizer, values: Mapping[str, Rational]) -> Iterator[Claim | Missing]:
    """F_xi and M_xi at each step: the larger error of the draws with and without replacement."""
    method, batches, point = derive(optimizer).method, three_batches(), probe_point(2)
    truth = NoisyOptimizer(optimizer, values, batches, DIGITS)
    for step in STEPS:
        errors: dict[str, list[float]] = {"F_xi": [], "M_xi": []}
        for sampling in (Sampling(), Sampling(None)):
            found = noise_in_mean(method, sampling, step)
            if isinstance(found, Missing):
                yield found
                return
            again = sampling.batches is None
            frozen = truth.second_order(truth.frozen, point, step, replacement=again)
            memory = truth.second_order(truth.correction, point, step, replacement=again)
            errors["F_xi"].append(_error(found.frozen, frozen, values, batches, point))
            errors["M_xi"].append(_error(found.memory, memory, values, batches, point))
        yield from (Claim(name, step, max(each), BOUND) for name, each in errors.items())


def _error(
    formula: Expr, truth: Vector, values: Mapping[str, Rational], batches: Batches, point: Sequence[mpf]
) -> float:
    """Relative to the largest entry; to 1 where noise does nothing, so that the truth is what its digits leave."""
    with mpmath.workdps(DIGITS):
        variance, functions = batches.averages(point)
        numbers = {**values, "lr": 1, "batches": batches.count}
        found = evaluate(formula, numbers, {"theta": point, "variance": variance}, batches.loss, functions)
        entries = found if isinstance(found, list) else [found] * len(point)
        largest = max(map(abs, (*truth, *entries)))
        return float(distance(entries, truth) / (largest if largest > NOTHING else 1))
