"""The optimizer's own update as formulas: what stands above every account, in every alphabet."""

from __future__ import annotations

from symmem.declaration.optimizer import Optimizer
from symmem.notation.formula import Atom, BigSum, Power
from symmem.notation.statement import (
    ONE,
    ZERO,
    Applied,
    Equality,
    H,
    Iterate,
    Letter,
    N,
    added,
    difference,
    times,
)

PHI = Letter("Phi")
_AGO = Atom("k")
_PAST = Applied(Letter("g"), (Iterate(difference(N, _AGO)),))
MEMORY = Equality(
    Letter("m"), times(Letter("b"), BigSum(_AGO, ZERO, N, times(Power(Letter("beta"), _AGO), _PAST)))
)
"""``m = b sum_{k=0..n} beta^k g(theta_{n-k})``."""


def momenta(optimizer: Optimizer) -> tuple[Atom, ...]:
    """``m_1, ..., m_L``."""
    return tuple(Atom(f"m{position}") for position in range(1, len(optimizer.momentum) + 1))


def step(optimizer: Optimizer) -> Equality:
    """``theta_{n+1} = theta_n - h Phi(m_1, ..., m_L)``."""
    update = Applied(PHI, momenta(optimizer))
    return Equality(Iterate(added(N, ONE)), difference(Iterate(N), times(H, update)))
