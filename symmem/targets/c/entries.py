"""The body of a pass as lines of C, in one precision: for a run of entries, or for a single one.

A run of entries is a loop over ``lanes`` of them; the vectors that lie between two statements are arrays of
that length.  A single entry is the same formula with more range, for what is not finite after the fast loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property

from sympy import Expr, Pow, S, Symbol

from symmem.program.scope import Scope
from symmem.program.statements import Apply, Assign, Choice, Entrywise, Internal, Loop, Statement
from symmem.targets.c.numbers import INDENT, OWN_NAMES, WIDTH, NumberWriter, declared, indented
from symmem.targets.c.passes import Pass, Rows
from symmem.targets.c.printing import CPrinter, Precision
from symmem.targets.c.wide import WidePrinter
from symmem.targets.printing import fitted, part_names


@dataclass(frozen=True)
class Place:
    """Where a value goes: ``start value end``."""

    start: str
    end: str = ";"


@dataclass(frozen=True)
class PassWriter:
    """Writes a pass; ``stored`` is the type of its vectors' entries, None for a single entry.

    ``written`` is the type of the result's entries where that is another: sums are of doubles.
    """

    work: Pass
    precision: Precision
    stored: str | None = None
    written: str | None = None

    @property
    def uses_roots(self) -> bool:
        """Whether a run of entries takes its roots at once, by the function ``root``."""
        return self._takes_roots and any(_roots(each.function) for each in _applied(self.work.inside))

    def body(self) -> list[str]:
        """The numbers and vectors by their names, then the statements; the last one assigns the result."""
        work = self.work
        # The numbers of a sum over past steps are doubles in every precision, and those of a single entry.
        kind = "double" if work.has_sum or self.stored is None else self.precision.type
        cast = "(float)" if kind == "float" else ""
        lines = [
            f"const {kind} {self._name(number)} = {cast}numbers[{k}];{_remark(number)}"
            for k, number in enumerate(work.numbers)
            if number in work.used
        ]
        lines += [self._opened(k, vector) for k, vector in enumerate(work.vectors) if vector in work.used]
        if not work.inside:  # an input, as it is
            return [*lines, f"return {self._name(*work.written)};"]
        lines += self._block(work.inside[:-1])
        if self.stored is None:
            return [*lines, *self._function(work.output.function, Place("return "))]
        written = self.written or self.stored
        narrowed = Place(f"result[i] = ({written})(", ");")
        place = Place("result[i] = ") if written == self.precision.type else narrowed
        return [*lines, *self._apply(work.output, place), *self._copied()]

    @cached_property
    def _rows_of_result(self) -> dict[Symbol, str]:
        """Statements' results that are computed where they are handed over, in rows behind that of the result."""
        if self.stored != self.precision.type:
            return {}
        made = {each.result for each in self.work.inside[:-1]}
        places = enumerate(self.work.written, start=1)
        return {each: f"result + {k} * SYMMEM_ROW" for k, each in reversed([*places]) if each in made}

    def _copied(self) -> list[str]:
        """Inputs that are handed over as they are, and results of another type."""
        lines: list[str] = []
        for k, vector in enumerate(self.work.written, start=1):
            place = f"result + {k} * SYMMEM_ROW"
            if self._rows_of_result.get(vector) != place:
                cast = "" if self.stored == self.precision.type else f"({self.stored})"
                lines += self._each([f"({place})[i] = {cast}{self._at(vector)};"])
        return lines

    @cached_property
    def _scope(self) -> Scope:
        return Scope(
            (), words=OWN_NAMES, preferred={n: f"a{k}" for k, n in enumerate(self.work.numbers, start=1)}
        )

    def _name(self, symbol: Symbol) -> str:
        return self._scope.name(symbol)

    def _array(self, vector: Symbol) -> str:
        return self._scope.name(Internal(f"{vector.name}_"))

    def _at(self, vector: Symbol) -> str:
        return self._name(vector) if self.stored is None else f"{self._array(vector)}[i]"

    def _opened(self, position: int, vector: Symbol) -> str:
        if self.stored is None:
            return f"const {self.precision.type} {self._name(vector)} = vectors[{position}];"
        return f"const {self.stored} *const {self._array(vector)} = vectors[{position}];"

    def _declared(self, vector: Symbol) -> str:
        kind = self.precision.type
        if vector in self._rows_of_result:
            return f"{kind} *const {self._array(vector)} = {self._rows_of_result[vector]};"
        run = f"{kind} {self._array(vector)}[SYMMEM_LONG_LANES];"
        return f"{kind} {self._name(vector)};" if self.stored is None else run

    def _block(self, statements: Sequence[Statement | Rows]) -> list[str]:
        lines: list[str] = []
        for statement in statements:
            if isinstance(statement, Rows):
                lines += self._rows(statement)
            elif isinstance(statement, Assign):
                lines += self._numbers.assignments(statement.assignments)
            elif isinstance(statement, Apply):
                lines.append(self._declared(statement.result))
                lines += self._apply(statement, Place(f"{self._at(statement.result)} = "))
            elif isinstance(statement, Choice) or (isinstance(statement, Loop) and statement.is_scalar):
                lines += self._numbers.statements([statement])
            elif isinstance(statement, Loop):
                lines += self._sum(statement)
        return lines

    @cached_property
    def _numbers(self) -> NumberWriter:
        return NumberWriter(self._name)

    def _sum(self, loop: Loop) -> list[str]:
        """The terms are added where they are computed: oldest first."""
        *earlier, last = loop.body
        total = self._at(loop.result)
        added = Place(*self.precision.gathered(total, "+"))
        inner = self._block(earlier)
        if isinstance(last, Apply) and last.result == loop.term:
            inner += self._apply(last, added)
        else:
            inner += [
                *self._block([last]),
                *self._each([f"{added.start}{self._at(loop.term)}{added.end}"]),
            ]
        first = self._each([f"{total} = {self.precision.number(0)};"])
        return [self._declared(loop.result), *first, *self._numbers.loop(loop, inner)]

    def _rows(self, rows: Rows) -> list[str]:
        """A sum over rows of numbers, which lie behind the others: how many, then row by row."""
        total, start, width = self._at(rows.result), len(self.work.numbers), len(rows.columns)
        names = [self._name(column) for column in rows.columns]
        inner = [f"const double {name} = row[{k}];" for k, name in enumerate(names)]
        inner += self._apply(rows.term, Place(*self.precision.gathered(total, "+")))
        first = self._each([f"{total} = {self.precision.number(0)};"])
        places = [f"const double *row = numbers + {start + 1};"]
        head = f"for (size_t place = (size_t)numbers[{start}]; place > 0; --place, row += {width}) {{"
        return [self._declared(rows.result), *first, *places, head, *indented(inner), "}"]

    @property
    def _takes_roots(self) -> bool:
        return self.stored is not None and self.precision.type == "double"

    def _apply(self, statement: Apply, place: Place) -> list[str]:
        """An entrywise function; in double each of its roots is taken for the whole run at once."""
        function = statement.function
        if self.stored is None:
            return _scoped(self._function(function, place))
        roots = _roots(function) if self._takes_roots else []
        if not roots:
            return self._each(self._function(function, place))
        lines: list[str] = []
        taken: set[Symbol] = set()
        for name, base in roots:
            lines.append(f"double {self._array(name)}[SYMMEM_LONG_LANES];")
            inner = self._function(replace(function, output=base), Place(f"{self._at(name)} = "), taken)
            lines += [*self._each(inner), f"root({self._array(name)}, lanes);"]
            taken.add(name)
        return _scoped([*lines, *self._each(self._function(function, place, taken))])

    def _function(
        self, function: Entrywise, place: Place, roots: AbstractSet[Symbol] = frozenset()
    ) -> list[str]:
        """The local values that the output needs, then the output in its place; ``roots`` lie in arrays."""
        kind, wanted = self.precision.type, _needed(function, roots)
        lines: list[str] = []
        if self.stored is not None:
            entries = [*function.vectors, *sorted(roots, key=lambda symbol: symbol.name)]
            lines = [f"const {kind} {self._name(e)} = {self._at(e)};" for e in entries if e in wanted]
        scalars = frozenset(function.scalars)
        printer = (
            WidePrinter(scalars, self._name)
            if self.precision.is_wide
            else CPrinter(self.precision, scalars, self._name)
        )
        fresh = part_names()
        for symbol, value in function.locals:
            if symbol in wanted - roots:
                lines += declared(kind, symbol, value, printer, fresh)
        width = WIDTH - 2 * len(INDENT) - len(f"const {kind} ;")
        room = WIDTH - 2 * len(INDENT) - len(place.start) - len(place.end)
        before, short = fitted(function.output, printer, fresh, room, width)
        for name, value in before:
            lines += declared(kind, name, value, printer, fresh)
        return [*lines, f"{place.start}{printer.source(short)}{place.end}"]

    def _each(self, lines: Sequence[str]) -> list[str]:
        if self.stored is None:
            return list(lines)
        return ["for (size_t i = 0; i < lanes; ++i) {", *indented(lines), "}"]


