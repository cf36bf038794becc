"""What a value is made of: statements without those that nobody reads."""

from __future__ import annotations

from collections.abc import Iterable

from symmem.program.statements import Assign, Statement, assigns, reads


def needed(statements: Iterable[Statement], last: Statement) -> tuple[Statement, ...]:
    """The statements that ``last`` is made of, and it; numbers that nobody reads are left out."""
    wanted, kept = set(reads(last)), [last]
    for statement in reversed(list(statements)):
        if isinstance(statement, Assign):
            pairs = []
            for name, value in reversed(statement.assignments):
                if name in wanted:
                    pairs.append((name, value))
                    wanted |= value.free_symbols
            if pairs:
                kept.append(Assign(tuple(reversed(pairs))))
        elif assigns(statement) & wanted:
            kept.append(statement)
            wanted |= reads(statement)
    return tuple(reversed(kept))
