"""Routine -> Plan: sums over all entries, one pass each and in order, then the pass that writes the result.

t1 = total(grad[i]**2)             a pass that adds, with the vector grad
c1 = lr/sqrt(t1)                   before the last pass
v1[i] = theta[i] - c1 grad[i]      inside it
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sympy import Symbol

from symmem.algebra.ranges import Ranges
from symmem.program.needed import needed
from symmem.program.program import Routine
from symmem.program.statements import (
    Apply,
    Entrywise,
    Internal,
    Statement,
    Total,
)
from symmem.targets.c.passes import Pass, pass_of

_DENSITY = Internal("density")
"""What a pass that adds computes for an entry: one name, so that equal sums are equal records."""


@dataclass(frozen=True)
class Plan:
    """``sums`` are numbers with the passes whose entries they add up; each may read the numbers before it."""

    sums: tuple[tuple[Symbol, Pass], ...]
    last: Pass


def plan_of(routine: Routine, ranges: Ranges | None = None, written: Iterable[Symbol] = ()) -> Plan:
    """The plan of a routine whose products with the Hessian are given; ``ranges`` are those of the parameters.

    ``written`` are vectors that are written beside the result.
    """
    *_, last = routine.statements
    found: list[tuple[Symbol, Pass]] = []
    earlier: list[Statement] = []
    for statement in routine.statements:
        if isinstance(statement, Total):
            found.append((statement.result, _added(statement, earlier)))
        else:
            earlier.append(statement)
    if not found:
        return Plan((), pass_of(routine, ranges, written))
    return Plan(tuple(found), pass_of(Routine(needed(earlier[:-1], last), routine.result)))


def _added(total: Total, earlier: Sequence[Statement]) -> Pass:
    """The pass whose entries the total adds up."""
    made = next((each for each in earlier if isinstance(each, Apply) and each.result == total.vector), None)
    plain = Entrywise((total.vector,), (), (), total.vector)
    density = Apply(_DENSITY, plain) if made is None else replace(made, result=_DENSITY)
    return pass_of(Routine(needed(earlier, density), _DENSITY))
