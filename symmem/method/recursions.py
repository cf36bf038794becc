"""Several linear recursions side by side: the geometric series of their matrices, exactly (mathematics.md section 7).

    sum_{k>=0} (A x A')^k f = (1 - A x A')^(-1) f,        x the tensor product, f a state of both

No state of a memory feeds back through another, so that 1 - A x A' is triangular in the right order and is solved state
by state, in the field of the entries; entries that are 0 cost nothing.  Two geometric memories have one state, and the
sum is ``1/(1 - a a')``:

>>> from sympy import S, symbols
>>> a, b = symbols("a b")
>>> one, other = (Realisation(((decay,),), (S.One,), (S.One,), (S.Zero,)) for decay in (a, b))
>>> both = Recursions(one, other)
>>> both.read(both.summed(joined(both.fed(0), both.fed(1)), (True, True)))
1/(-a*b + 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from operator import add

from sympy import Add, Expr

from symmem.algebra.every import every
from symmem.algebra.exponential import exponential_field
from symmem.algebra.factored import write
from symmem.algebra.rational import Quotient
from symmem.method.exactly import exactly
from symmem.method.realisation import Realisation
from symmem.work import checkpoint

State = dict[tuple[int, ...], Quotient]
"""The entries that are not 0, each by its place in every recursion."""
Moved = tuple[bool, ...]
"""Of every recursion, whether it makes a step; else it stays where it is."""


class Recursions:
    """The recursions, with constant entries, in one field."""

    def __init__(self, *recursions: Realisation) -> None:
        ordered = [_in_order(each) for each in recursions]
        entries = (x for each in ordered for x in (*(x for row in each.A for x in row), *each.B, *each.C))
        self._field = exponential_field(entries)
        self._columns = [self._read_columns(each.A) for each in ordered]
        self._blocks = [_blocks(each.A) for each in ordered]
        self._fed = [self._vector(each.B) for each in ordered]
        self._readers = [self._vector(each.C) for each in ordered]

    def fed(self, place: int) -> State:
        """``B`` of one recursion."""
        return {(i,): value for i, value in self._fed[place].items()}

    def step(self, state: State, moved: Moved, first: int = 0) -> State:
        """``A x A' ... f``; ``first``: the recursion at which the state begins."""
        found: dict[tuple[int, ...], list[Quotient]] = {}
        for place, value in state.items():
            for target, factor in self._reached(place, moved, first):
                found.setdefault(target, []).append(factor * value)
        return _added(found)

    def summed(self, state: State, moved: Moved, first: int = 0) -> State:
        """``sum_{k>=0} (A x A' ...)^k f``: each state from those before it."""
        waiting = {place: [value] for place, value in state.items()}
        found: State = {}
        while waiting:
            checkpoint("the sums over noisy steps")
            place = min(waiting)
            value, own = reduce(add, waiting.pop(place)), None
            if value.is_zero():
                continue
            later = []
            for target, factor in self._reached(place, moved, first):
                if target == place:
                    own = factor
                else:
                    later.append((target, factor))
            value = value if own is None else value / (self._field.number(1) - own)
            found[place] = value
            for target, factor in later:
                waiting.setdefault(target, []).append(factor * value)
        return found

    def read(self, state: State) -> Expr:
        """``(C x C' ...) f`` of a state of all; a term for each choice of memories that stand side by side."""
        parts: dict[tuple[int, ...], list[Quotient]] = {}
        for place, value in state.items():
            factors = every(readers.get(i) for readers, i in zip(self._readers, place, strict=True))
            if factors is not None:
                blocks = tuple(block[i] for block, i in zip(self._blocks, place, strict=True))
                parts.setdefault(blocks, []).append(reduce(lambda x, y: x * y, factors, value))
        return Add(*(write(self._field, reduce(add, each)) for each in parts.values()))

    def _reached(
        self, place: tuple[int, ...], moved: Moved, first: int
    ) -> list[tuple[tuple[int, ...], Quotient]]:
        """Where an entry goes in one step, with its factors; a recursion that stays has the factor 1."""
        one = self._field.number(1)
        ways = [
            self._columns[first + axis][i] if moves else [(i, one)]
            for axis, (i, moves) in enumerate(zip(place, moved, strict=True))
        ]
        return [
            (tuple(i for i, _ in choice), reduce(lambda x, y: x * y, (factor for _, factor in choice)))
            for choice in product(*ways)
        ]

    def _read_columns(self, rows: Sequence[Sequence[Expr]]) -> list[list[tuple[int, Quotient]]]:
        size = len(rows)
        columns = [self._vector([rows[i][j] for i in range(size)]) for j in range(size)]
        return [list(column.items()) for column in columns]

    def _vector(self, entries: Sequence[Expr]) -> dict[int, Quotient]:
        return {i: self._element(entry) for i, entry in enumerate(entries) if entry != 0}

    def _element(self, entry: Expr) -> Quotient:
        return exactly(self._field.read(entry))


def joined(left: State, right: State) -> State:
    """The tensor product of a state of some recursions and one of those behind them."""
    return {(*i, *j): x * y for i, x in left.items() for j, y in right.items()}


def _added(parts: dict[tuple[int, ...], list[Quotient]]) -> State:
    sums = {place: reduce(add, values) for place, values in parts.items()}
    return {place: value for place, value in sums.items() if not value.is_zero()}


def _in_order(recursion: Realisation) -> Realisation:
    """The same with its states in an order in which each reads those before it alone."""
    order: list[int] = []

    def place(i: int, above: tuple[int, ...]) -> None:
        assert i not in above, "a state feeds back through another"
        for j, entry in enumerate(recursion.A[i]):
            if j not in (i, *order) and entry != 0:
                place(j, (*above, i))
        if i not in order:
            order.append(i)

    for i in range(len(recursion.B)):
        place(i, ())
    return Realisation(
        tuple(tuple(recursion.A[i][j] for j in order) for i in order),
        tuple(recursion.B[i] for i in order),
        tuple(recursion.C[i] for i in order),
        tuple(recursion.first[i] for i in order),
    )


def _blocks(rows: Sequence[Sequence[Expr]]) -> list[int]:
    """Of each state the first of those that it is linked with: states of one memory of a sum."""
    found = list(range(len(rows)))
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            if entry != 0 and found[i] != found[j]:
                low, high = sorted((found[i], found[j]))
                found = [low if block == high else block for block in found]
    return found
