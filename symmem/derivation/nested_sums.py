"""A linear method at step n, its sums over the past by name: for those who compute it.

With several decays a closed form of these sums subtracts, and no sum of one sign can be read off it (mathematics.md
section 14).  They are made of the plain gains A_m and the tails t_l of paths, memories of memories without factors; one
memory is a path of one decay, ``A_m(s) = sum_{k<=s} decay_m^k``:

    ALONE[l, m]     sum_{s<n} t_l(n, s) A_m(s)
    FIRST[l, m, p]  sum_{s<n} t_l(n, s) sum_{r<s} t_m(s, r) A_p(r)
    SAME[l, m, p]   sum_{s<n} t_l(n, s) A_m(s) A_p(s)
    LATER[l, m, p]  sum_{s<n} t_l(n, s) A_m(s) sum_{s<r<n} A_p(r)

    F_1^(n) = sum_l d_l Phi[Dg_l[S_l]]:  S has ALONE
    F_2^(n) = sum_l d_l Phi[Dg_l[U_l] + Q_l/2]:  U has FIRST and SAME + LATER, Q has SAME + 2 LATER     (section 4)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from symmem.method.composition import Composition
from symmem.method.geometric import Geometric
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel
from symmem.method.method import Channel, Method
from symmem.records import record

_SLOTS = (slot(0), slot(1))


Path = tuple[Expr, ...]
"""The decays of memories inside one another, whose order does not matter; none where there is no memory."""


class SumKind(Enum):
    """Which of the sums."""

    ALONE = "alone"
    FIRST = "first"
    SAME = "same"
    LATER = "later"


@record(frozen=True)
class Nested:
    """A sum by its paths l, m and, but for ALONE, p; the gain of a path without memory is 1."""

    kind: SumKind
    paths: tuple[Path, ...]


@record(frozen=True)
class NestedSums:
    """A coefficient of M^(n), with a product of marks in the place of every sum, and its order."""

    coefficient: Expr
    order: int
    numbers: Scalars
    sums: Mapping[frozenset[Symbol], Nested]
    """The sum that each product of marks stands for."""
    marks: tuple[Symbol, ...]


Row = tuple[Symbol, ...]
"""One mark for each part of a memory."""


@record(frozen=True)
class _Part:
    """``factor`` times the memories of a path inside one another."""

    factor: Expr
    path: Path


@record(frozen=True)
class _Marks:
    """A row for the tails, for tails inside tails, for gains, and for the last gain of each kind of sum."""

    tails: Row
    inside: Row
    gains: Row
    last: Mapping[SumKind, Row]

    @property
    def all(self) -> Row:
        """Those of all rows."""
        return (*self.tails, *self.inside, *self.gains, *(mark for row in self.last.values() for mark in row))

    def sums(self, paths: tuple[Path, ...]) -> dict[frozenset[Symbol], Nested]:
        """What each product stands for; without a tail there is no sum."""
        tails = [pair for pair in zip(self.tails, paths, strict=True) if pair[1]]
        inside = [pair for pair in zip(self.inside, paths, strict=True) if pair[1]]
        gains = list(zip(self.gains, paths, strict=True))
        middle = {SumKind.FIRST: [inside], SumKind.SAME: [gains], SumKind.LATER: [gains], SumKind.ALONE: []}
        found = {}
        for kind, row in self.last.items():
            for chosen in product(tails, *middle[kind], zip(row, paths, strict=True)):
                found[frozenset(mark for mark, _ in chosen)] = Nested(kind, tuple(path for _, path in chosen))
        return found


@record(frozen=True)
class _Formal:
    """A method whose gains and tails are marks; a channel may be a sum of memories, its parts."""

    method: Method
    parts: tuple[tuple[Channel, _Part], ...]

    def of_channel(self, channel: Channel, marks: Iterable[Expr], *, has_memory: bool = False) -> Expr:
        """The marks of its parts with their factors; of those alone that remember where it says so."""
        pairs = [(part, mark) for (own, part), mark in zip(self.parts, marks, strict=True) if own is channel]
        return Add(*(part.factor * mark for part, mark in pairs if part.path or not has_memory))

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

    def first(self, marks: _Marks) -> Expr:
        """``F_1^(n)``."""
        parts: list[Expr] = []
        for channel, step in product(self.method.channels, self.update(marks.last[SumKind.ALONE])):
            seen = self.of_channel(channel, marks.tails, has_memory=True)
            parts += self.through_phi(channel, seen * derivative(channel.g, along(step)))
        return self._grouped(parts)

    def second(self, marks: _Marks) -> Expr:
        """``F_2^(n)``."""
        pairs = list(zip(marks.last[SumKind.SAME], marks.last[SumKind.LATER], strict=True))
        own = self.update(marks.gains)
        drift: list[Expr] = []
        parts: list[Expr] = []
        for step, rest in product(own, self.update(same + later for same, later in pairs)):
            drift += self.spread(derivative(step, along(rest)))
        for channel, step in product(self.method.channels, self.update(marks.last[SumKind.FIRST])):
            seen = self.of_channel(channel, marks.inside, has_memory=True)
            drift += self.through_phi(channel, seen * derivative(channel.g, along(step)))
        twice = self.update(same + 2 * later for same, later in pairs)
        for channel in self.method.channels:
            bend = derivative(derivative(channel.g, along(_SLOTS[0])), along(_SLOTS[1]))
            changes = [derivative(channel.g, along(term)) for term in drift]
            changes += [
                bend.xreplace(dict(zip(_SLOTS, each, strict=True))) / 2 for each in product(own, twice)
            ]
            seen = self.of_channel(channel, marks.tails, has_memory=True)
            parts += [term for change in changes for term in self.through_phi(channel, seen * change)]
        return self._grouped(parts)

    def _grouped(self, parts: list[Expr]) -> Expr:
        return group([part for part in parts if part != 0], self.method.numbers, merge_products=False)


def nested_sums(method: Method, order: int) -> NestedSums | None:
    """The coefficient of this order, 1 or 2, of a merged method; None where it is not made of such sums.

    It has to be linear, with memories inside and beside one another before which no factor moves.
    """
    pairs = [(channel, _part(kernel)) for channel in method.channels for kernel in channel.kernel.summands]
    parts = tuple((channel, part) for channel, part in pairs if part is not None)
    if not method.is_linear or method.is_cascade or method.rate is not None or len(parts) < len(pairs):
        return None
    if not {*method.numbers.field.bases}.issuperset(decay for _, part in parts for decay in part.path):
        return None
    rows = {kind: tuple(Dummy("sum") for _ in parts) for kind in SumKind}
    tails, inside, gains = (tuple(Dummy("sum") for _ in parts) for _ in range(3))
    marks = _Marks(tails, inside, gains, rows)
    field = method.numbers.field
    numbers = replace(method.numbers, field=replace(field, constants=(*field.constants, *marks.all)))
    formal = _Formal(replace(method, numbers=numbers), parts)
    found = formal.first(marks) if order == 1 else formal.second(marks)
    if any(split_scalar(term)[1].free_symbols & {*marks.all} for term in terms_of(distribute(found))):
        return None
    return NestedSums(found, order, numbers, marks.sums(tuple(part.path for _, part in parts)), marks.all)


def depth_of_paths(method: Method) -> int:
    """How many memories of a merged method stand inside one another, before which no factor moves."""
    parts = (_part(kernel) for channel in method.channels for kernel in channel.kernel.summands)
    return max((len(part.path) for part in parts if part is not None), default=0)


def _part(kernel: Kernel) -> _Part | None:
    """A memory of memories; None where one is another kernel, or has a factor that moves."""
    if isinstance(kernel, Composition):
        outer, inner = _part(kernel.outer), _part(kernel.inner)
        if outer is None or inner is None:
            return None
        return _Part(outer.factor * inner.factor, tuple(sorted((*outer.path, *inner.path), key=str)))
    if not isinstance(kernel, (Geometric, Instant)) or STEP in kernel.factor.free_symbols:
        return None
    return _Part(kernel.factor, (kernel.decay,) if isinstance(kernel, Geometric) else ())
