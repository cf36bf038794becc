"""A Program's routines as lines of Python; NumPy, PyTorch and JAX differ in their dialect and in their loops.

The lines call a few small functions that the template of each target defines: ``_entrywise``, ``_like``,
``_total``, ``_oldest``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from sympy import Expr, Symbol

from symmem.algebra.atoms import GRAD, LOSS
from symmem.algebra.results import Advice, Missing
from symmem.program.program import Routine, Variants
from symmem.program.scope import Scope
from symmem.program.statements import (
    Apply,
    Assignment,
    Call,
    Contract,
    Entrywise,
    Internal,
    Loop,
    Scalars,
    Statement,
    Total,
)
from symmem.targets.python.printing import WIDTH, Dialect, PythonPrinter, assignment

INDENT = "    "
VALUES = {GRAD: "g", LOSS: "value"}
"""The gradient and the loss as values: in a signature ``grad`` and ``loss`` are the functions."""


@dataclass(frozen=True)
class Spelling:
    """The dialects of a target: of vectors, of numbers, and of a number for each of many steps."""

    vectors: Dialect
    scalars: Dialect
    ranges: Dialect


class PythonWriter:
    """Writes routines as lines; remembers the kernels that they use, by name."""

    def __init__(self, spelling: Spelling, scope: Scope) -> None:
        self._spelling = spelling
        self.scope = scope
        self._scalars = PythonPrinter(spelling.scalars, names=scope.name)
        self._ranges = PythonPrinter(spelling.ranges, names=scope.name)
        self._kernels: dict[Entrywise, str] = {}

    def variants(self, variants: Variants, role: str, *, out: bool) -> list[str]:
        """The body of a function of n: one set of statements where finite n and the limit differ in numbers alone."""
        finite, limit = variants.finite, variants.limit
        if isinstance(finite, Routine) and isinstance(limit, Routine):
            if finite == limit:
                return self.routine(finite, role, out=out)
            if _skeleton(finite) == _skeleton(limit):
                return [
                    *self._branch(_leading(limit), _leading(finite)),
                    *self.routine(Routine(_skeleton(finite), finite.result), role, out=out),
                ]
        lines = ["if n is None:", *_indented(self._one(limit, f"{role}_limit", out=out))]
        return [*lines, *self._one(finite, role, out=out)]

    def routine(self, routine: Routine, role: str, *, out: bool = False) -> list[str]:
        """Statements, and ``return`` of the last one's value; ``out`` is where the caller wants it."""
        *before, last = routine.statements
        lines = self.block(before)
        if isinstance(last, Apply):
            arguments = [*self._application(last, role), *(["out"] if out else [])]
            return [*lines, *self.call("return ", "_entrywise", arguments)]
        assert isinstance(last, Scalars)
        *earlier, (name, value) = last.assignments
        return [
            *lines,
            *self._assignments([*earlier, (name, value)], self._scalars),
            f"return {self._name(name)}",
        ]

    def accumulated(
        self,
        routine: Routine,
        role: str,
        function: str = "_accumulate",
        given: Sequence[str] = ("out", "factor"),
    ) -> list[str]:
        """Statements that add ``factor`` times the value of a vector routine to ``out``, or another such function."""
        *before, last = routine.statements
        assert isinstance(last, Apply)
        kernel, _theta, *arguments = self._application(last, role)
        return [*self.block(before), *self.call("", function, [*given, kernel, *arguments])]

    def number(self, value: Expr) -> str:
        """A number as an expression of Python."""
        return self._scalars.source(value)

    def numbers(self, assignments: Iterable[Assignment]) -> list[str]:
        """Assignments of numbers."""
        return self._assignments(assignments, self._scalars)

    def ranges(self, assignments: Iterable[Assignment]) -> list[str]:
        """Assignments of numbers, each for many steps at once."""
        return self._assignments(assignments, self._ranges)

    def kernels(self) -> list[tuple[str, list[str]]]:
        """Name and lines of every kernel that was used."""
        return [(name, self._kernel(name, kernel)) for kernel, name in self._kernels.items()]

    def _one(self, routine: Routine | Missing, role: str, *, out: bool) -> list[str]:
        if isinstance(routine, Routine):
            return self.routine(routine, role, out=out)
        return raised(reason(routine))

    def _branch(self, limit: Sequence[Assignment], finite: Sequence[Assignment]) -> list[str]:
        if not limit and not finite:
            return []
        first, second = (self._assignments(part, self._scalars) or ["pass"] for part in (limit, finite))
        return ["if n is None:", *_indented(first), "else:", *_indented(second)]

    def block(self, statements: Sequence[Statement]) -> list[str]:
        roles = _roles(statements)
        lines: list[str] = []
        for statement in statements:
            lines += self._statement(statement, roles)
        return lines

    def _statement(self, statement: Statement, roles: Mapping[Symbol, str]) -> list[str]:
        if isinstance(statement, Scalars):
            return self._assignments(statement.assignments, self._scalars)
        target = f"{self._name(statement.result)} = "
        if isinstance(statement, Apply):
            role = roles.get(statement.result, "summand")
            return self.call(target, "_entrywise", self._application(statement, role))
        if isinstance(statement, Contract):
            contraction = "hvp" if len(statement.directions) == 1 else f"d{len(statement.directions) + 1}"
            return [f"{target}_like(theta, {contraction}(theta, {self._list(statement.directions)}))"]
        if isinstance(statement, Call):
            return [f"{target}_like(theta, {statement.function}({self._list(statement.arguments)}))"]
        if isinstance(statement, Total):
            return [f"{target}_total({self._name(statement.vector)})"]
        return self.loop(statement)

    def loop(self, loop: Loop) -> list[str]:
        """A sum over past steps; numbers are summed over all steps at once where the body is a formula."""
        bounds, result = ", ".join(self.bounds(loop)), self._name(loop.result)
        if loop.is_formula:
            inner: list[str] = []
            for statement in loop.body:
                assert isinstance(statement, Scalars)
                inner += self._assignments(statement.assignments, self._ranges)
            return [
                f"{self._name(loop.index)} = _steps({bounds})",
                *inner,
                f"{result} = _added({self._name(loop.term)})",
            ]
        start = "0.0" if loop.is_scalar else "_zeros(theta)"
        body = [*self.block(loop.body), f"{result} = {result} + {self._name(loop.term)}"]
        header = f"for {self._name(loop.index)} in {self.scope.outer('range')}({bounds}):"
        return [f"{result} = {start}", header, *_indented(body)]

    def bounds(self, loop: Loop) -> tuple[str, str]:
        """The first step that is added, and the one after the last."""
        first, stop = self._scalars.source(loop.first), self._scalars.source(loop.stop)
        if loop.decay is None:
            return first, stop
        return f"_oldest({first}, {stop}, {self._scalars.source(loop.decay)})", stop

    def _application(self, statement: Apply, role: str) -> list[str]:
        kernel = statement.function
        name = self._named(kernel, role)
        return [name, "theta", self._tuple(kernel.vectors), self._tuple(kernel.scalars)]

    def _named(self, kernel: Entrywise, role: str) -> str:
        if kernel not in self._kernels:
            taken = set(self._kernels.values())
            candidates = (f"_{role}" if k == 1 else f"_{role}{k}" for k in count(1))
            self._kernels[kernel] = next(name for name in candidates if name not in taken)
        return self._kernels[kernel]

    def _kernel(self, name: str, kernel: Entrywise) -> list[str]:
        arguments = [self._name(symbol) for symbol in (*kernel.vectors, *kernel.scalars)]
        fresh, printer = self._parts(), self._entries(kernel)
        body: list[str] = []
        room = WIDTH - len(INDENT)
        for symbol, value in kernel.locals:
            body += assignment(self._name(symbol), value, printer, fresh, room)
        # ``return`` is as long as a name with its equals sign.
        *before, last = assignment("retur", kernel.output, printer, fresh, room)
        body += [*before, "return " + last.removeprefix("retur = ")]
        return [*signature(name, arguments), *_indented(body)]

    def _assignments(self, assignments: Iterable[Assignment], printer: PythonPrinter) -> list[str]:
        fresh = self._parts()
        lines: list[str] = []
        for name, value in assignments:
            lines += assignment(self._name(name), value, printer, fresh, WIDTH - 3 * len(INDENT))
        return lines

    def _parts(self) -> Callable[[], Symbol]:
        """Names for the parts of a value that is too long for a line."""
        names = (Internal(f"p{k}") for k in count(1))
        return lambda: next(names)

    def _entries(self, function: Entrywise) -> PythonPrinter:
        return PythonPrinter(self._spelling.vectors, frozenset(function.scalars), self.scope.name)

    def _name(self, symbol: Symbol) -> str:
        return self.scope.name(symbol)

    def _list(self, symbols: Iterable[Symbol]) -> str:
        return ", ".join(self._name(symbol) for symbol in symbols)

    def _tuple(self, symbols: Sequence[Symbol]) -> str:
        inner = self._list(symbols)
        return f"({inner},)" if len(symbols) == 1 else f"({inner})"

    def call(self, target: str, name: str, arguments: Sequence[str]) -> list[str]:
        """A call inside a function, at most two levels deep."""
        return call(target, name, arguments, WIDTH - 2 * len(INDENT))