def _remark(number: Symbol) -> str:
    return "" if isinstance(number, Internal) else f" /* {number.name} */"


def _roots(function: Entrywise) -> list[tuple[Symbol, Expr]]:
    return [
        (name, value.base)
        for name, value in function.locals
        if isinstance(value, Pow) and value.exp == -S.Half
    ]


def _applied(statements: Sequence[Statement | Rows]) -> list[Apply]:
    found: list[Apply] = []
    for statement in statements:
        if isinstance(statement, (Apply, Rows)):
            found.append(statement.term if isinstance(statement, Rows) else statement)
        elif isinstance(statement, Loop):
            found += _applied(statement.body)
    return found


def _needed(function: Entrywise, known: AbstractSet[Symbol]) -> set[Symbol]:
    """The symbols that the output is made of, down to those that are known."""
    values = dict(function.locals)
    wanted: set[Symbol] = set()
    waiting = set(function.output.free_symbols)
    while waiting:
        symbol = waiting.pop()
        wanted.add(symbol)
        if symbol in values and symbol not in known:
            waiting |= values[symbol].free_symbols - wanted
    return wanted


def _scoped(lines: list[str]) -> list[str]:
    """Local values in a scope of their own: the next function may use the same names."""
    return lines if len(lines) == 1 else ["{", *indented(lines), "}"]
