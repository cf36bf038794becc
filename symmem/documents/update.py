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


LAG = Letter("lag")
"""d, the steps of a delay; bold it is a shift of the start."""
DELAYED = Equality(Letter("m"), times(Letter("b"), Applied(Letter("g"), (Iterate(difference(N, LAG)),))))
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
        delays = [variable for variable in optimizer.momentum if variable.delay]
        empty = [variable.starts_empty for variable in delays]
        first: Prose = ("before the start ", Letter("g"), " is taken at ", Iterate(ZERO))
        start: Prose = ("before the start it is 0",) if all(empty) else first
        if any(empty) and not all(empty):
            start = (*first, ", and is 0 where the table says so")
        found.append(("a delay ", LAG, " is ", DELAYED, "; ", *start))
    if reads_others(optimizer):
        reading = " that reads momentum variables sees them at the step at which it is taken"
        found.append(("a ", Letter("g"), reading))
    return tuple(found)


def reads_others(optimizer: Optimizer) -> bool:
    """Whether a g reads momentum variables."""
    return any(MOMENTUM_NAME.fullmatch(s.name) for v in optimizer.momentum for s in v.g.free_symbols)


def momenta(optimizer: Optimizer) -> tuple[Atom, ...]:
    """``m_1, ..., m_L``."""
    return tuple(Atom(f"m{position}") for position in range(1, len(optimizer.momentum) + 1))


def step(optimizer: Optimizer) -> Equality:
    """``theta_{n+1} = theta_n - h Phi(m_1, ..., m_L)``, with ``rate(n)`` behind h under a schedule."""
    update = Applied(PHI, momenta(optimizer))
    return Equality(Iterate(added(N, ONE)), difference(Iterate(N), times(front(optimizer), update)))
