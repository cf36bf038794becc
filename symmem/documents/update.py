"""The optimizer's own update as formulas: what stands above every account, in every alphabet."""

from __future__ import annotations

from symmem.algebra.atoms import MOMENTUM_NAME
from symmem.declaration.optimizer import Momentum, Optimizer
from symmem.documents.prose import Prose
from symmem.documents.scheduled import front
from symmem.notation.decimals import shown
from symmem.notation.formula import Atom, BigSum, Power
from symmem.notation.statement import (
    ONE,
    ZERO,
    Applied,
    Equality,
    Iterate,
    Letter,
    N,
    Word,
    added,
    difference,
    times,
)
from symmem.notation.writable import Writable

PHI = Letter("Phi")
_AGO = Atom("k")
_PAST = Applied(Letter("g"), (Iterate(difference(N, _AGO)),))
MEMORY = Equality(
    Letter("m"), times(Letter("b"), BigSum(_AGO, ZERO, N, times(Power(Letter("beta"), _AGO), _PAST)))
)
"""``m = b sum_{k=0..n} beta^k g(theta_{n-k})``."""


DELAYED = Equality(
    Letter("m"), times(Letter("b"), Applied(Letter("g"), (Iterate(difference(N, Letter("d"))),)))
)
"""``m = b g(theta_{n-d})``."""


def remembered(variable: Momentum) -> Writable:
    """What stands in the column of the decays: beta, or the delay."""
    if not variable.delay:
        return shown(variable.beta)
    return Word(f"delay {variable.delay}{', 0 before' if variable.starts_empty else ''}")


def notes(optimizer: Optimizer) -> tuple[Prose, ...]:
    """What the table of the momentum variables leaves to words: delays, and variables that read others."""
    found: list[Prose] = []
    if any(variable.delay for variable in optimizer.momentum):
        first = "before the start g is taken at " if any(_begins_full(v) for v in optimizer.momentum) else ""
        start: Prose = (first, Iterate(ZERO)) if first else ("before the start it is 0",)
        found.append(("a delay d is ", DELAYED, "; ", *start))
    if reads_others(optimizer):
        found.append(("a g that reads momentum variables sees them at the step at which it is taken",))
    return tuple(found)


def reads_others(optimizer: Optimizer) -> bool:
    """Whether a g reads momentum variables."""
    return any(MOMENTUM_NAME.fullmatch(s.name) for v in optimizer.momentum for s in v.g.free_symbols)


def _begins_full(variable: Momentum) -> bool:
    return bool(variable.delay) and not variable.starts_empty


def momenta(optimizer: Optimizer) -> tuple[Atom, ...]:
    """``m_1, ..., m_L``."""
    return tuple(Atom(f"m{position}") for position in range(1, len(optimizer.momentum) + 1))


def step(optimizer: Optimizer) -> Equality:
    """``theta_{n+1} = theta_n - h Phi(m_1, ..., m_L)``, with ``rate(n)`` behind h under a schedule."""
    update = Applied(PHI, momenta(optimizer))
    return Equality(Iterate(added(N, ONE)), difference(Iterate(N), times(front(optimizer), update)))
