"""The numbers of a pass as lines of C: computed once in a call, in double.

The parameters are read where they lie, ``params->beta1``, and the sums over all entries in ``totals``; every other name
is our own.  Numbers that are made of such sums have more range: the square of a norm may be far from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sympy import Expr, Symbol

from symmem.algebra.atoms import LR, STEP
from symmem.program.scope import Scope
from symmem.program.statements import Assign, Assignment, Choice, Loop, Statement
from symmem.program.updates import STRENGTH
from symmem.targets.c.passes import Pass, Table
from symmem.targets.c.printing import NUMBER, WIDE, CPrinter, Precision
from symmem.targets.c.wide import WidePrinter
from symmem.targets.printing import SourcePrinter, fitted, part_names

INDENT = "    "
WIDTH = 100
OWN_NAMES = (
    *("numbers", "params", "strength", "past", "places", "row", "totals"),
    *("vectors", "result", "lanes", "root", "i"),
)
"""The arguments of the written functions, and the index of their loops over entries."""


class NumberWriter:
    """Writes numbers, in double; with ``doubles`` with more range, but for those symbols.

    ``names`` spells the symbols.
    """

    def __init__(self, names: Callable[[Symbol], str], doubles: Iterable[Symbol] | None = None) -> None:
        self._names = names
        self._precision: Precision = NUMBER if doubles is None else WIDE
        self._type = self._precision.type
        self._printer = CPrinter(NUMBER, names=names) if doubles is None else WidePrinter(doubles, names)
        self._parts = part_names()

    def statements(self, statements: Iterable[Statement]) -> list[str]:
        """The lines of these statements, loops over past steps included."""
        lines: list[str] = []
        for statement in statements:
            if isinstance(statement, Assign):
                lines += self.assignments(statement.assignments)
            elif isinstance(statement, Choice):
                lines += self._choice(statement)
            else:
                assert isinstance(statement, Loop)
                if isinstance(self._printer, WidePrinter):
                    self._printer.doubles.add(statement.index)
                result = self._names(statement.result)
                sign, start = ("*", 1) if statement.is_product else ("+", 0)
                before, behind = self._precision.gathered(result, sign)
                lines.append(f"{self._type} {result} = {self._precision.number(start)};")
                body = [*self.statements(statement.body), f"{before}{self._names(statement.term)}{behind}"]
                lines += self.loop(statement, body)
        return lines

    def table(self, table: Table, place: str) -> list[str]:
        """The rows that stand for the past steps, behind the other numbers: those of a rule, or a few of the steps."""
        loop, (weight, *others) = table.loop, map(self._names, table.columns)
        (numbers,) = (each for each in loop.body if isinstance(each, Assign))
        if table.reach is not None:
            taken = f"symmem_take(&past, {weight}, {others[0]});"
            sizes = f"{float(table.reach.sector)}, {float(table.reach.growth)}"
            return [
                "struct symmem_past past;",
                f"symmem_begin(&past, {place}, {sizes});",
                *self.loop(loop, [*self.assignments(numbers.assignments), taken]),
                "symmem_end(&past);",
            ]
        placed = f"symmem_place(&places, {self._names(loop.index)}, {weight});"
        filled = [f"row[{k}] = {name};" for k, name in enumerate(others, start=1)]
        stored = [f"double *const row = {placed}", "if (row != NULL) {", *indented(filled), "}"]
        body = [*self.assignments(numbers.assignments), *(stored if others else [f"(void){placed}"])]
        opened = f"symmem_opened({place}, {len(table.columns)}, {self._printer.double(loop.stop)});"
        return [f"struct symmem_places places = {opened}", *self.loop(loop, body)]

    def _choice(self, choice: Choice) -> list[str]:
        result = self._names(choice.result)
        first, second = (
            [*self.statements(each.body), f"{result} = {self._names(each.value)};"]
            for each in choice.branches
        )
        condition = self._printer.condition(choice.condition)
        head = [f"{self._type} {result};", f"if ({condition}) {{"]
        return [*head, *indented(first), "} else {", *indented(second), "}"]

    def assignments(self, assignments: Iterable[Assignment]) -> list[str]:
        """The lines that declare these numbers."""
        lines: list[str] = []
        for name, value in assignments:
            lines += declared(self._type, name, value, self._printer, self._parts)
        return lines

    def loop(self, loop: Loop, body: Sequence[str]) -> list[str]:
        """``for`` over the past steps whose weight counts; steps are whole numbers, exact as doubles."""
        index, stop = self._names(loop.index), self._printer.double(loop.stop)
        first = self._printer.double(loop.first)
        if loop.decay is not None:
            first = f"symmem_oldest({first}, {stop}, {self._printer.double(loop.decay)})"
        head = f"for (double {index} = {first}; {index} < {stop}; {index} += 1) {{"
        return [head, *indented(body), "}"]


def coefficients(
    work: Pass, fields: Mapping[Symbol, str], totals: Mapping[Symbol, str] | None = None
) -> tuple[str, ...]:
    """The lines that fill the array ``numbers`` of a pass from the arguments of a call, and from ``totals``."""
    own = Scope((STEP.name, LR.name), words=OWN_NAMES)
    sums = totals or {}
    doubles = {STEP, LR, STRENGTH, *fields} if sums else None

    def names(symbol: Symbol) -> str:
        if symbol in sums:
            return sums[symbol]
        if symbol == STRENGTH:
            return STRENGTH.name
        return f"params->{fields[symbol]}" if symbol in fields else own.name(symbol)

    def narrow(number: Symbol) -> str:
        is_wide = doubles is not None and number not in doubles
        return f"symmem_narrow({names(number)})" if is_wide else names(number)

    filled = [f"numbers[{k}] = {narrow(number)};" for k, number in enumerate(work.numbers)]
    writer = NumberWriter(names, doubles)
    lines = [*writer.statements(work.before), *filled]
    if work.table is not None:
        lines += writer.table(work.table, f"numbers + {len(work.numbers)}")
    return tuple(lines)


def declared(
    kind: str, name: Symbol, value: Expr, printer: SourcePrinter, fresh: Callable[[], Symbol]
) -> list[str]:
    """``const kind name = value;``, with parts of a long value declared before it."""
    start = f"const {kind} "
    width = WIDTH - 2 * len(INDENT) - len(start) - len(";")
    before, short = fitted(value, printer, fresh, width - len(f"{printer.source(name)} = "), width)
    found = [
        f"{start}{printer.source(each)} = {printer.source(part)};" for each, part in (*before, (name, short))
    ]
    return [broken for line in found for broken in _broken(line)]


def _broken(line: str) -> list[str]:
    """The call of a long sum, the only line that may be too long, in two."""
    at = line.find("(const double[])") if len(line) > WIDTH - 2 * len(INDENT) else -1
    return [line] if at < 0 else [line[:at].rstrip(), INDENT + line[at:]]


def indented(lines: Iterable[str]) -> list[str]:
    """The lines one level further in."""
    return [INDENT + line for line in lines]
