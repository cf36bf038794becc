"""The record of an optimizer whose memory sees one line, cascades and delays: functions of n, and their names.

The formulas are those of :mod:`symmem.derivation.line_form`; n stands among the scalars, None for the limit.
"""

from __future__ import annotations

from sympy import Expr, Symbol

from symmem.algebra.atoms import STEP, TOTAL
from symmem.algebra.results import Advice, Missing
from symmem.derivation.derivation import Derivation
from symmem.derivation.groups.parameter_groups import has_geometric_memory
from symmem.derivation.line_form import LineForm, line_form
from symmem.derivation.past.cascade_line import CHANGE, PATH
from symmem.derivation.running import running_form
from symmem.method.method import Method
from symmem.method.reading import running_method
from symmem.program.digits.stable_sums import stabilised
from symmem.program.lowering import vector_routine
from symmem.program.program import Routine, Variants
from symmem.program.shapes import is_like_theta
from symmem.program.statements import Internal
from symmem.targets.torch import group_functions as group
from symmem.targets.torch import memory_functions as memory
from symmem.targets.torch.arguments import numbers_of_state
from symmem.targets.torch.functions import FunctionWriter, Lines
from symmem.targets.torch.record import facts, made, running_record, watched

PRODUCT, DISPLACEMENT, SCALE = Internal("hv1"), Internal("path1"), Internal("scale1")
UPDATE = Internal("update")


def line_of(derivation: Derivation) -> LineForm | None:
    """The form on one line, where there is none by groups; None where there is neither."""
    method = derivation.method
    if derivation.order > 1 or has_geometric_memory(method) or not _fits(method):
        return None
    found = line_form(derivation)
    return None if isinstance(found, Missing) else found


def _fits(method: Method) -> bool:
    """Whether what is kept, and the update, are like theta, and nothing is a number of the whole model."""
    values = [*((channel.symbol, channel.g) for channel in method.channels), (UPDATE, method.phi)]
    return is_like_theta(values) and not any(value.has(TOTAL) for _, value in values)


def line_record(derivation: Derivation, form: LineForm, writer: FunctionWriter) -> tuple[list[Lines], Lines]:
    """The functions, and the record."""
    numbers = derivation.method.numbers
    vectors = [PRODUCT, DISPLACEMENT] if form.has_displacements else [PRODUCT]
    places = {CHANGE: SCALE * PRODUCT, PATH: SCALE * DISPLACEMENT}

    def lowered(formula: Expr | Missing, advice: Advice, given: list[Symbol]) -> Routine | Missing:
        if isinstance(formula, Missing):
            return Missing(formula.reason, (advice,))
        return vector_routine(formula.xreplace(places), given)

    def variants(finite: Expr | Missing, limit: Expr | Missing, given: list[Symbol]) -> Variants:
        exact = finite if isinstance(finite, Missing) else stabilised(finite, numbers)
        return Variants(lowered(exact, Advice.LIMIT, given), lowered(limit, Advice.STEP, given))

    running = running_form(running_method(derivation.optimizer))
    decays = dict.fromkeys(decay for c in derivation.method.channels for decay in c.kernel.decays)
    lines = [
        writer.given_step(group.SCALARS),
        writer.variants(group.PLAIN, variants(form.update, form.limit_update, []), (), [STEP]),
        writer.numbers(group.DECAYS, list(decays)),
        writer.tensor(group.PAST, form.velocity),
        writer.variants(
            group.LINE, variants(form.straight, form.limit_straight, vectors), vectors, [SCALE, STEP]
        ),
        *memory.running_functions(running, numbers_of_state(derivation.optimizer), writer),
    ]
    more, fields = watched(derivation, running, writer)
    record = made(
        "FirstOrder",
        {
            **facts(
                derivation,
                has_finite=not isinstance(form.straight, Missing),
                has_limit=not isinstance(form.limit_straight, Missing),
            ),
            "scalars": group.SCALARS,
            "plain": group.PLAIN,
            "memory": _memory(form, len(vectors)),
            "running": running_record(derivation, running),
            "regulariser": "None",
            **fields,
        },
    )
    return [*lines, *more], record


def _memory(form: LineForm, vectors: int) -> Lines:
    corrected = f"_runtime.with_slope({group.PLAIN}, {group.LINE}, {vectors})"
    return made(
        "Memory",
        {
            "decays": group.DECAYS,
            "past": group.PAST,
            "past_scalars": "None",
            "is_linear": "False",
            "has_displacements": str(form.has_displacements),
            "corrected": corrected,
            "shared": corrected,
            "correction": f"_runtime.slope_of({group.LINE}, {vectors})",
            "on_line": group.LINE,
            "lines": "()",
            "is_one_line": "True",
        },
    )
