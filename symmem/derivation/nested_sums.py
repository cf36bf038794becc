"""The second order of a linear method at step n, its sums over the past by name: for those who compute it.

With several decays a closed form of these sums subtracts, and no sum of one sign can be read off it (mathematics.md
section 14).  They are made of the plain gains ``A_m(s) = sum_{k<=s} decay_m^k`` and the tails ``t_l`` of the decays:

    FIRST[l, m, p]  sum_{s<n} t_l(n, s) sum_{r<s} t_m(s, r) A_p(r)
    SAME[l, m, p]   sum_{s<n} t_l(n, s) A_m(s) A_p(s)
    LATER[l, m, p]  sum_{s<n} t_l(n, s) A_m(s) sum_{s<r<n} A_p(r)

    F_2^(n) = sum_l d_l Phi[Dg_l[U_l] + Q_l/2]:  U has FIRST and SAME + LATER, Q has SAME + 2 LATER     (section 4)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum

from sympy import Add, Dummy, Expr, Symbol

from symmem.algebra.atoms import STEP, slot
from symmem.algebra.directional import along, derivative
from symmem.algebra.grouping import group
from symmem.algebra.scalars import Scalars
from symmem.derivation.gains import at_frozen_point
from symmem.method.geometric import Geometric
from symmem.method.instant import Instant
from symmem.method.method import Channel, Method
from symmem.records import record

_SLOTS = (slot(0), slot(1))


class Kind(Enum):
    """Which of the three sums."""

    FIRST = "first"
    SAME = "same"
    LATER = "later"


@record(frozen=True)
class Nested:
    """A sum by its decays l, m and p; None for a channel without memory, whose gain is 1."""

    kind: Kind
    decays: tuple[Expr, Expr | None, Expr | None]


@record(frozen=True)
class NestedSums:
    """``F_2^(n)`` with three marks, one of each row, in the place of every sum."""

    F2: Expr
    numbers: Scalars
    tails: tuple[Symbol, ...]
    middle: tuple[tuple[Symbol, ...], tuple[Symbol, ...]]
    """Of tails inside tails, and of gains: what m stands for in FIRST, and in the others."""
    last: tuple[tuple[Symbol, ...], tuple[Symbol, ...], tuple[Symbol, ...]]
    """Of the gain of p in FIRST, SAME and LATER."""
    decays: tuple[Expr | None, ...]

    @property
    def marks(self) -> tuple[Symbol, ...]:
        """All of them, in the order of a product."""
        return (*self.tails, *(mark for row in (*self.middle, *self.last) for mark in row))

    def sums(self) -> dict[tuple[Symbol, ...], Nested]:
        """The sum that each product of marks stands for."""
        found = {}
        rows = zip(Kind, (self.middle[0], self.middle[1], self.middle[1]), self.last, strict=True)
        for kind, middle, last in rows:
            for tail, outer in zip(self.tails, self.decays, strict=True):
                for mark, second in zip(middle, self.decays, strict=True):
                    for other, third in zip(last, self.decays, strict=True):
                        if outer is not None and (kind is not Kind.FIRST or second is not None):
                            found[tail, mark, other] = Nested(kind, (outer, second, third))
        return found


def nested_sums(method: Method) -> NestedSums | None:
    """For a merged method that is linear, with geometric memories before which no factor moves; else None.

    A channel may be a sum of such memories: the marks are those of its parts.
    """
    rows = [(channel, part) for channel in method.channels for part in channel.kernel.summands]
    plain = all(
        isinstance(part, (Geometric, Instant)) and STEP not in part.factor.free_symbols for _, part in rows
    )
    if not (method.is_linear and plain and method.rate is None) or method.is_cascade:
        return None
    decays = tuple(part.decay if isinstance(part, Geometric) else None for _, part in rows)
    if not {*decays, None} <= {*method.numbers.field.bases, None}:
        return None
    tails, inside, gains, first, same, later = (tuple(Dummy("sum") for _ in rows) for _ in range(6))
    field = method.numbers.field
    constants = (*field.constants, *tails, *inside, *gains, *first, *same, *later)
    numbers = replace(method.numbers, field=replace(field, constants=constants))
    marked = replace(method, numbers=numbers)

    def of_channel(channel: Channel, marks: Iterable[Expr], *, has_memory: bool = False) -> Expr:
        """The marks of the parts of a channel with their factors, of those alone that remember where it says so."""
        pairs = [(part, mark) for (owner, part), mark in zip(rows, marks, strict=True) if owner is channel]
        return Add(*(part.scale(STEP) * mark for part, mark in pairs if part.has_memory or not has_memory))

    def update(*marks: Expr) -> Expr:
        return at_frozen_point(method.phi, marked, tuple(of_channel(each, marks) for each in method.channels))

    both = [one + two for one, two in zip(same, later, strict=True)]
    twice = [one + 2 * two for one, two in zip(same, later, strict=True)]
    drift = [derivative(update(*gains), along(update(*both)))]
    for channel in method.channels:
        moved = of_channel(channel, inside, has_memory=True) * derivative(channel.g, along(update(*first)))
        drift.append(derivative(method.phi, {channel.symbol: moved}))
    parts = []
    for channel in method.channels:
        bend = derivative(derivative(channel.g, along(_SLOTS[0])), along(_SLOTS[1]))
        curvature = bend.xreplace({_SLOTS[0]: update(*gains), _SLOTS[1]: update(*twice)})
        change = derivative(channel.g, along(Add(*drift))) + curvature / 2
        seen = of_channel(channel, tails, has_memory=True)
        parts.append(derivative(method.phi, {channel.symbol: seen * change}))
    found = group([part for part in parts if part != 0], numbers, merge_products=False)
    return NestedSums(found, numbers, tails, (inside, gains), (first, same, later), decays)
