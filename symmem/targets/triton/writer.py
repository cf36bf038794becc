"""Passes as lines of Python: a kernel in Triton's language, and the host's code that computes its numbers."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from symmem.algebra.atoms import STEP
from symmem.program.needs import Need, needs_of_ranges
from symmem.program.program import Routine
from symmem.program.scope import Scope
from symmem.program.statements import Apply, Assign, Assignment
from symmem.targets.printing import part_names
from symmem.targets.python.layout import (
    INDENT,
    WIDTH,
    Argument,
    Group,
    assignment,
    indented,
    reached,
    signature,
)
from symmem.targets.python.writer import PythonWriter
from symmem.targets.triton.dialect import TritonPrinter
from symmem.targets.triton.passes import Pass, Rows, Table, TritonKernel

CALL = "_call"
"""The local name of a call's tensors: a parameter's name begins with a letter."""
_SETTINGS = ("BLOCK", "REAL", "KINDS", "ALIGNED")
_OWN = (
    *keyword.kwlist,
    *_SETTINGS,
    *("tl", "triton", "range", "table", "owner", "entry", "block", "place", "mask", "row", "target"),
)
"""Names of a kernel that are no vectors and no numbers; no name of the user's is in a kernel."""


@dataclass
class KernelWriter:
    """Gives every kernel its name, once, and remembers the device functions that they call."""

    names: dict[TritonKernel, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def named(self, kernel: TritonKernel, role: str) -> str:
        """The kernel's name in the module."""
        if kernel not in self.names:
            taken = set(self.names.values())
            stems = (f"_{role}{'' if k == 1 else k}" for k in range(1, len(taken) + 2))
            self.names[kernel] = next(name for name in stems if name not in taken)
        return self.names[kernel]

    def lines(self) -> list[list[str]]:
        """All kernels."""
        return [self._kernel(kernel, name) for kernel, name in self.names.items()]

    def _kernel(self, kernel: TritonKernel, name: str) -> list[str]:
        given = [f"rows{k}" for k in range(1, kernel.tables + 1)]
        numbers = {symbol: f"a{k}" for k, symbol in enumerate(kernel.numbers, start=1)}
        scope = Scope((), words=(*_OWN, *given), preferred=numbers)
        arguments = ["table", "owner", *given]
        arguments += [f"{scope.name(each)}: tl.float64" for each in kernel.numbers]
        arguments += [f"{each}: tl.constexpr" for each in _SETTINGS]
        places = kernel.places
        body = [
            "block = tl.program_id(0)",
            f"entry = table + {2 + len(places)} * tl.load(owner + block)",
            "place, mask = _place(entry, block, BLOCK, ALIGNED)",
        ]
        for at, vector in enumerate(kernel.vectors):
            body.append(f"{scope.name(vector)} = _pointer(entry + {2 + at}, KINDS[{at}], ALIGNED)")
            body.append(f"{scope.name(vector)} = tl.load({scope.name(vector)} + place, mask).to(REAL)")
        body += [f"{scope.name(each)} = tl.full((), {scope.name(each)}, REAL)" for each in kernel.numbers]
        tables = iter(given)
        for statement in kernel.inside:
            if isinstance(statement, Apply):
                body += self._apply(statement, scope)
            else:
                body += self._rows(statement, next(tables), scope)
        for where, vector in kernel.written:
            at = places.index(where)
            body.append(f"target = _pointer(entry + {2 + at}, KINDS[{at}], ALIGNED)")
            body.append(f"tl.store(target + place, {scope.name(vector)}.to(KINDS[{at}]), mask)")
        return ["@triton.jit", *signature(name, arguments), *indented(body)]

    def _rows(self, rows: Rows, table: str, scope: Scope) -> list[str]:
        width, result = len(rows.columns), scope.name(rows.result)
        inner = [
            f"{scope.name(each)} = tl.load({table} + {width} * row + {k}).to(REAL)"
            for k, each in enumerate(rows.columns, start=1)
        ]
        inner += [line for each in rows.body for line in self._apply(each, scope)]
        inner.append(f"{result} = {result} + {scope.name(rows.term)}")
        head = f"for row in range(tl.load({table}).to(tl.int32)):"
        return [f"{result} = tl.full((BLOCK,), 0.0, REAL)", head, *indented(inner)]

    def _apply(self, statement: Apply, scope: Scope) -> list[str]:
        function, fresh = statement.function, part_names()
        printer = TritonPrinter(function.scalars, scope.name, self.used)
        room = WIDTH - 2 * len(INDENT)
        lines: list[str] = []
        for name, value in (*function.locals, (statement.result, function.output)):
            lines += assignment(scope.name(name), value, printer, fresh, room)
        if not function.vectors:  # a number for all entries
            result = scope.name(statement.result)
            lines.append(f"{result} = tl.full((BLOCK,), {result}, REAL)")
        return lines


def launch(work: Pass, kernel: str, writer: PythonWriter, target: str = "return ") -> list[str]:
    """The numbers of a pass, then its call."""
    lines = writer.block(work.before)
    for position, table in enumerate(work.tables, start=1):
        lines += _table(table, f"_rows{position}", writer)
    places, numbers = work.kernel.places, map(writer.scope.name, work.kernel.numbers)
    written = [name for name, _ in work.kernel.written]
    arguments: list[Argument] = [kernel, _quoted(places), _quoted(written), Group(tuple(numbers))]
    if work.tables:
        arguments.append(Group(tuple(f"_rows{k}" for k in range(1, len(work.tables) + 1))))
    return [*lines, *writer.call(target, f"{CALL}.run", arguments)]


def _quoted(names: Iterable[str]) -> Group:
    return Group(tuple(f'"{name}"' for name in names))


def _table(table: Table, name: str, writer: PythonWriter) -> list[str]:
    """The rows of a sum: of all steps at once where their numbers are formulas, else step by step."""
    loop, columns = table.loop, Group(tuple(map(writer.scope.name, table.columns)))
    index, bounds = writer.scope.name(loop.index), ", ".join(writer.bounds(loop))
    if (assignments := _formulas(table)) is not None:
        lines = [f"{index} = _steps({bounds})", *writer.ranges(assignments, loop.index)]
        if table.reach is not None:
            rule = f"_rule({', '.join(columns.entries)}, {reached(table.reach)})"
            return [*lines, f"{name} = _counted({rule})"]
        if table.few:
            return [*lines, f"{name} = _counted(_few({', '.join([index, *columns.entries])}))"]
        return [*lines, f"{name} = _counted(_stacked({index}, {columns}))"]
    head = f"for {index} in {writer.scope.outer('range')}({bounds}):"
    body = [*writer.block(table.numbers), *writer.call("", f"{name}.append", [columns])]
    filled = f"{name} = _counted(_stacked(_steps({bounds}), _columns({name})))"
    return [f"{name} = []", head, *indented(body), filled]


def _formulas(table: Table) -> list[Assignment] | None:
    """The numbers of a step, where they are formulas of it."""
    if not all(isinstance(each, Assign) for each in table.numbers):
        return None
    return [pair for each in table.numbers if isinstance(each, Assign) for pair in each.assignments]


def needs_of(work: Pass) -> Iterator[Need]:
    """What the host's code calls."""
    yield from Routine(work.before, STEP).needs
    for table in work.tables:
        formulas = _formulas(table)
        yield Need.STEPS if not table.few else Need.FEW if table.reach is None else Need.RULE
        yield from () if table.loop.decay is None else (Need.OLDEST,)
        if formulas is None:
            yield from Routine(table.numbers, STEP).needs
        else:
            yield from needs_of_ranges(formulas, table.loop.index)
