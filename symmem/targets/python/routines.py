"""What the writer of Python asks of statements: what vectors are for, and which numbers open a routine."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Symbol

from symmem.program.program import Routine
from symmem.program.statements import Assign, Assignment, Contract, Evaluate, OfTensor, Statement, Total


def roles_of(statements: Sequence[Statement]) -> dict[Symbol, str]:
    """What the vectors are for: it names the functions that make them."""
    roles: dict[Symbol, str] = {}
    for statement in statements:
        if isinstance(statement, Contract):
            roles |= dict.fromkeys(statement.directions, "direction")
        elif isinstance(statement, OfTensor):
            roles |= dict.fromkeys(statement.vectors, "argument")
        elif isinstance(statement, Evaluate):
            roles |= dict.fromkeys(statement.arguments, "argument")
        elif isinstance(statement, Total):
            roles[statement.vector] = "density"
    return roles


def skeleton(routine: Routine) -> tuple[Statement, ...]:
    """The statements without the numbers that open the routine."""
    return routine.statements[1:] if leading(routine) else routine.statements


def leading(routine: Routine) -> tuple[Assignment, ...]:
    """The numbers that open the routine, where something follows them."""
    first = routine.statements[0]
    return first.assignments if isinstance(first, Assign) and len(routine.statements) > 1 else ()
