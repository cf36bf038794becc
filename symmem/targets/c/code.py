"""The passes of a C program as lines of C, one set for each precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import count

from sympy import Expr, Pow, S, Symbol

from symmem.program.statements import Apply, Assignment, Entrywise, Loop, Scalars, Statement
from symmem.targets.c.printing import NUMBER, CPrinter, Precision
from symmem.targets.c.program import Pass
from symmem.targets.python.layout import assignment

INDENT = "    "
WIDTH = 100


def free(name: str, taken: frozenset[str]) -> str:
    """The name, with underscores until no parameter has it."""
    return free(name + "_", taken) if name in taken else name


@dataclass(frozen=True)
class Internal:
    """Names that the written code needs beside those of the formula, chosen so that no parameter has them."""

    numbers: str
    vectors: str
    result: str
    lanes: str
    entry: str
    root: str

    @classmethod
    def beside(cls, taken: frozenset[str]) -> Internal:
        return cls(*(free(name, taken) for name in ("numbers", "vectors", "result", "lanes", "i", "root")))


class PassWriter:
    """Writes the body of a pass in one precision: for a run of entries (``lanes``), or for a single one."""

    def __init__(
        self, precision: Precision, internal: Internal, taken: frozenset[str], lanes: str | None = None
    ) -> None:
        """``lanes`` is the type of the vectors that a run of entries is taken from."""
        self._type = precision.type
        self._precision = precision
        self._numbers = NumberWriter(taken)
        self._internal = internal
        self._taken = taken
        self._lanes = lanes
        self._fresh = parts(taken)

    def body(self, work: Pass) -> list[str]:
        """The numbers and vectors by their names, then the statements; the last one assigns the result."""
        names = self._internal
        # The numbers of a sum over past steps are doubles in every precision.
        kind = "double" if work.has_sum else self._type
        rounded = "(float)" if kind == "float" else ""
        lines = [
            f"const {kind} {number} = {rounded}{names.numbers}[{position}];"
            for position, number in enumerate(work.numbers)
        ]
        for position, vector in enumerate(work.vectors):
            source = f"{names.vectors}[{position}]"
            lines.append(
                f"const {self._lanes} *const {self._array(vector)} = {source};"
                if self._lanes
                else f"const {self._type} {vector} = {source};"
            )
        *earlier, last = work.inside
        lines += self._block(earlier)
        assert isinstance(last, Apply)
        if not self._lanes:
            return [*lines, *self._kernel(last.function, "return ")]
        cast = "" if self._lanes == self._type else f"({self._lanes})"
        return [*lines, *self._apply(last, f"{names.result}[{names.entry}] = {cast}")]

    def _block(self, statements: Sequence[Statement]) -> list[str]:
        lines: list[str] = []
        for statement in statements:
            if isinstance(statement, Scalars):
                lines += self._numbers.assignments(statement.assignments)
            elif isinstance(statement, Apply):
                lines += [
                    *self._declared(statement.result),
                    *self._apply(statement, f"{self._at(statement.result)} = "),
                ]
            elif isinstance(statement, Loop):
                lines += self._sum(statement)
        return lines

    def _sum(self, loop: Loop) -> list[str]:
        """The terms are added where they are computed: oldest first."""
        *earlier, last = loop.body
        total = self._at(loop.result)
        inner = self._block(earlier)
        if isinstance(last, Apply) and last.result == loop.term:
            inner += self._apply(last, f"{total} += ")
        else:
            inner += [*self._block([last]), *self._each([f"{total} += {self._at(loop.term)};"])]
        zero = self._each([f"{total} = 0;"])
        return [*self._declared(loop.result), *zero, *self._numbers.loop(loop, inner)]

    def _array(self, vector: Symbol) -> str:
        return free(f"{vector.name}_", self._taken)

    def _declared(self, vector: Symbol) -> list[str]:
        return (
            [f"{self._type} {self._array(vector)}[SYMMEM_LONG_LANES];"]
            if self._lanes
            else [f"{self._type} {vector};"]
        )

    def _at(self, vector: Symbol) -> str:
        return f"{self._array(vector)}[{self._internal.entry}]" if self._lanes else vector.name

    def _apply(self, statement: Apply, target: str) -> list[str]:
        """A kernel; for a run of entries in double, each of its roots is taken for all of them at once."""
        kernel = statement.function
        if not self._lanes:
            return _scoped(self._kernel(kernel, target))
        roots = [(name, value.base) for name, value in kernel.locals if _is_rsqrt(value)]
        if not roots or self._type != "double":
            return self._each(self._kernel(kernel, target))
        names, lines, taken = self._internal, [], set[Symbol]()
        for name, base in roots:
            array = self._array(name)
            entry = f"{array}[{names.entry}]"
            lines.append(f"double {array}[SYMMEM_LONG_LANES];")
            lines += self._each(self._kernel(replace(kernel, output=base), f"{entry} = ", taken))
            lines.append(f"{names.root}({array}, {names.lanes});")
            taken.add(name)
        return _scoped([*lines, *self._each(self._kernel(kernel, target, taken))])

    def _kernel(self, kernel: Entrywise, target: str, roots: AbstractSet[Symbol] = frozenset()) -> list[str]:
        """The local values that the output needs, then the output behind ``target``; ``roots`` lie in arrays."""
        kind = f"const {self._type} "
        wanted = _needed(kernel, roots)
        lines = []
        if self._lanes:
            entries = [*kernel.vectors, *sorted(roots, key=lambda symbol: symbol.name)]
            lines = [f"{kind}{vector} = {self._at(vector)};" for vector in entries if vector in wanted]
        printer = CPrinter(self._precision, frozenset(kernel.scalars))
        room = WIDTH - 2 * len(INDENT) - len(kind) - 1
        for symbol, value in kernel.locals:
            if symbol in wanted - roots:
                lines += [
                    f"{kind}{part};" for part in assignment(symbol.name, value, printer, self._fresh, room)
                ]
        *before, last = assignment("_", kernel.output, printer, self._fresh, room - len(target))
        value = last.removeprefix("_ = ")
        value = f"({value})" if target.endswith(")") else value
        return [*lines, *(f"{kind}{part};" for part in before), f"{target}{value};"]

    def _each(self, lines: list[str]) -> list[str]:
        names = self._internal
        if not self._lanes:
            return lines
        head = f"for (size_t {names.entry} = 0; {names.entry} < {names.lanes}; ++{names.entry}) {{"
        return [head, *indented(lines), "}"]


class NumberWriter:
    """Writes what is computed once in a call, in double."""

    def __init__(self, taken: frozenset[str]) -> None:
        self._printer = CPrinter(NUMBER)
        self._fresh = parts(taken)

    def statements(self, statements: Iterable[Scalars | Loop]) -> list[str]:
        lines: list[str] = []
        for statement in statements:
            if isinstance(statement, Scalars):
                lines += self.assignments(statement.assignments)
            else:
                *inner, last = statement.body
                body = [*self.statements(each for each in (*inner, last) if isinstance(each, (Scalars, Loop))),
                        f"{statement.result} += {statement.term};"]  # fmt: skip
                lines += [f"double {statement.result} = 0;", *self.loop(statement, body)]
        return lines

    def assignments(self, assignments: Iterable[Assignment]) -> list[str]:
        room = WIDTH - 2 * len(INDENT) - len("const double ;")
        lines: list[str] = []
        for name, value in assignments:
            lines += [
                f"const double {part};"
                for part in assignment(name.name, value, self._printer, self._fresh, room)
            ]
        return lines

    def loop(self, loop: Loop, body: list[str]) -> list[str]:
        """``for`` over the past steps whose weight counts; steps are whole numbers, exact as doubles."""
        first, stop = self._printer.source(loop.first), self._printer.source(loop.stop)
        if loop.decay is not None:
            first = f"symmem_oldest({first}, {stop}, {self._printer.source(loop.decay)})"
        head = f"for (double {loop.index} = {first}; {loop.index} < {stop}; {loop.index} += 1) {{"
        return [head, *indented(body), "}"]


def _is_rsqrt(value: Expr) -> bool:
    return isinstance(value, Pow) and value.exp == -S.Half


def _needed(kernel: Entrywise, known: AbstractSet[Symbol]) -> set[Symbol]:
    """The symbols that the output is made of, down to those that are known."""
    values = dict(kernel.locals)
    wanted: set[Symbol] = set()
    waiting = set(kernel.output.free_symbols)
    while waiting:
        symbol = waiting.pop()
        wanted.add(symbol)
        if symbol in values and symbol not in known:
            waiting |= values[symbol].free_symbols - wanted
    return wanted


def _scoped(lines: list[str]) -> list[str]:
    """Local values of a kernel in a scope of their own: the next kernel may use the same names."""
    return lines if len(lines) == 1 else ["{", *indented(lines), "}"]


def parts(taken: frozenset[str]) -> Callable[[], Symbol]:
    """Names for the parts of a value that is too long for a line."""
    free = (Symbol(name) for name in (f"p{k}" for k in count(1)) if name not in taken)
    return lambda: next(free)


def indented(lines: Iterable[str]) -> list[str]:
    return [INDENT + line for line in lines]
