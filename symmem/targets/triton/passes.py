"""Routine -> Pass: the numbers that the host computes once, and one kernel over the entries.

c1 = lr (1 - beta)                   before, in double
v1[i] = theta[i] - c1 grad[i]        the kernel, with the vectors theta, grad and the number c1

A sum over past steps is in the kernel; the numbers of each step are a row of a table that the host fills.  Where a few
steps stand for all (:mod:`symmem.program.few_steps`) the table has rows for these alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sympy import Symbol

from symmem.algebra.ranges import Ranges
from symmem.algebra.results import Missing, Sentence
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
    theta_first,
)

Number = Assign | Loop | Choice
_NESTED = Missing(Sentence.of("a sum over past steps stands inside another one, of vectors"))


@dataclass(frozen=True)
class Rows:
    """``result = sum over the rows of a table of term``: each row gives the columns, the body makes the term."""

    result: Symbol
    columns: tuple[Symbol, ...]
    body: tuple[Apply, ...]
    term: Symbol


@dataclass(frozen=True)
class Table:
    """The numbers of the past steps of a loop; ``few``: some steps stand for all, and the first column is a weight."""

    loop: Loop
    numbers: tuple[Number, ...]
    columns: tuple[Symbol, ...]
    few: bool
    reach: Reach | None = None


@dataclass(frozen=True)
class TritonKernel:
    """One loop over the entries; ``written`` are the places that it writes, with the vectors that go there."""

    inside: tuple[Apply | Rows, ...]
    vectors: tuple[Symbol, ...]
    numbers: tuple[Symbol, ...]
    written: tuple[tuple[str, Symbol], ...]

    @property
    def places(self) -> tuple[str, ...]:
        """The names of all that it reads and writes, as a call knows them."""
        return tuple(
            dict.fromkeys((*(each.name for each in self.vectors), *(name for name, _ in self.written)))
        )

    @property
    def tables(self) -> int:
        """How many sums over past steps it has."""
        return sum(isinstance(each, Rows) for each in self.inside)


@dataclass(frozen=True)
class Pass:
    """``before`` computes numbers, ``tables`` those of past steps; then the kernel runs."""

    before: tuple[Number, ...]
    tables: tuple[Table, ...]
    kernel: TritonKernel


def pass_of(routine: Routine, ranges: Ranges, written: Iterable[tuple[str, Symbol]]) -> Pass | Missing:
    """The pass of an entrywise routine; ``ranges`` are those of the parameters."""
    before, tables, inside = list[Number](), list[Table](), list[Apply | Rows]()
    for statement in routine.statements:
        if isinstance(statement, Apply):
            inside.append(statement)
        elif isinstance(statement, Loop) and not statement.is_scalar:
            table = _table(statement, ranges)
            if isinstance(table, Missing):
                return table
            tables.append(table)
            body = tuple(each for each in statement.body if isinstance(each, Apply))
            inside.append(Rows(statement.result, table.columns, body, statement.term))
        else:
            assert isinstance(statement, (Assign, Loop, Choice)), "a routine with given products is entrywise"
            before.append(statement)
    placed = tuple(written)
    applied = [each for part in inside for each in ((part,) if isinstance(part, Apply) else part.body)]
    own = {each.result for each in (*applied, *inside)}
    own.update(*(each.columns for each in inside if isinstance(each, Rows)))
    read = {symbol for each in applied for symbol in each.function.vectors} | {name for _, name in placed}
    vectors = sorted(read - own, key=theta_first)
    numbers = sorted({s for each in applied for s in each.function.scalars} - own, key=by_name)
    return Pass(
        tuple(before), tuple(tables), TritonKernel(tuple(inside), tuple(vectors), tuple(numbers), placed)
    )


def _table(loop: Loop, ranges: Ranges) -> Table | Missing:
    few = columns(loop, ranges)
    numbers = tuple(_numbers(loop.body))
    applied = [each for each in loop.body if isinstance(each, Apply)]
    if len(numbers) + len(applied) < len(loop.body):
        return _NESTED
    moving = frozenset({loop.index}).union(*map(assigns, numbers))
    wanted = {symbol for each in applied for symbol in each.function.scalars if symbol in moving}
    if few is None:
        return Table(loop, numbers, tuple(sorted(wanted, key=by_name)), few=False)
    return Table(loop, numbers, few, few=True, reach=reach(loop, few, ranges))


def _numbers(statements: Iterable[Statement]) -> Iterator[Number]:
    for each in statements:
        if isinstance(each, (Assign, Choice)) or (isinstance(each, Loop) and each.is_scalar):
            yield each
