"""The formulas of an optimizer as a module for the runtime: functions, and the record that names them."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Add, Expr, S

from symmem.algebra.atoms import GRAD, LR, STEP, THETA
from symmem.algebra.results import Advice, Missing
from symmem.derivation.derivation import Derivation
from symmem.derivation.groups.parameter_groups import RATES, group_form, with_rates
from symmem.derivation.line_form import LineForm
from symmem.output.rendering import render
from symmem.program.expansion import formulas as formulas_of
from symmem.program.lowering import vector_routine
from symmem.program.needs import Need
from symmem.program.program import Program, Routine, Variants
from symmem.program.scope import Scope
from symmem.program.statements import Internal
from symmem.targets.python.layout import indented, signature
from symmem.targets.python.module import CHECKS, python_scope
from symmem.targets.python.surfaces import check, contractions, names_of_opaque
from symmem.targets.torch.dialect import OUTER, spelling
from symmem.targets.torch.functions import FunctionWriter, Lines
from symmem.targets.torch.inlining import InliningWriter
from symmem.targets.torch.line_record import line_of, line_record
from symmem.targets.torch.pieces import helpers
from symmem.targets.torch.record import (
    assigned,
    by_groups,
    by_steps,
    check_scope,
    first_order,
    higher_order,
    joins_entries,
)

STEP_FUNCTION = "_rated_step"
RUNTIME = "symmem.training.runtime"


@dataclass(frozen=True)
class Written:
    """Functions and the record of formulas, as lines; what they call of the emitted helpers."""

    functions: list[Lines]
    record: Lines
    needs: frozenset[Need]


def written(derivation: Derivation, writer: InliningWriter, form: LineForm | None = None) -> Written:
    """The functions of any order, and ``FORMULAS``; those of a line where its form is given."""
    served = form is not None or by_steps(derivation)
    check_scope(
        derivation,
        by_tensor=served,
        on_a_line=lambda: "" if line_of(derivation) is None else "the straight-line history with limit=True",
    )
    if form is None and not by_steps(derivation):
        return _higher(derivation, writer)
    functions = FunctionWriter(derivation.method, writer)
    if form is not None:
        lines, record = line_record(derivation, form, functions)
    else:
        lines, record = first_order(derivation, functions)
    return Written(lines, assigned("FORMULAS", record), frozenset(functions.needs))


def has_line(derivation: Derivation, *, alone: bool = True) -> bool:
    """Whether the optimizer can run on the straight-line history: order 1, and a line for every memory."""
    known = by_groups(derivation) if alone else by_steps(derivation)
    return known and not isinstance(group_form(derivation.method).straight, Missing)


def formulas_module(derivation: Derivation, *, flat: bool = False) -> str:
    """The module that :mod:`symmem.training` loads for an optimizer and an order; ``flat``: all tensors as one."""
    program = Program(derivation.optimizer, derivation.order, {})
    writer = tensor_writer(program, in_place=True)
    found = written(derivation, writer, None if flat else line_of(derivation))
    return render(
        "torch/formulas.py.jinja",
        {
            "name": derivation.optimizer.name,
            "runtime": RUNTIME,
            "aliases": writer.scope.aliases,
            "definitions": [
                *("\n".join(lines) for lines in (check(program, ""), *writer.functions())),
                *CHECKS.chosen(()),
                *helpers(found.needs),
                *("\n".join(lines) for lines in found.functions),
                "\n".join(found.record),
            ],
        },
    )


def tensor_writer(program: Program, *, in_place: bool = False) -> InliningWriter:
    """The writer of a module: one scope gives out all its names."""
    scope = python_scope(program, OUTER)
    return InliningWriter(spelling(scope), scope, in_place=in_place)


_MATHEMATICS = {
    Need.COMPLETE,
    Need.COMPLETES,
    Need.ELEMENTARY,
    Need.OLDEST,
    Need.PRODUCT,
    Need.SHORTFALL,
    Need.SHORTFALLS,
}
"""What is done with Python's own functions of numbers."""


def imports_math(needs: frozenset[Need], scope: Scope) -> bool:
    """Whether a module calls it, or has to call it otherwise, because a parameter has its name."""
    return bool(needs & _MATHEMATICS) or "math" in dict(scope.aliases).values()


@dataclass(frozen=True)
class HigherStep:
    """Beyond order 1 and geometric memory: the whole step on flat vectors, with a vector of rates, as a function."""

    variants: Variants
    function: Lines

    @property
    def needs(self) -> frozenset[Need]:
        """The runtime functions that its routines call."""
        return frozenset(need for each in self.variants.existing for need in each.needs)

    @property
    def has_finite(self) -> bool:
        """Is there a routine for integer n?"""
        return isinstance(self.variants.finite, Routine)

    @property
    def has_limit(self) -> bool:
        """Is there a routine for n -> infinity?"""
        return isinstance(self.variants.limit, Routine)


def higher_step(derivation: Derivation, writer: InliningWriter) -> HigherStep:
    """The step of an order above 1, or of a memory that is not geometric."""
    optimizer, order = derivation.optimizer, derivation.order
    rates = Internal("rates")

    def lowered(update: Expr | Missing, correction: Expr | Missing, advice: Advice) -> Routine | Missing:
        for each in (update, correction):
            if isinstance(each, Missing):
                return Missing(each.reason, (advice,))
        moved = (THETA - Add(update, correction)).xreplace({LR: S.One, RATES: rates})
        return vector_routine(moved, (rates,))

    finite, limit = formulas_of(Derivation(with_rates(derivation.method), order))
    variants = Variants(lowered(*finite, Advice.LIMIT), lowered(*limit, Advice.STEP))
    calls = names_of_opaque(optimizer, order)
    name = writer.scope.name
    parameters = [writer.scope.kept(parameter.name) for parameter in optimizer.parameters]
    # In the place of the helper for one tensor stands an argument: the vector has many of them.
    apart = ["_of_tensor"] if joins_entries(derivation) else []
    head = ["theta", name(GRAD), *contractions(order), *calls, *apart, name(rates), STEP.name, *parameters]
    body = writer.variants(variants, "rated", out=False)
    return HigherStep(variants, [*signature(STEP_FUNCTION, head), *indented(body)])


def _higher(derivation: Derivation, writer: InliningWriter) -> Written:
    step = higher_step(derivation, writer)
    record = higher_order(
        derivation, step=STEP_FUNCTION, has_finite=step.has_finite, has_limit=step.has_limit
    )
    return Written([step.function], assigned("FORMULAS", record), step.needs)
