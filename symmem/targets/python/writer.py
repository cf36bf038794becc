"""A Program's routines as lines of Python; NumPy, PyTorch and JAX differ in their dialect and in their loops.

The lines call a few small functions that the template of each target defines: ``_entrywise``, ``_like``,
``_total``, ``_oldest``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from sympy import Expr, Symbol
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from symmem.algebra.atoms import GRAD, LOSS
from symmem.algebra.results import Missing
from symmem.program.program import Routine, Variants
from symmem.program.ranges import split_ranges
from symmem.program.scope import Scope
from symmem.program.statements import (
    Apply,
    Assign,
    Assignment,
    Choice,
    Contract,
    Entrywise,
    Evaluate,
    Internal,
    Loop,
    OfTensor,
    Potential,
    Statement,
    Total,
)
from symmem.targets.printing import Dialect, part_names
from symmem.targets.python.layout import (
    INDENT,
    WIDTH,
    Argument,
    Group,
    assignment,
    call,
    indented,
    reached,
    returned,
    signature,
)
from symmem.targets.python.printing import PythonPrinter
from symmem.targets.python.routines import leading, roles_of, skeleton
from symmem.targets.refusals import refusal

VALUES = {GRAD: "g", LOSS: "value"}
"""The gradient and the loss as values: in a signature ``grad`` and ``loss`` are the functions."""


@dataclass(frozen=True)
class Spelling:
    """The dialects of a target: of vectors, of numbers, and of a number for each of many steps."""

    vectors: Dialect
    scalars: Dialect
    ranges: Dialect


class PythonWriter:
    """Writes routines as lines; remembers the entrywise functions that they use, by name."""

    def __init__(self, spelling: Spelling, scope: Scope) -> None:
        self._spelling = spelling
        self.scope = scope
        self._scalars = PythonPrinter(spelling.scalars, names=scope.name)
        self._ranges = PythonPrinter(spelling.ranges, names=scope.name)
        self._functions: dict[Entrywise, str] = {}

    def variants(self, variants: Variants, role: str, *, out: bool) -> list[str]:
        """The body of a function of n: one set of statements where finite n and the limit differ in numbers alone."""
        finite, limit = variants.finite, variants.limit
        if isinstance(finite, Routine) and isinstance(limit, Routine):
            if finite == limit:
                return self.routine(finite, role, out=out)
            if skeleton(finite) == skeleton(limit):
                return [
                    *self._branch(leading(limit), leading(finite)),
                    *self.routine(Routine(skeleton(finite), finite.result), role, out=out),
                ]
        lines = ["if n is None:", *indented(self._one(limit, f"{role}_limit", out=out))]
        return [*lines, *self._one(finite, role, out=out)]

    def routine(self, routine: Routine, role: str, *, out: bool = False) -> list[str]:
        """Statements, and ``return`` of the last one's value; ``out`` is where the caller wants it."""
        *before, last = routine.statements
        lines = self.block(before)
        if isinstance(last, Apply):
            arguments = [*self._application(last, role), *(["out"] if out else [])]
            return [*lines, *self.call("return ", "_entrywise", arguments)]
        assert isinstance(last, Assign)
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

    def ranges(self, assignments: Iterable[Assignment], index: Symbol) -> list[str]:
        """Assignments of numbers, each for many values of the index at once; what does not depend on it is one."""
        single, many = split_ranges(assignments, index)
        return [*self._assignments(single, self._scalars), *self._assignments(many, self._ranges)]

    def functions(self) -> list[list[str]]:
        """The lines of every entrywise function that was used."""
        return [self.function_lines(name, function) for function, name in self._functions.items()]

    def _one(self, routine: Routine | Missing, role: str, *, out: bool) -> list[str]:
        if isinstance(routine, Routine):
            return self.routine(routine, role, out=out)
        words = _ascii_quotes(refusal(routine, "n=None"))
        return self.call("raise ", self.scope.outer("ValueError"), [f'"{words}"'])

    def _branch(self, limit: Sequence[Assignment], finite: Sequence[Assignment]) -> list[str]:
        if not limit and not finite:
            return []
        first, second = (self._assignments(part, self._scalars) or ["pass"] for part in (limit, finite))
        return ["if n is None:", *indented(first), "else:", *indented(second)]

    def block(self, statements: Sequence[Statement]) -> list[str]:
        """The lines of these statements."""
        roles = roles_of(statements)
        lines: list[str] = []
        for statement in statements:
            lines += self._statement(statement, roles)
        return lines

    def _statement(self, statement: Statement, roles: Mapping[Symbol, str]) -> list[str]:
        if isinstance(statement, Assign):
            return self._assignments(statement.assignments, self._scalars)
        if isinstance(statement, Choice):
            return self.choice(statement)
        target = f"{self._name(statement.result)} = "
        if isinstance(statement, Apply):
            role = roles.get(statement.result, "summand")
            function, theta, *rest = self._application(statement, role)
            if statement.has_own_shape:
                return self.call(target, "_shaped", [function, *rest])
            return self.call(target, "_entrywise", [function, theta, *rest])
        if isinstance(statement, Contract):
            contraction = "hvp" if len(statement.directions) == 1 else f"d{len(statement.directions) + 1}"
            return [f"{target}_like(theta, {contraction}(theta, {self._list(statement.directions)}))"]
        if isinstance(statement, Evaluate):
            return [f"{target}_like(theta, {statement.function}({self._list(statement.arguments)}))"]
        if isinstance(statement, Potential):
            return [f"{target}{statement.function}({self._name(statement.argument)})"]
        if isinstance(statement, OfTensor):
            return self._of_tensor(target, statement)
        if isinstance(statement, Total):
            return [f"{target}_total({self._name(statement.vector)})"]
        return self.loop(statement)

    def _of_tensor(self, target: str, statement: OfTensor) -> list[str]:
        if statement.function == "sum_tensors":
            return [f"{target}_sum_tensors({self._name(statement.vectors[0])})"]
        numbers = Group(tuple(self.number(number) for number in statement.numbers))
        function = f"_{statement.function}"
        return self.call(target, "_of_tensor", [function, self._group(statement.vectors), numbers])

    def loop(self, loop: Loop) -> list[str]:
        """A sum over past steps; numbers are summed over all steps at once where the body is a formula."""
        bounds, result = ", ".join(self.bounds(loop)), self._name(loop.result)
        if loop.is_formula:
            return [*self._all_steps(loop, bounds), f"{result} = _added({self._name(loop.term)})"]
        # A sum of matrices that are not like theta begins with its first term: it is never empty.
        number = loop.is_scalar or loop.has_own_shape
        start = "1.0" if loop.is_product else "0.0" if number else "_zeros(theta)"
        sign = "*" if loop.is_product else "+"
        added = f"{result} = {result} {sign} {self._name(loop.term)}"
        if loop.few:
            taken = [each for each in loop.body if not isinstance(each, Assign)]
            moving = ", ".join(map(self._name, loop.few))
            rows = self._name(Internal(f"rows_{loop.result}"))
            few = f"_few({self._name(loop.index)}, {moving})"
            rule = few if loop.reach is None else f"_rule({moving}, {reached(loop.reach)})"
            target = moving if len(loop.few) > 1 else f"({moving},)"
            lines = [*self._all_steps(loop, bounds), f"{rows} = {rule}", f"{result} = {start}"]
            return [*lines, f"for {target} in {rows}.tolist():", *indented([*self.block(taken), added])]
        body = [*self.block(loop.body), added]
        header = f"for {self._name(loop.index)} in {self.scope.outer('range')}({bounds}):"
        return [f"{result} = {start}", header, *indented(body)]

    def _all_steps(self, loop: Loop, bounds: str) -> list[str]:
        """The numbers of all steps of a loop, as arrays."""
        return [f"{self._name(loop.index)} = _steps({bounds})", *self.ranges(loop.numbers, loop.index)]

    def choice(self, choice: Choice) -> list[str]:
        """A number with two branches, of which one is computed."""
        result = self._name(choice.result)
        first, second = (
            [*self.block(each.body), f"{result} = {self._name(each.value)}"] for each in choice.branches
        )
        before, condition = self.condition(choice.condition)
        return [*before, f"if {condition}:", *indented(first), "else:", *indented(second)]

    def condition(self, condition: Boolean) -> tuple[list[str], str]:
        """The condition of a line, and before it the lines that name its sides where it is too long."""
        text = self._scalars.condition(condition)
        if len(f"if {text}:") <= WIDTH - 3 * len(INDENT):
            return [], text
        sides = sorted(
            (side for each in condition.atoms(Relational) for side in each.args if side.args), key=str
        )
        named = {side: Internal(f"side{k}") for k, side in enumerate(dict.fromkeys(sides), start=1)}
        lines = self._assignments([(name, side) for side, name in named.items()], self._scalars)
        return lines, self._scalars.condition(condition.xreplace(named))

    def bounds(self, loop: Loop) -> tuple[str, str]:
        """The first step that is added, and the one after the last."""
        first, stop = self._scalars.source(loop.first), self._scalars.source(loop.stop)
        if loop.decay is None:
            return first, stop
        return f"_oldest({first}, {stop}, {self._scalars.source(loop.decay)})", stop

    def _application(self, statement: Apply, role: str) -> list[Argument]:
        function = statement.function
        name = self._named(function, role)
        return [name, "theta", self._group(function.vectors), self._group(function.scalars)]

    def _named(self, function: Entrywise, role: str) -> str:
        if function not in self._functions:
            taken = set(self._functions.values())
            candidates = (f"_{role}" if k == 1 else f"_{role}{k}" for k in count(1))
            self._functions[function] = next(name for name in candidates if name not in taken)
        return self._functions[function]

    def function_lines(self, name: str, function: Entrywise) -> list[str]:
        """An entrywise function of vectors and scalars that returns its value."""
        arguments = [self._name(symbol) for symbol in (*function.vectors, *function.scalars)]
        formula = self.formula_lines(function, WIDTH - len(INDENT))
        return [*signature(name, arguments), *indented(formula)]

    def formula_lines(self, function: Entrywise, room: int, result: str | None = None) -> list[str]:
        """The local values, and ``return`` or the name of the result, in lines that have room."""
        fresh, printer = part_names(), self.entries(function)
        body: list[str] = []
        for symbol, value in function.locals:
            body += assignment(self._name(symbol), value, printer, fresh, room)
        if result is not None:
            return [*body, *assignment(result, function.output, printer, fresh, room)]
        return [*body, *returned(function.output, printer, fresh, room)]

    def _assignments(self, assignments: Iterable[Assignment], printer: PythonPrinter) -> list[str]:
        fresh = part_names()
        lines: list[str] = []
        for name, value in assignments:
            lines += assignment(self._name(name), value, printer, fresh, WIDTH - 3 * len(INDENT))
        return lines

    def entries(self, function: Entrywise) -> PythonPrinter:
        """The printer of its formulas."""
        return PythonPrinter(self._spelling.vectors, frozenset(function.scalars), self.scope.name)

    def _name(self, symbol: Symbol) -> str:
        return self.scope.name(symbol)

    def _list(self, symbols: Iterable[Symbol]) -> str:
        return ", ".join(self._name(symbol) for symbol in symbols)

    def _group(self, symbols: Sequence[Symbol]) -> Group:
        return Group(tuple(self._name(symbol) for symbol in symbols))

    def call(self, target: str, name: str, arguments: Sequence[Argument]) -> list[str]:
        """A call inside a function, at most two levels deep."""
        return call(target, name, arguments, WIDTH - 2 * len(INDENT))


def _ascii_quotes(words: str) -> str:
    """Words as they can stand between quotes."""
    return words.replace("\\", "/").replace('"', "'")
