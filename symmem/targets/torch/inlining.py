"""Routines as lines of PyTorch: entrywise formulas stand where they are used, not in functions of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Expr, Symbol

from symmem.algebra.atoms import GRAD, STEP, THETA
from symmem.algebra.heads import HEADS
from symmem.program.program import Routine, Variants
from symmem.program.scope import Scope
from symmem.program.statements import (
    Apply,
    Assign,
    Assignment,
    Entrywise,
    Loop,
    OfTensor,
    Statement,
    Total,
    reads,
)
from symmem.targets.printing import fitted, part_names
from symmem.targets.python.layout import INDENT, WIDTH, assignment, indented, returned, signature
from symmem.targets.python.printing import PythonPrinter
from symmem.targets.python.writer import PythonWriter, Spelling
from symmem.targets.torch.in_place import tensor_lines

_ROOM = WIDTH - 2 * len(INDENT)
"""Lines stand at most two levels deep."""


Key = tuple[tuple[Assignment, ...], tuple[Assignment, ...], tuple[Symbol, ...]]


class InliningWriter(PythonWriter):
    """Writes the lines of tensor formulas; PyTorch makes a new tensor for each operation.

    ``in_place``: but for the formulas of the runtime, which work in tensors of their own where they act by entries.
    """

    def __init__(self, spelling: Spelling, scope: Scope, *, in_place: bool = False) -> None:
        super().__init__(spelling, scope)
        self._in_place = in_place
        self._dialects = spelling
        self._coefficients: dict[Key, list[str]] = {}
        self._coefficient_names: dict[Key, str] = {}
        self._uniform: set[Symbol] = set()  # one number for each tensor: PyTorch has it without entries
        self._locals: dict[Symbol, Expr] = {}  # the local values that the present function has already

    def loop(self, loop: Loop) -> list[str]:
        """What a body computes is not there where the loop is empty."""
        self._locals = {}
        lines = super().loop(loop)
        self._locals = {}
        return lines

    def routine(self, routine: Routine, role: str, *, out: bool = False) -> list[str]:  # noqa: ARG002  # names no kernels
        """Statements, and ``return`` of the value, a new tensor; ``out`` is where the caller wants it."""
        self._locals = {}
        *before, last = routine.statements
        if isinstance(last, Assign):
            *earlier, (_, number) = last.assignments
            printer = PythonPrinter(self._dialects.scalars, names=self.scope.name)
            lines = returned(number, printer, part_names(), _ROOM)
            return [*self.block(before, last), *self.numbers(earlier), *lines]
        assert isinstance(last, Apply)
        opening = self.block(before, last)
        lines, value = self._inlined(last.function, len("return _written(, theta, out)"))
        if last.function.output in (THETA, GRAD):
            value += ".clone()"
        result = f"_written({value}, theta, out)" if out else value
        return [*opening, *lines, f"return {result}"]

    def variants(self, variants: Variants, role: str, *, out: bool) -> list[str]:
        """Where finite n and the limit differ in numbers alone, these come from a function of n."""
        finite, limit = variants.finite, variants.limit
        if isinstance(finite, Routine) and isinstance(limit, Routine) and finite != limit:
            first, second = _opened(finite), _opened(limit)
            if first is not None and second is not None and first[1] == second[1]:
                rest = Routine(first[1], finite.result)
                needed = [name for name, _ in first[0] if name in rest.inputs]
                head = self._coefficients_of(tuple(second[0]), tuple(first[0]), tuple(needed))
                return [head, *self.routine(rest, role, out=out)]
        return super().variants(variants, role, out=out)

    def functions(self) -> list[list[str]]:
        """The functions of n that the bodies call: there are no others."""
        return list(self._coefficients.values())

    def _coefficients_of(
        self, limit: tuple[Assignment, ...], finite: tuple[Assignment, ...], needed: tuple[Symbol, ...]
    ) -> str:
        """The call of a function that gives the needed numbers; equal ones are written once."""
        read = set().union(*(value.free_symbols for _, value in (*limit, *finite)))
        given = sorted(read - {name for name, _ in (*limit, *finite)} - {STEP}, key=lambda x: str(x.name))
        arguments = [STEP.name, *(self.scope.name(symbol) for symbol in given)]
        names = [self.scope.name(symbol) for symbol in needed]
        key = (limit, finite, needed)
        if key not in self._coefficients:
            known = len(self._coefficients)
            self._coefficient_names[key] = f"_coefficients{known + 1 if known else ''}"
            pairs = enumerate(zip(limit, finite, strict=False))
            shared = next((place for place, (one, other) in pairs if one != other), 0)
            body = [
                *self.numbers(limit[:shared]),
                "if n is None:",
                *indented(self.numbers(limit[shared:])),
                "else:",
                *indented(self.numbers(finite[shared:])),
                f"return {', '.join(names)}",
            ]
            head = signature(self._coefficient_names[key], arguments)
            self._coefficients[key] = [*head, *indented(body)]
        return f"{', '.join(names)} = {self._coefficient_names[key]}({', '.join(arguments)})"

    def straight(self, routine: Routine) -> list[str]:
        """The same for a formula that is added to a tensor: it may return a tensor that was given, or a number."""
        self._locals = {}
        *before, last = routine.statements
        assert isinstance(last, Apply)
        opening = self.block(before, last)
        if self._in_place and all(isinstance(each, Assign) for each in before):
            printer = PythonPrinter(self._dialects.vectors, frozenset(last.function.scalars), self.scope.name)
            return [*opening, *tensor_lines(last.function, printer, self.scope.outer("torch"), _ROOM)]
        lines, value = self._formula(last.function, len("return "))
        return [*opening, *lines, f"return {value}"]

    def block(self, statements: Sequence[Statement], *after: Statement) -> list[str]:
        """The lines; the sum of a vector that nothing else needs, also ``after``, is that of its formula."""
        lines: list[str] = []
        waiting = list(statements)
        while waiting:
            first, *waiting = waiting
            total = waiting[0] if waiting else None
            later = (*waiting[1:], *after)
            if isinstance(first, Apply) and isinstance(total, Total) and _is_for(first, total, later):
                lines += self._summed(first, total)
                waiting = waiting[1:]
            else:
                lines += super().block([first])
        return lines

    def _summed(self, vector: Apply, total: Total) -> list[str]:
        name = self.scope.name(total.result)
        lines, value = self._inlined(vector.function, len(f"{name} = ().sum()"))
        is_call = vector.function.output.is_Function or vector.function.output.is_Symbol
        return [*lines, f"{name} = {value}.sum()" if is_call else f"{name} = ({value}).sum()"]

    def _statement(self, statement: Statement, roles: Mapping[Symbol, str]) -> list[str]:
        if isinstance(statement, Total):
            return [f"{self.scope.name(statement.result)} = {self.scope.name(statement.vector)}.sum()"]
        if isinstance(statement, OfTensor) and _is_uniform(statement):
            self._uniform.add(statement.result)
        if not isinstance(statement, Apply):
            return super()._statement(statement, roles)
        name = self.scope.name(statement.result)
        lines, value = self._inlined(statement.function, len(f"{name} = "))
        return [*lines, f"{name} = {value}"]

    def _inlined(self, function: Entrywise, indent: int) -> tuple[list[str], str]:
        """The lines before an entrywise formula, and the source of its value, which is a tensor."""
        if function.vectors and self._uniform.issuperset(function.vectors):
            head = f"{self.scope.outer('torch')}.zeros_like(theta).add("
            lines, value = self._formula(function, indent + len(head) + 1)
            return lines, f"{head}{value})"
        if function.vectors:
            return self._formula(function, indent)
        head = f"{self.scope.outer('torch')}.full_like(theta, "
        lines, value = self._formula(function, indent + len(head) + 1)
        return lines, f"{head}{value})"

    def _formula(self, function: Entrywise, indent: int) -> tuple[list[str], str]:
        fresh = part_names()
        printer = PythonPrinter(self._dialects.vectors, frozenset(function.scalars), self.scope.name)
        lines: list[str] = []
        local, output = list(function.locals), function.output
        if local and output == local[-1][0]:
            *local, (_, output) = local
        for symbol, value in local:
            if self._locals.get(symbol) != value:
                # What is made of the old value is made again.
                self._locals = {} if symbol in self._locals else self._locals
                self._locals[symbol] = value
                lines += assignment(self.scope.name(symbol), value, printer, fresh, _ROOM)
        parts, short = fitted(output, printer, fresh, _ROOM - indent, _ROOM)
        lines += [f"{printer.source(name)} = {printer.source(value)}" for name, value in parts]
        return lines, printer.source(short)


def _opened(routine: Routine) -> tuple[tuple[Assignment, ...], tuple[Statement, ...]] | None:
    """The numbers that open a routine, and the other statements."""
    first, *rest = routine.statements
    return (first.assignments, tuple(rest)) if isinstance(first, Assign) and rest else None


def _is_uniform(statement: OfTensor) -> bool:
    head = HEADS.by_name.get(statement.function)
    return head is not None and head.is_uniform


def _is_for(vector: Apply, total: Total, later: Sequence[Statement]) -> bool:
    """Whether the vector is there for this sum alone."""
    return total.vector == vector.result and not any(vector.result in reads(each) for each in later)