def call(target: str, name: str, arguments: Sequence[str], width: int) -> list[str]:
    """``target name(arguments)``: on one line, else one argument a line with a comma after the last."""
    line = f"{target}{name}({', '.join(arguments)})"
    if len(line) <= width:
        return [line]
    lines = [f"{target}{name}("]
    for argument in arguments:
        if len(argument) < width - len(INDENT) or not argument.startswith("("):
            lines.append(f"{INDENT}{argument},")
        else:
            entries = argument.strip("()").split(", ")
            lines += [f"{INDENT}(", *(f"{INDENT * 2}{entry}," for entry in entries), f"{INDENT}),"]
    return [*lines, ")"]


def signature(name: str, arguments: Sequence[str]) -> list[str]:
    """The head of a function."""
    *lines, last = call("def ", name, arguments, WIDTH - 1)
    return [*lines, last + ":"]


_ADVICE = {Advice.LIMIT: "take the limit, n=None", Advice.STEP: "give a step n"}
"""What to do instead, to somebody who calls a function."""


def reason(missing: Missing) -> str:
    """Why a routine does not exist, and what to call instead."""
    ways = [_ADVICE.get(way, way.value) if isinstance(way, Advice) else str(way) for way in missing.advice]
    return "; ".join([str(missing.reason), *ways])


def raised(reason: str) -> list[str]:
    """``raise ValueError(reason)``."""
    words = reason.replace("\\", "/").replace('"', "'")
    return call("raise ", "ValueError", [f'"{words}"'], WIDTH - 2 * len(INDENT))


def _roles(statements: Sequence[Statement]) -> dict[Symbol, str]:
    """What the vectors are for: it names their kernels."""
    roles: dict[Symbol, str] = {}
    for statement in statements:
        if isinstance(statement, Contract):
            roles |= dict.fromkeys(statement.directions, "direction")
        elif isinstance(statement, Call):
            roles |= dict.fromkeys(statement.arguments, "argument")
        elif isinstance(statement, Total):
            roles[statement.vector] = "density"
    return roles


def _skeleton(routine: Routine) -> tuple[Statement, ...]:
    """The statements without the numbers that open the routine."""
    return routine.statements[1:] if _leading(routine) else routine.statements


def _leading(routine: Routine) -> tuple[Assignment, ...]:
    first = routine.statements[0]
    return first.assignments if isinstance(first, Scalars) and len(routine.statements) > 1 else ()


def _indented(lines: Iterable[str]) -> list[str]:
    return [INDENT + line if line else line for line in lines]
