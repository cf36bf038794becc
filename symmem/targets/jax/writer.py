"""How JAX spells functions, and the writer of its loops and choices, which the compiler has to see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sympy import Symbol

from symmem.algebra.atoms import STEP
from symmem.program.scope import Scope
from symmem.program.statements import Assign, Assignment, Choice, Internal, Loop, Statement
from symmem.targets.jax.printing import JaxPrinter, is_whole
from symmem.targets.printing import Dialect
from symmem.targets.python.layout import indented
from symmem.targets.python.printing import PythonPrinter
from symmem.targets.python.writer import PythonWriter, Spelling

_FUNCTIONS = {
    "Abs": "abs",
    "atan": "arctan",
    **{name: name for name in ("sqrt", "sign", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
"""The names that jax.numpy has for the functions of the language."""


def spelling(scope: Scope) -> Spelling:
    """How JAX spells functions of arrays, and of numbers, which may be traced."""
    jnp = scope.outer("jnp")
    functions = {name: f"{jnp}.{own}({{}})" for name, own in _FUNCTIONS.items()}
    functions["erf"] = f"{scope.outer('jax')}.lax.erf({{}})"
    functions["Shortfall"] = "_shortfall({}, {})"
    functions |= {"Min": f"{jnp}.minimum({{}}, {{}})", "Max": f"{jnp}.maximum({{}}, {{}})"}
    words = {"both": f"{jnp}.logical_and({{}}, {{}})", "either": f"{jnp}.logical_or({{}}, {{}})"}
    numbers = Dialect(functions, f"1.0 / {jnp}.sqrt({{}})", both=words["both"], either=words["either"])
    return Spelling(Dialect(functions, f"{scope.outer('jax')}.lax.rsqrt({{}})"), numbers, numbers)


class JaxWriter(PythonWriter):
    """Sums over past steps are loops that the compiler sees; their bounds may be traced."""

    def __init__(self, spelling: Spelling, scope: Scope) -> None:
        super().__init__(spelling, scope)
        self._whole: set[Symbol] = {STEP}  # what JAX has as whole numbers
        self._scalars = JaxPrinter(spelling.scalars, scope.name, self._whole)
        self._ranges = JaxPrinter(spelling.ranges, scope.name, self._whole)

    def _assignments(self, assignments: Iterable[Assignment], printer: PythonPrinter) -> list[str]:
        given = list(assignments)
        self._whole.update(name for name, value in given if is_whole(value, self._whole))
        return super()._assignments(given, printer)

    def loop(self, loop: Loop) -> list[str]:
        """The loop as a function of the index and of what was added so far, run by ``lax.fori_loop``."""
        self._whole.add(loop.index)
        start = "1.0" if loop.is_product else "0.0" if loop.is_scalar else "_zeros(theta)"
        result, term = self._name(loop.result), self._name(loop.term)
        name = self._name(Internal(f"add_{loop.result}"))
        added = f"{result} + {term}" if loop.is_scalar else f"_add({result}, {term})"
        added = f"{result} * {term}" if loop.is_product else added
        first, stop = self.bounds(loop)
        if loop.has_own_shape:  # the first term tells the shape
            start, added = f"_zeros({name}({first}, None))", f"{term} if {result} is None else {added}"
        function = f"{self.scope.outer('jax')}.lax.fori_loop"
        if loop.few:
            return self._at_few_steps(loop, name, [f"return {added}"], function)
        body = [*self.block(loop.body), f"return {added}"]
        return [
            "",
            f"def {name}({self._name(loop.index)}, {result}):",
            *indented(body),
            "",
            *self.call(f"{result} = ", function, [first, stop, name, start]),
        ]

    def _at_few_steps(self, loop: Loop, name: str, end: list[str], function: str) -> list[str]:
        """The numbers of a step as a function; the loop runs over the rows of a few steps."""
        result, moving = self._name(loop.result), ", ".join(map(self._name, loop.few))
        stems = ("numbers", "count", "rows", "row")
        numbers, count, rows, row = (self._name(Internal(f"{stem}_{loop.result}")) for stem in stems)
        taken = [each for each in loop.body if not isinstance(each, Assign)]
        comma = "," if len(loop.few) == 1 else ""
        inner = [*self.ranges(loop.numbers, loop.index), f"return {moving}{comma}"]
        body = [f"{moving}{comma} = {rows}[{row}]", *self.block(taken), *end]
        return [
            "",
            *[f"def {numbers}({self._name(loop.index)}):", *indented(inner)],
            "",
            *self.call(f"{count}, {rows} = ", "_few", [numbers, *self.bounds(loop)]),
            "",
            *[f"def {name}({row}, {result}):", *indented(body)],
            "",
            *self.call(f"{result} = ", function, ["0", count, name, "_zeros(theta)"]),
        ]

    def with_roles(self, statements: Sequence[Statement], roles: Mapping[Symbol, str]) -> list[str]:
        """The lines of these statements; ``roles`` name the entrywise functions of some results."""
        return [line for statement in statements for line in self._statement(statement, roles)]

    def choice(self, choice: Choice) -> list[str]:
        """Both branches as functions: where the condition is traced, both are computed and one is taken."""
        result, lines, names = self._name(choice.result), [], []
        for stem, branch in zip(("then", "else"), choice.branches, strict=True):
            names.append(self._name(Internal(f"{stem}_{choice.result}")))
            body = [*self.block(branch.body), f"return {self._name(branch.value)}"]
            lines += ["", f"def {names[-1]}():", *indented(body)]
        before, condition = self.condition(choice.condition)
        return [*lines, "", *before, *self.call(f"{result} = ", "_chosen", [condition, *names])]
