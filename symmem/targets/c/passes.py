"""Routine -> Pass: what is computed once in a call, and what is computed for every entry.

A routine of the Program whose products with the Hessian are given treats each entry by itself, so that it is one loop
over the entries, with numbers that are the same for all of them.

    c1 = lr (1 - beta)                 before
    v1[i] = theta[i] - c1 grad[i]      inside, with the vectors theta, grad and the number c1

A sum over past steps is inside.  Where a few steps stand for all (:mod:`symmem.program.few_steps`), their numbers are
rows of a table, which is filled before, and inside runs over the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sympy import Symbol

from symmem.algebra.ranges import Ranges
from symmem.program.few_steps import columns, reach
from symmem.program.program import Routine
from symmem.program.statements import (
    Apply,
    Assign,
    Choice,
    Loop,
    Reach,
    Statement,
    assigns,
    by_name,
    reads,
    theta_first,
)


@dataclass(frozen=True)
class Table:
    """Rows of numbers at a few past steps, filled from those of the loop: the columns, the weight first."""

    loop: Loop
    columns: tuple[Symbol, ...]
    reach: Reach | None = None


@dataclass(frozen=True)
class Rows:
    """``result = sum of term over the rows of the table``."""

    result: Symbol
    columns: tuple[Symbol, ...]
    term: Apply


@dataclass(frozen=True)
class Pass:
    """One loop over the entries.

    ``before`` computes numbers, once in a call; ``inside`` computes an entry of the result from entries of
    ``vectors`` and from ``numbers``, by its last statement.  ``written`` are vectors that are written beside the
    result, inputs or results of earlier statements: an optimizer's memory.
    """

    before: tuple[Assign | Loop | Choice, ...]
    inside: tuple[Apply | Loop | Rows, ...]
    vectors: tuple[Symbol, ...]
    numbers: tuple[Symbol, ...]
    table: Table | None = None
    written: tuple[Symbol, ...] = ()

    @property
    def row(self) -> int:
        """How many numbers a row of past steps has; 0 where there are no rows."""
        return next((len(each.columns) for each in self.inside if isinstance(each, Rows)), 0)

    @property
    def has_sum(self) -> bool:
        """Whether a sum over past steps runs inside: its coefficients are computed between the entries."""
        return any(isinstance(statement, (Loop, Rows)) for statement in self.inside)

    @property
    def output(self) -> Apply:
        """The last statement, which writes the entries of the result."""
        last = self.inside[-1]
        assert isinstance(last, Apply), "the last statement of a vector routine is entrywise"
        return last

    @property
    def used(self) -> frozenset[Symbol]:
        """The symbols that are read inside, or written as they are."""
        return frozenset(self.written).union(*(reads(_plain(each)) for each in self.inside))

    def of(self, vector: Symbol) -> Pass:
        """The pass that computes one of the vectors that are written; of an input, a pass without statements."""
        kept: list[Apply | Loop | Rows] = []
        wanted = {vector}
        for statement in reversed(self.inside):
            if _assigned(statement) & wanted:
                kept.append(statement)
                wanted |= reads(_plain(statement))
        return Pass((), tuple(reversed(kept)), self.vectors, self.numbers, written=() if kept else (vector,))


def pass_of(routine: Routine, ranges: Ranges | None = None, written: Iterable[Symbol] = ()) -> Pass:
    """The pass of an entrywise routine; with the ranges of the parameters, a long sum is taken at a few steps."""
    inside, before = list[Apply | Loop | Rows](), list[Assign | Loop | Choice]()
    table: Table | None = None
    for statement in routine.statements:
        if isinstance(statement, Loop) and not statement.is_scalar:
            wanted = None if ranges is None or table is not None else columns(statement, ranges)
            if ranges is None or wanted is None:
                inside.append(statement)
                continue
            table, term = Table(statement, wanted, reach(statement, wanted, ranges)), statement.body[-1]
            assert isinstance(term, Apply), "few_steps has seen it"
            inside.append(Rows(statement.result, wanted, term))
        elif isinstance(statement, Apply):
            inside.append(statement)
        else:
            assert isinstance(statement, (Assign, Loop, Choice)), "a routine with given products is entrywise"
            before.append(statement)
    own = frozenset[Symbol]().union(*map(_assigned, inside))
    placed = tuple(written)
    given = frozenset(placed).union(*(reads(_plain(each)) for each in inside)) - own
    vectors = frozenset((*placed, *_vectors(map(_plain, inside)))) - own
    return Pass(
        tuple(before),
        tuple(inside),
        tuple(sorted(vectors, key=theta_first)),
        tuple(sorted(given - vectors, key=by_name)),
        table,
        placed,
    )


def _plain(statement: Apply | Loop | Rows) -> Apply | Loop:
    return statement.term if isinstance(statement, Rows) else statement


def _assigned(statement: Apply | Loop | Rows) -> frozenset[Symbol]:
    if isinstance(statement, Rows):
        return frozenset((statement.result, statement.term.result, *statement.columns))
    return assigns(statement)


def _vectors(statements: Iterable[Statement]) -> Iterator[Symbol]:
    for statement in statements:
        if isinstance(statement, Apply):
            yield from statement.function.vectors
        elif isinstance(statement, Loop):
            yield from _vectors(statement.body)
