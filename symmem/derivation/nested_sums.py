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
from itertools import product

from sympy import Add, Dummy, Expr, Symbol

from symmem.algebra.atoms import STEP, slot, split_scalar, terms_of
from symmem.algebra.directional import along, derivative
from symmem.algebra.grouping import group
from symmem.algebra.passes import collect, distribute
from symmem.algebra.scalars import Scalars
from symmem.derivation.gains import at_frozen_point
from symmem.method.geometric import Geometric
from symmem.method.instant import Instant
from symmem.method.method import Channel, Method
from symmem.method.scaled import Scaled
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


Row = tuple[Symbol, ...]
"""One mark for each part of a memory."""


@record(frozen=True)
class _Formal:
    """A method whose gains and tails are marks; a channel may be a sum of memories, its parts."""

    method: Method
    parts: tuple[tuple[Channel, Scaled], ...]

    def of_channel(self, channel: Channel, marks: Iterable[Expr], *, has_memory: bool = False) -> Expr:
        """The marks of its parts with their factors; of those alone that remember where it says so."""
        pairs = [(part, mark) for (own, part), mark in zip(self.parts, marks, strict=True) if own is channel]
        return Add(*(part.factor * mark for part, mark in pairs if part.has_memory or not has_memory))

    def spread(self, expression: Expr) -> tuple[Expr, ...]:
        """Term by term: a mark leaves the product of one vector with a tensor of the loss, and not that of a sum."""
        return tuple(terms_of(distribute(collect(expression, self.method.numbers))))

    def update(self, marks: Iterable[Expr]) -> tuple[Expr, ...]:
        """``Phi`` of the gains, as terms."""
        given = tuple(marks)
        values = tuple(self.of_channel(each, given) for each in self.method.channels)
        return self.spread(at_frozen_point(self.method.phi, self.method, values))

    def through_phi(self, channel: Channel, change: Expr) -> tuple[Expr, ...]:
        """``d_l Phi[change]``."""
        return self.spread(derivative(self.method.phi, {channel.symbol: change}))

    def second(self, tails: Row, inside: Row, gains: Row, last: tuple[Row, Row, Row]) -> Expr:
        """``F_2^(n)``."""
        first, *others = last
        pairs = list(zip(*others, strict=True))
        own = self.update(gains)
        drift: list[Expr] = []
        parts: list[Expr] = []
        for step, rest in product(own, self.update(same + later for same, later in pairs)):
            drift += self.spread(derivative(step, along(rest)))
        for channel, step in product(self.method.channels, self.update(first)):
            seen = self.of_channel(channel, inside, has_memory=True)
            drift += self.through_phi(channel, seen * derivative(channel.g, along(step)))
        twice = self.update(same + 2 * later for same, later in pairs)
        for channel in self.method.channels:
            bend = derivative(derivative(channel.g, along(_SLOTS[0])), along(_SLOTS[1]))
            changes = [derivative(channel.g, along(term)) for term in drift]
            changes += [
                bend.xreplace(dict(zip(_SLOTS, each, strict=True))) / 2 for each in product(own, twice)
            ]
            seen = self.of_channel(channel, tails, has_memory=True)
            parts += [term for change in changes for term in self.through_phi(channel, seen * change)]
        return group([part for part in parts if part != 0], self.method.numbers, merge_products=False)


def nested_sums(method: Method) -> NestedSums | None:
    """For a merged method that is linear, with geometric memories before which no factor moves; else None."""
    pairs = [(channel, part) for channel in method.channels for part in channel.kernel.summands]
    parts = tuple((channel, part) for channel, part in pairs if isinstance(part, (Geometric, Instant)))
    if not method.is_linear or method.is_cascade or method.rate is not None or len(parts) < len(pairs):
        return None
    decays = tuple(part.decay if isinstance(part, Geometric) else None for _, part in parts)
    known = {*method.numbers.field.bases, None}
    if any(STEP in part.factor.free_symbols for _, part in parts) or not known.issuperset(decays):
        return None
    tails, inside, gains, *rest = (tuple(Dummy("sum") for _ in parts) for _ in range(6))
    last = (rest[0], rest[1], rest[2])
    marks = (*tails, *inside, *gains, *(mark for row in last for mark in row))
    field = method.numbers.field
    numbers = replace(method.numbers, field=replace(field, constants=(*field.constants, *marks)))
    found = _Formal(replace(method, numbers=numbers), parts).second(tails, inside, gains, last)
    if any(split_scalar(term)[1].free_symbols & {*marks} for term in terms_of(distribute(found))):
        return None
    return NestedSums(found, numbers, tails, (inside, gains), last, decays)
