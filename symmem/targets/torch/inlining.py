"""Routines as lines of PyTorch: entrywise formulas stand where they are used, not in functions of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from sympy import Symbol

from symmem.program.program import Routine
from symmem.program.statements import Apply, Entrywise, Internal, Statement
from symmem.targets.python.code import INDENT, PythonWriter
from symmem.targets.python.printing import WIDTH, PythonPrinter, assignment, fitted
from symmem.targets.torch.dialect import spelling

_ROOM = WIDTH - 2 * len(INDENT)
"""Lines stand at most two levels deep."""


class InliningWriter(PythonWriter):
    """Writes the lines of tensor formulas; PyTorch makes a new tensor for each operation anyway."""

    def routine(self, routine: Routine, role: str, *, out: bool = False) -> list[str]:
        """Statements, and ``return`` of the value, a new tensor; ``out`` is where the caller wants it."""
        *before, last = routine.statements
        if not isinstance(last, Apply):
            return super().routine(routine, role, out=out)
        lines, value = self._inlined(last.function, len("return _written(, theta, out)"))
        if isinstance(last.function.output, Symbol):
            value += ".clone()"
        result = f"_written({value}, theta, out)" if out else value
        return [*self.block(before), *lines, f"return {result}"]

    def straight(self, routine: Routine) -> list[str]:
        """The same for a formula that is added to a tensor: it may return a tensor that was given, or a number."""
        *before, last = routine.statements
        assert isinstance(last, Apply)
        lines, value = self._formula(last.function, len("return "))
        return [*self.block(before), *lines, f"return {value}"]

    def _statement(self, statement: Statement, roles: Mapping[Symbol, str]) -> list[str]:
        if not isinstance(statement, Apply):
            return super()._statement(statement, roles)
        name = self.scope.name(statement.result)
        lines, value = self._inlined(statement.function, len(f"{name} = "))
        return [*lines, f"{name} = {value}"]

    def _inlined(self, function: Entrywise, indent: int) -> tuple[list[str], str]:
        """The lines before an entrywise formula, and the source of its value, which is a tensor."""
        if function.vectors:
            return self._formula(function, indent)
        head = f"{self.scope.outer('torch')}.full_like(theta, "
        lines, value = self._formula(function, indent + len(head) + 1)
        return lines, f"{head}{value})"

    def _formula(self, function: Entrywise, indent: int) -> tuple[list[str], str]:
        parts = _parts()
        printer = PythonPrinter(spelling(self.scope).vectors, frozenset(function.scalars), self.scope.name)
        lines: list[str] = []
        for symbol, value in function.locals:
            lines += assignment(self.scope.name(symbol), value, printer, lambda: next(parts), _ROOM)
        before, short = fitted(function.output, printer, lambda: next(parts), _ROOM - indent, _ROOM)
        return [*lines, *before], printer.source(short)


def _parts() -> Iterator[Symbol]:
    """Names for the parts of a value that is too long for a line."""
    return (Internal(f"p{k}") for k in count(1))
