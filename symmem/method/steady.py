"""Kernels whose recursion does not change with the step: their weights, and what the start adds, as sequences.

    x <- A x + B g,  m = C x:       c(n, k) = c(k) + [k = n] start(n),
    c(k) = C A^k B,      start(n) = C A^(n+1) first,      A, B, C, first constant        (mathematics.md section 9)

A memory of its own state alone is geometric and a shift is a delay; no state feeds back through another, so each is
found from those that it reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Add, Expr, S

from symmem.algebra.atoms import STEP
from symmem.algebra.scalars import Scalars
from symmem.method.eventual import Eventual
from symmem.method.kernel import Kernel
from symmem.method.realisation import Realisation
from symmem.records import record

MOST_STATES = 16
"""Beyond so many states of the recursion, a delay has one more than its steps, first steps are not written out."""


@record(frozen=True)
class SteadyWeights:
    """``weight``: c(k) by the lag; ``start``: what the first value has beyond it at step n."""

    weight: Eventual
    start: Eventual

    @property
    def total(self) -> Eventual:
        """``T(i) = sum_{k<i} c(k)``."""
        return self.weight.before()

    @property
    def had(self) -> Eventual:
        """``T(n) + sum_{r<n} start(r)``: what the first value has had in all m before step n."""
        return self.total + self.start.before()

    @property
    def gain(self) -> Eventual:
        """``sum_{k<=n} c(n, k)``."""
        return self.weight.until() + self.start


def steady_weights(kernel: Kernel, scalars: Scalars) -> SteadyWeights | None:
    """None where a factor depends on the step, as a bias correction, or where delays are long."""
    found = kernel.realisation()
    if len(found.B) > MOST_STATES:
        return None
    entries = (*(entry for row in found.A for entry in row), *found.B, *found.C, *found.first)
    if any(STEP in entry.free_symbols for entry in entries):
        return None
    moved = [Add(*(a * x for a, x in zip(row, found.first, strict=True))) for row in found.A]
    return SteadyWeights(_read(found, found.B, scalars), _read(found, moved, scalars))


def _read(recursion: Realisation, first: Sequence[Expr], scalars: Scalars) -> Eventual:
    """``C A^k first``."""
    states: dict[int, Eventual] = {}

    def state(place: int) -> Eventual:
        if place not in states:
            row = recursion.A[place]
            own = _powers(row[place], scalars)
            whole = own.times(first[place])
            for other, entry in enumerate(row):
                if other != place and entry != 0:
                    whole += own.convolved(state(other)).later().times(entry)
            states[place] = whole
        return states[place]

    whole = Eventual(scalars, S.Zero)
    for place, reader in enumerate(recursion.C):
        if reader != 0:
            whole += state(place).times(reader)
    return whole


def _powers(decay: Expr, scalars: Scalars) -> Eventual:
    """``decay^k``."""
    return Eventual(scalars, S.Zero, (S.One,)) if decay == 0 else Eventual(scalars, decay**STEP)
