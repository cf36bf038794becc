"""Routine -> Pass: what is computed once in a call, and what is computed for every entry.

A routine of the Program whose products with the Hessian are given treats each entry by itself, so that it is one loop
over the entries, with numbers that are the same for all of them.

    c1 = lr (1 - beta)                 before
    v1[i] = theta[i] - c1 grad[i]      inside, with the vectors theta, grad and the number c1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sympy import Symbol

from symmem.algebra.atoms import GRAD, THETA
from symmem.program.program import Routine
from symmem.program.statements import Apply, Assign, Choice, Internal, Loop, Statement, assigns, reads


@dataclass(frozen=True)
class Pass:
    """One loop over the entries.

    ``before`` computes numbers, once in a call; ``inside`` computes an entry of the result from entries of
    ``vectors`` and from ``numbers``, by its last statement.
    """

    before: tuple[Assign | Loop | Choice, ...]
    inside: tuple[Apply | Loop, ...]
    vectors: tuple[Symbol, ...]
    numbers: tuple[Symbol, ...]

    @property
    def has_sum(self) -> bool:
        """Whether a sum over past steps runs inside: its coefficients are computed between the entries."""
        return any(isinstance(statement, Loop) for statement in self.inside)

    @property
    def output(self) -> Apply:
        """The last statement, which writes the entries of the result."""
        last = self.inside[-1]
        assert isinstance(last, Apply), "the last statement of a vector routine is entrywise"
        return last


def pass_of(routine: Routine) -> Pass:
    """The pass of an entrywise routine."""
    inside, before = list[Apply | Loop](), list[Assign | Loop | Choice]()
    for statement in routine.statements:
        if isinstance(statement, Apply) or (isinstance(statement, Loop) and not statement.is_scalar):
            inside.append(statement)
        else:
            assert isinstance(statement, (Assign, Loop, Choice)), "a routine with given products is entrywise"
            before.append(statement)
    own = frozenset[Symbol]().union(*map(assigns, inside))
    given = frozenset[Symbol]().union(*map(reads, inside)) - own
    vectors = frozenset(_vectors(inside)) - own
    return Pass(
        tuple(before),
        tuple(inside),
        tuple(sorted(vectors, key=_vectors_first)),
        tuple(sorted(given - vectors, key=lambda symbol: (symbol.name, isinstance(symbol, Internal)))),
    )


def _vectors(statements: Iterable[Statement]) -> Iterator[Symbol]:
    for statement in statements:
        if isinstance(statement, Apply):
            yield from statement.function.vectors
        elif isinstance(statement, Loop):
            yield from _vectors(statement.body)


def _vectors_first(symbol: Symbol) -> tuple[bool, bool, int, str]:
    return symbol != THETA, symbol != GRAD, len(symbol.name), symbol.name
