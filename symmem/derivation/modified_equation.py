"""The modified equation ``theta' = G_0 + h G_1 + ...`` whose flow the optimizer follows after its start.

    G_0 = -F,      G_1 = -(F_1 + 1/2 DF[F])

The paper's printed ``+ h^2/2`` in front of the second part is an erratum (MATH.md section 8).
"""

from __future__ import annotations

from sympy import Expr, Rational

from symmem.algebra.directional import along, derivative
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.correction import limit_contributions
from symmem.derivation.gains import frozen_update, limit_gains
from symmem.derivation.grouping import group
from symmem.derivation.passes import collect
from symmem.derivation.scalars import scalars_of


def modified_equation(optimizer: Optimizer) -> tuple[Expr, ...]:
    """``(G_0, G_1)`` in the limit n -> infinity."""
    scalars = scalars_of(optimizer)
    update = frozen_update(optimizer, limit_gains(optimizer))
    discretisation = Rational(1, 2) * derivative(update, along(update))
    parts = [-part for part in (*limit_contributions(optimizer), discretisation)]
    return collect(-update, scalars), group(parts, scalars)
