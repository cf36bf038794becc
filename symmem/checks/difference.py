"""How two optimizers differ: the difference of F and of M after many steps, in closed form, and its size.

Parameters with the same name are one; the size is taken at the defaults of the first optimizer, where the second has
the parameter too, and at a fixed point of a fixed loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import mpmath
from mpmath import mpf
from sympy import Expr, Rational

from symmem.algebra.passes import collect
from symmem.algebra.results import Missing
from symmem.checks.claims import value_of
from symmem.checks.runs import Parting
from symmem.checks.verify import dimension_of, layout_of, literal_of
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.verification.losses import probe_point
from symmem.verification.vectors import VerificationError, distance

RATE = Rational(1, 1000)
DIGITS = 30
ROUNDING = 1e-12


@dataclass(frozen=True)
class Part:
    """The difference of F, or of M, in the limit, and its size relative to the first; None where there is no number."""

    formula: Expr
    size: float | None

    @property
    def is_felt(self) -> bool:
        """Whether there is a difference, in numbers too."""
        return self.formula != 0 and self.size is not None and self.size > ROUNDING


@dataclass(frozen=True)
class Difference:
    """The witness, and the differences where both have a limit; ``missing`` says why where one has none."""

    witness: Parting | None
    F: Part | None = None
    M: Part | None = None
    missing: Missing | None = None
    is_proof: bool = False
    """Whether the limits differ in numbers: then so do the optimizers, whether short runs part or not."""


def difference(first: Optimizer, second: Optimizer, witness: Parting | None) -> Difference:
    """F and M of the limit of many steps, first minus second."""
    ours, theirs = derive(first), derive(second)
    for limit in (ours.limit, theirs.limit):
        if isinstance(limit, Missing):
            return Difference(witness, missing=limit)
    assert not isinstance(ours.limit, Missing)
    assert not isinstance(theirs.limit, Missing)
    scalars = ours.method.numbers
    parts = []
    for left, right in ((ours.limit.F, theirs.limit.F), (ours.limit.M, theirs.limit.M)):
        formula = collect(left - right, scalars)
        parts.append(Part(formula, _size(first, second, left, right)))
    # A smooth formula stands for the exact one in the limit alone: that two of them differ says nothing of the runs.
    proves = any(part.is_felt for part in parts) and not (first.smooth or second.smooth)
    return Difference(witness, parts[0], parts[1], is_proof=proves)


def _size(first: Optimizer, second: Optimizer, left: Expr, right: Expr) -> float | None:
    """``|left - right| / |left|`` in the largest entry."""
    shared = {**second.defaults, **{k: v for k, v in first.defaults.items() if k in second.defaults}}
    layout = layout_of(first, second)
    point = probe_point(dimension_of(layout))
    try:
        with mpmath.workdps(DIGITS):
            ours, theirs = (
                value_of(formula, literal_of(optimizer, values, layout), point, n=0, lr=RATE)
                for formula, optimizer, values in ((left, first, first.defaults), (right, second, shared))
            )
            scale = max(abs(entry) for entry in ours) or mpf(1)
            return float(distance(ours, theirs) / scale)
    except VerificationError:
        return None
