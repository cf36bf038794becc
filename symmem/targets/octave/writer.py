"""Routines as lines of Octave: entrywise functions stand in their place, since every operator is entry by entry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symmem.algebra.results import Missing
from symmem.program.program import Routine, Variants
from symmem.program.statements import (
    Apply,
    Assign,
    Assignment,
    Choice,
    Contract,
    Evaluate,
    Loop,
    Potential,
    Statement,
    Total,
)
from symmem.program.tolerance import TOLERANCE_BITS
from symmem.targets.octave.dialect import DIALECT, Names, OctavePrinter
from symmem.targets.printing import fitted, part_names
from symmem.targets.refusals import refusal

INDENT = "  "
WIDTH = 80


class OctaveWriter:
    """Writes the body of a function, which assigns ``out``."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._numbers = OctavePrinter(DIALECT, names=names.name)

    def variants(self, variants: Variants) -> list[str]:
        """The body of a function of n: one set of statements where n does not matter."""
        if variants.finite == variants.limit:
            return self._routine(variants.finite)
        limit, finite = self._routine(variants.limit), self._routine(variants.finite)
        return ["if isempty(p.n)", *indented(limit), "else", *indented(finite), "end"]

    def _routine(self, routine: Routine | Missing) -> list[str]:
        if isinstance(routine, Missing):
            return [f"error('symmem:n', '{quoted(refusal(routine, 'n = []'))}');"]
        return [*self._block(routine.statements), f"out = {self._names.name(routine.result)};"]

    def _block(self, statements: Iterable[Statement]) -> list[str]:
        return [line for statement in statements for line in self._statement(statement)]

    def _statement(self, statement: Statement) -> list[str]:
        if isinstance(statement, Assign):
            return self._assigned(statement.assignments, self._numbers)
        if isinstance(statement, Loop):
            return self._loop(statement)
        result = self._names.name(statement.result)
        if isinstance(statement, Choice):
            return self._choice(statement)
        if isinstance(statement, Apply):
            return self._apply(statement)
        if isinstance(statement, Total):
            return [f"{result} = total({self._names.name(statement.vector)});"]
        if isinstance(statement, Contract):
            directions = [self._names.name(each) for each in statement.directions]
            function = "hvp" if len(directions) == 1 else f"d{len(directions) + 1}"
            return [f"{result} = like(theta, {function}({', '.join(['theta', *directions])}));"]
        if isinstance(statement, Potential):
            function = self._names.argument(statement.function)
            return [f"{result} = {function}({self._names.name(statement.argument)});"]
        assert isinstance(statement, Evaluate)
        arguments = ", ".join(self._names.name(each) for each in statement.arguments)
        return [f"{result} = like(theta, {self._names.argument(statement.function)}({arguments}));"]

    def _apply(self, statement: Apply) -> list[str]:
        function, result = statement.function, self._names.name(statement.result)
        printer = OctavePrinter(DIALECT, frozenset(function.scalars), self._names.name)
        lines = self._assigned((*function.locals, (statement.result, function.output)), printer)
        # A formula without a vector in it is a number: it is the same in every entry.
        return lines if function.vectors else [*lines, f"{result} = filled(theta, {result});"]

    def _loop(self, loop: Loop) -> list[str]:
        """A sum over past steps, the oldest first."""
        result, source = self._names.name(loop.result), self._numbers.source
        first, stop = source(loop.first), source(loop.stop)
        if loop.decay is not None:
            first = f"oldest({first}, {stop}, {source(loop.decay)}, {TOLERANCE_BITS})"
        start = "1" if loop.is_product else "0" if loop.is_scalar else "filled(theta, 0)"
        sign = ".*" if loop.is_product else "+"
        body = [*self._block(loop.body), f"{result} = {result} {sign} {self._names.name(loop.term)};"]
        head = f"for {self._names.name(loop.index)} = {first}:({stop} - 1)"
        return [f"{result} = {start};", head, *indented(body), "end"]

    def _choice(self, choice: Choice) -> list[str]:
        """A number with two branches, of which one is computed."""
        result = self._names.name(choice.result)
        first, second = (
            [*self._block(each.body), f"{result} = {self._names.name(each.value)};"]
            for each in choice.branches
        )
        condition = self._numbers.condition(choice.condition)
        return [f"if {condition}", *indented(first), "else", *indented(second), "end"]

    def _assigned(self, assignments: Sequence[Assignment], printer: OctavePrinter) -> list[str]:
        found: list[Assignment] = []
        for symbol, value in assignments:
            before, short = fitted(value, printer, part_names(), WIDTH - len(self._names.name(symbol)), WIDTH)
            found += [*before, (symbol, short)]
        return [f"{self._names.name(symbol)} = {printer.source(value)};" for symbol, value in found]


def indented(lines: Iterable[str]) -> list[str]:
    """The lines one level further in."""
    return [INDENT + line for line in lines]


def quoted(words: str) -> str:
    """Words as they can stand between single quotes, in a format of error."""
    return words.replace("'", "''").replace("%", "%%").replace("\\", "/")
