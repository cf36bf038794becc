"""Formulas as functions of tensors and numbers: what the optimizer classes call for one group and one tensor.

Every function takes its arguments by position: tensors, opaque functions, numbers, parameters.  Names come from one
Scope, so that a parameter may have any name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sympy import Expr, Product, Symbol

from symmem.algebra.atoms import GRAD, STEP
from symmem.algebra.where import where
from symmem.derivation.groups.step_scalars import StepScalar
from symmem.method.method import Method
from symmem.program.digits.shortfalls import without_cancellation
from symmem.program.digits.stable_sums import stabilised
from symmem.program.lowering import number_routine, vector_routine
from symmem.program.needs import Need, needs_of_ranges
from symmem.program.program import Routine, Variants
from symmem.program.statements import Assign, Assignment, Internal
from symmem.targets.python.layout import INDENT, WIDTH, indented, signature
from symmem.targets.python.surfaces import names_of_opaque
from symmem.targets.torch.inlining import InliningWriter

Lines = list[str]


class FunctionWriter:
    """Writes functions of one file; ``needs`` is what they call, gathered as they are written."""

    def __init__(self, method: Method, writer: InliningWriter) -> None:
        optimizer = method.optimizer
        self._writer = writer
        self._field = method.numbers
        self._calls = names_of_opaque(optimizer, 1)
        self._parameters = [writer.scope.kept(parameter.name) for parameter in optimizer.parameters]
        self.needs: set[Need] = set()

    def spelled(self, symbols: Iterable[Symbol]) -> list[str]:
        """The names of these symbols in the emitted module."""
        return [self._writer.scope.name(symbol) for symbol in symbols]

    def tensor(
        self,
        name: str,
        value: Expr,
        vectors: Sequence[Symbol] = (),
        numbers: Sequence[Symbol] = (),
        *,
        opaque: bool = True,
    ) -> Lines:
        """A function of theta, the gradient, the vectors, the opaque functions, the numbers and the parameters."""
        calls = self._calls if opaque else []
        head = ["theta", *self.spelled([GRAD, *vectors]), *calls, *self.spelled(numbers), *self._parameters]
        made = vector_routine(value, vectors)
        self.needs |= made.needs
        return [*signature(name, head), *indented(self._writer.straight(made))]

    def variants(
        self, name: str, variants: Variants, vectors: Sequence[Symbol], numbers: Sequence[Symbol]
    ) -> Lines:
        """The same for a formula at step n and one in the limit; n is among the numbers, None for the limit."""
        head = ["theta", *self.spelled([GRAD, *vectors]), *self._calls]
        head += [*self.spelled(numbers), *self._parameters]
        self.needs |= {need for each in variants.existing for need in each.needs}
        return [*signature(name, head), *indented(self._writer.variants(variants, name, out=False))]

    def given_step(self, name: str) -> Lines:
        """A function of n and the parameters that returns n, in a list."""
        return [*signature(name, [STEP.name, *self._parameters]), *_returned([STEP.name])]

    def numbers(self, name: str, values: Sequence[Expr], given: Sequence[Symbol] = ()) -> Lines:
        """A function of the given numbers and the parameters that returns the values, in a list."""
        head = signature(name, [*self.spelled(given), *self._parameters])
        entries = [self._number(value) for value in values]
        if max(map(len, entries), default=0) + 2 * len(INDENT) < WIDTH:
            return [*head, *_returned(entries)]
        named = [(Internal(f"number{place}"), value) for place, value in enumerate(values, start=1)]
        return [
            *head,
            *indented(self._writer.numbers(named)),
            *_returned(self.spelled(symbol for symbol, _ in named)),
        ]

    def number(self, name: str, value: Expr, given: Sequence[Symbol] = ()) -> Lines:
        """The same for one value."""
        head = signature(name, [*self.spelled(given), *self._parameters])
        return [*head, f"{INDENT}return {self._number(value)}"]

    def pairs(self, name: str, values: Sequence[tuple[Expr, Expr]]) -> Lines:
        """A function of the parameters that returns pairs of numbers."""
        entries = [f"({self._number(first)}, {self._number(second)})" for first, second in values]
        return [*signature(name, self._parameters), *_returned(entries)]

    def at_step(self, name: str, scalars: Sequence[StepScalar], *, ranges: bool) -> Lines:
        """A function of n and the parameters: the numbers at step n, or their limits where n is None.

        ``ranges``: n may be a tensor of many steps, unless :func:`is_stepwise`.
        """
        lines = signature(name, [STEP.name, *self._parameters])
        if not scalars:
            return [*lines, *_returned([])]
        limits = [(scalar.name, scalar.limit) for scalar in scalars if scalar.limit is not None]
        if len(limits) == len(scalars):
            body = self._listed(limits, 2, ranges=False)
        else:
            error = self._writer.scope.outer("ValueError")
            body = [f'raise {error}("the coefficients have no limit; use limit=False")']
        if is_stepwise(scalars):
            finite = self._in_statements([(each.name, self._stable(each, False)) for each in scalars])
        else:
            pairs = [(each.name, self._stable(each, ranges)) for each in scalars]
            finite = self._listed(pairs, 1, ranges=ranges)
        return [*lines, f"{INDENT}if n is None:", *indented(indented(body)), *indented(finite)]

    def _in_statements(self, assignments: Sequence[Assignment]) -> Lines:
        """Numbers with branches or products over steps: each by statements of its own, at one step."""
        lines: Lines = []
        for name, value in assignments:
            made = number_routine(value)
            self.needs |= set(made.needs)
            lines += [
                *self._writer.block(made.statements),
                f"{self._writer.scope.name(name)} = {self._writer.scope.name(made.result)}",
            ]
        return [*lines, f"return [{', '.join(self.spelled(name for name, _ in assignments))}]"]

    def _stable(self, scalar: StepScalar, ranges: bool) -> Expr:
        """The number at step n; for many steps at once it is kept as a formula."""
        if ranges:
            return without_cancellation(scalar.at_step)
        return stabilised(scalar.at_step, self._field)

    def _listed(self, assignments: Sequence[Assignment], depth: int, *, ranges: bool) -> Lines:
        """``return`` of the values, on one line where there is room so deep, else named first."""
        if ranges:
            self.needs |= set(needs_of_ranges(assignments, STEP))
        else:
            self._note(assignments)
            line = f"return [{', '.join(self._writer.number(value) for _, value in assignments)}]"
            if len(line) <= WIDTH - depth * len(INDENT):
                return [line]
        names = self.spelled(name for name, _ in assignments)
        lines = self._writer.ranges(assignments, STEP) if ranges else self._writer.numbers(assignments)
        return [*lines, f"return [{', '.join(names)}]"]

    def _number(self, value: Expr) -> str:
        self._note([(STEP, value)])
        return self._writer.number(value)

    def _note(self, assignments: Sequence[Assignment]) -> None:
        self.needs |= Routine((Assign(tuple(assignments)),), STEP).needs


def is_stepwise(scalars: Iterable[StepScalar]) -> bool:
    """Whether a number has a branch or a product over steps, so that it is made at one step at a time."""
    return any(scalar.at_step.has(where, Product) for scalar in scalars)


def _returned(entries: Sequence[str]) -> Lines:
    line = f"{INDENT}return [{', '.join(entries)}]"
    if len(line) <= WIDTH:
        return [line]
    return [f"{INDENT}return [", *(f"{INDENT * 2}{entry}," for entry in entries), f"{INDENT}]"]
