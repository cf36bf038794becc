"""Stability -> the function ``sharpness`` of the emitted JAX module; code that does not vary is in ``edge.py``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sympy import Expr

from symmem.algebra.results import Missing
from symmem.derivation.derivation import Derivation
from symmem.derivation.stability import Stability, stability
from symmem.program.lowering import number_routine
from symmem.program.needs import Need
from symmem.program.program import Program
from symmem.program.running import Running, running_value
from symmem.program.statements import Assignment, Internal
from symmem.targets.jax.writer import JaxWriter
from symmem.targets.python.layout import INDENT, WIDTH, Argument, Group, call, indented, signature
from symmem.targets.python.surfaces import contractions, defaults

_CLAIM = (
    '"""Whether a run is at the edge of stability: numbers for a logger, by 20 products.',
    "",
    "preconditioned_sharpness, the largest eigenvalue of P^(1/2) H P^(1/2), P the preconditioner",
    "of the update that the optimizer would make now, and sharpness_threshold, that from which",
    "the optimizer is unstable on a quadratic with this P, after many steps.",
    '"""',
)


@dataclass(frozen=True)
class Edge:
    """The recursion on a frozen quadratic, and the routine of its preconditioner."""

    found: Stability
    running: Running

    @classmethod
    def of(cls, derivation: Derivation) -> Edge | None:
        """None where the method has no such recursion."""
        found = stability(derivation.method)
        if isinstance(found, Missing):
            return None
        return cls(found, running_value(derivation.optimizer, found.preconditioner))

    @property
    def needs(self) -> frozenset[Need]:
        """Of the function, and of the numbers in it."""
        numbers = map(number_routine, (*self.found.free, *self.found.forced, self.found.shift))
        routines = (self.running.routine, *numbers)
        return frozenset({Need.SHARPNESS}.union(*(each.needs for each in routines)))


def sharpness_function(
    edge: Edge, program: Program, writer: JaxWriter, memory: str, opened: Sequence[str]
) -> list[str]:
    """The lines of ``sharpness``; ``opened`` are those that read its arguments, up to what was kept of the past."""
    found, running = edge.found, edge.running
    higher, room = contractions(program.order), WIDTH - len(INDENT)
    head = signature("sharpness", ["theta", "grad", *higher[:1], memory, "*", "n", "lr", *defaults(program)])
    body = list(opened)
    roles = {running.routine.result: "preconditioner", **dict.fromkeys(running.after, "moment")}
    if program.optimizer.schedule is not None:
        settings = ["n", *(f"{name}={name}" for name in program.parameters)]
        body += call("lr = lr * ", "_rate", settings, room)
    vector = writer.scope.fresh("v")
    free, forced, (shift,) = (
        _named(stem, values)
        for stem, values in (("free", found.free), ("forced", found.forced), ("shift", (found.shift,)))
    )
    names = [Group(tuple(writer.scope.name(symbol) for symbol, _ in each)) for each in (free, forced)]
    arguments: list[Argument] = [
        writer.scope.name(running.routine.result),
        f"lambda {vector}: _like(theta, {higher[0]}(theta, {vector}))",
        writer.scope.name(shift[0]),
        Group(tuple(map(str, names))),
        "lr",
    ]
    body += writer.with_roles(running.routine.statements, roles)
    body += [*writer.numbers([*free, *forced, shift]), *call("return ", "_sharpness", arguments, room)]
    return [*head, *indented([*_CLAIM, *body])]


def _named(stem: str, values: Sequence[Expr]) -> list[Assignment]:
    return [(Internal(f"{stem}{k}"), value) for k, value in enumerate(values, start=1)]
