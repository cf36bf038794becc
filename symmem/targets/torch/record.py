"""The record of formulas that the runtime takes, as source: facts, and the names of the functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from sympy import Expr
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import TOTAL, opaque_parts
from symmem.algebra.head import Roughness
from symmem.algebra.results import Missing
from symmem.algebra.tensor_heads import is_of_tensors
from symmem.declaration.digest import digest
from symmem.derivation.conditions.smoothness import rough_parts
from symmem.derivation.derivation import Derivation
from symmem.derivation.groups.group_regulariser import regulariser
from symmem.derivation.groups.parameter_groups import (
    GroupForm,
    group_form,
    has_geometric_memory,
    without_group_form,
)
from symmem.derivation.loss.running_loss import running_loss
from symmem.derivation.running import RunningForm, RunningSum, frozen_parameters, running_form
from symmem.derivation.stability import stability
from symmem.errors import DerivationError
from symmem.method.reading import running_method
from symmem.targets.python.layout import WIDTH, indented
from symmem.targets.torch import group_functions as group
from symmem.targets.torch import memory_functions as memory
from symmem.targets.torch.arguments import numbers_of_state, spelled_arguments, tuple_of
from symmem.targets.torch.functions import FunctionWriter, Lines, is_stepwise
from symmem.targets.torch.group_functions import GroupFunctions

OPTIONS = (
    *("amsgrad", "centered", "dampening", "decoupled_weight_decay", "momentum", "nesterov", "weight_decay"),
)
"""Options of PyTorch's optimizers that change the update."""
_OWN_SHAPES = ("inverse_root", "matmul", "transpose")
"""Functions whose values need not have the shape of theta."""
_BROKEN = (Roughness.JUMP, Roughness.KINK, Roughness.RANK, Roughness.POLES)
"""Functions of which few values do not stand for many."""
Fields = Mapping[str, str | Lines]


def by_groups(derivation: Derivation) -> bool:
    """Whether the parameter groups may differ in everything: order 1, geometric memory, no number of the model."""
    return derivation.order == 1 and without_group_form(derivation.method) is None


def by_steps(derivation: Derivation) -> bool:
    """The same where the runtime is there, which takes numbers with branches and products step by step."""
    known = derivation.order == 1 and has_geometric_memory(derivation.method)
    return known and not _is_of_model(derivation)


def check_scope(
    derivation: Derivation, *, by_tensor: bool = False, on_a_line: Callable[[], str] = str
) -> None:
    """Refuses what the optimizer class cannot do: it treats one tensor at a time, or all as one vector.

    ``by_tensor``: one tensor at a time all the same, on a line; ``on_a_line`` says how to ask for that.
    """
    if by_groups(derivation) or by_tensor:
        return
    others = own_shapes(derivation)
    if others:
        where = f"at order {derivation.order}"
        if derivation.order == 1:
            joined = _is_of_model(derivation)
            where = "with a number of the whole model" if joined else "with a memory that is not geometric"
        ways = ["order 1"] if derivation.order > 1 else [way for way in (on_a_line(),) if way]
        raise DerivationError(
            f"{derivation.method.name}: {where} the PyTorch optimizer takes all parameters as one vector, and "
            f"matrices of other shapes come from {', '.join(others)}; take {', or '.join([*ways, 'numpy or jax'])}"
        )


def own_shapes(derivation: Derivation) -> list[str]:
    """The functions in it whose values need not have the shape of theta: one vector of all parameters has none."""
    atoms = (atom for part in _parts(derivation) for atom in part.atoms(AppliedUndef))
    return sorted({opaque_parts(atom)[0] for atom in atoms} & {*_OWN_SHAPES})


def joins_entries(derivation: Derivation) -> bool:
    """Whether its update is a function of whole tensors, or of the whole model."""
    return _is_of_tensors(derivation) or _is_of_model(derivation)


def _is_of_tensors(derivation: Derivation) -> bool:
    return any(is_of_tensors(atom) for part in _parts(derivation) for atom in part.atoms(AppliedUndef))


def _is_of_model(derivation: Derivation) -> bool:
    return any(part.has(TOTAL) for part in _parts(derivation))


def _parts(derivation: Derivation) -> tuple[Expr, ...]:
    return derivation.method.phi, *(channel.g for channel in derivation.method.channels)


def first_order(derivation: Derivation, writer: FunctionWriter) -> tuple[list[Lines], Lines]:
    """The functions of order 1, and the record."""
    method = derivation.method
    form, running, implicit = (
        group_form(method),
        running_form(running_method(derivation.optimizer)),
        regulariser(method),
    )
    functions = GroupFunctions(form, writer)
    lines = [*functions.basic(), *functions.memory(), *functions.shared(), *functions.correction()]
    lines += memory.running_functions(running, numbers_of_state(derivation.optimizer), writer)
    found: Lines = ["None"]
    if implicit is not None:
        lines += memory.regulariser_functions(implicit, form, writer)
        fields = {"strengths": memory.STRENGTHS, "density": memory.DENSITY}
        found = made("Regulariser", {**fields, "share_of_loss": memory.SHARE_OF_LOSS})
    has_limit = all(scalar.limit is not None for scalar in (*form.scalars, *form.past_scalars))
    more, known = watched(derivation, running, writer)
    lines += more
    record = made(
        "FirstOrder",
        {
            **facts(derivation, has_finite=True, has_limit=has_limit),
            "scalars": group.SCALARS,
            "plain": group.PLAIN,
            "memory": _memory(form, is_open=bool(method.functions)),
            "running": running_record(derivation, running),
            "regulariser": found,
            **known,
        },
    )
    return lines, record


def watched(
    derivation: Derivation, form: RunningForm, writer: FunctionWriter
) -> tuple[list[Lines], dict[str, str | Lines]]:
    """What a probe knows beside the memory: the stability on a quadratic, and the loss inside a gradient map."""
    found, inside = stability(derivation.method), running_loss(derivation.method)
    lines: list[Lines] = []
    fields: dict[str, str | Lines] = {}
    if isinstance(found, Missing):
        fields["stability"] = quoted(str(found.reason))
    else:
        lines += memory.stability_functions(found, form, writer)
        names = {"preconditioner": memory.PRECONDITIONER, "shift": memory.SHIFT}
        fields["stability"] = made("Stability", {**names, "free": memory.FREE, "forced": memory.FORCED})
    if isinstance(inside, Missing):
        fields["running_loss"] = quoted(str(inside.reason))
    else:
        lines += memory.running_loss_functions(inside, form, writer)
        names = {"now": memory.NOW, "kept": memory.KEPT, "density": memory.DUAL}
        fields["running_loss"] = made("RunningLoss", names)
    return lines, fields


def higher_order(derivation: Derivation, *, step: str, has_finite: bool, has_limit: bool) -> Lines:
    """The record of a step on flat vectors, with a rate for each entry; ``step`` is the name of the function."""
    known = facts(derivation, has_finite=has_finite, has_limit=has_limit)
    return made("HigherOrder", {**known, "order": str(derivation.order), "step": step})


def facts(derivation: Derivation, *, has_finite: bool, has_limit: bool) -> Fields:
    """What every record has."""
    optimizer = derivation.optimizer
    arguments, functions = spelled_arguments(optimizer, derivation.order)
    names = [quoted(parameter.name) for parameter in optimizer.parameters]
    return {
        "name": quoted(optimizer.name),
        "title": quoted(str(optimizer.title)),
        "declaration": quoted(digest(optimizer, scheduled=False)),
        "parameters": tuple_of(names),
        "arguments": listed(
            [
                f"_runtime.Argument({quoted(each.name)}, {tuple_of(map(quoted, each.parameters))}, {each.default})"
                for each in arguments
            ]
        ),
        "opaque": listed(
            [
                f"_runtime.Opaque({quoted(each.name)}, {tuple_of(map(quoted, each.derivatives))})"
                for each in functions
            ]
        ),
        "check": "_check",
        "has_finite": str(has_finite),
        "has_limit": str(has_limit),
        "is_entrywise": str(derivation.method.is_entrywise),
        "is_of_tensors": str(joins_entries(derivation)),
    }


def _memory(form: GroupForm, *, is_open: bool) -> Lines:
    if not form.memories:
        return ["None"]
    return made(
        "Memory",
        {
            "decays": group.DECAYS,
            "past": group.PAST,
            "past_scalars": _past_scalars(form),
            "is_linear": str(form.is_linear),
            "has_displacements": str(form.has_displacements),
            "corrected": group.CORRECTED,
            "shared": group.SHARED if len(form.memories) > 1 else group.CORRECTED,
            "correction": group.CORRECTION,
            "on_line": "None" if isinstance(form.straight, Missing) else group.LINE,
            "lines": tuple_of(group.lines_of(form)),
            **({"is_smooth": "True"} if not is_open and _is_smooth(form) else {}),
        },
    )


def _is_smooth(form: GroupForm) -> bool:
    """Whether F of a past step is a smooth function of numbers that are formulas of the step."""
    names = {scalar.name for scalar in form.past_scalars}
    rough = {part.roughness for part in rough_parts(form.past, 1) if part.inner.free_symbols & names}
    return bool(form.past_scalars) and not is_stepwise(form.past_scalars) and not rough & {*_BROKEN}


def _past_scalars(form: GroupForm) -> str:
    if not form.past_scalars:
        return "None"
    if is_stepwise(form.past_scalars):
        return f"_runtime.step_by_step({group.PAST_SCALARS})"
    return group.PAST_SCALARS


def running_record(derivation: Derivation, form: RunningForm) -> Lines:
    """The optimizer as it runs; a delay of several steps has a state for each."""
    optimizer = derivation.optimizer
    state = {} if optimizer.torch is None else optimizer.torch.state
    options = {} if optimizer.torch is None else optimizer.torch.options
    own = {*optimizer.defaults, *(() if optimizer.torch is None else optimizer.torch.arguments)}
    pairs = [f"{quoted(name)}: {options.get(name, False)}" for name in OPTIONS if name not in own]
    names = [name for each in form.sums for name in _states(each, state)]
    numbers = tuple(numbers_of_state(optimizer))
    links = [f"_runtime.Link({each.delay}, {each.starts_empty})" for each in form.sums]
    finite, limit = frozen_parameters(derivation)
    return made(
        "Running",
        {
            "states": tuple_of(map(quoted, names)),
            "taken_in": tuple_of(memory.taken_in(each) for each in form.sums),
            "rates": memory.RATES,
            "scalars": memory.RUNNING_SCALARS,
            "update": memory.RUNNING,
            "frozen": tuple_of(map(quoted, finite)),
            "frozen_limit": tuple_of(map(quoted, limit)),
            "options": ["{", *(f"    {pair}," for pair in pairs), "}"],
            **({"chain": listed(links)} if form.is_chain else {}),
            **(
                {"numbers": tuple_of(map(quoted, numbers)), "counted": memory.STATE_NUMBERS}
                if numbers
                else {}
            ),
        },
    )


def _states(each: RunningSum, known: Mapping[str, str]) -> list[str]:
    name = known.get(f"m{each.position}", f"m{each.position}")
    return [name] if each.delay < 2 else [f"{name}_{ago}" for ago in range(1, each.delay + 1)]


def made(record: str, fields: Fields) -> Lines:
    """``_runtime.record(field=value, ...)``, one field a line; a value may be several lines."""
    lines = [f"_runtime.{record}("]
    for name, value in fields.items():
        first, *rest = [value] if isinstance(value, str) else value
        entry = [f"{name}={first}", *rest]
        lines += indented([*entry[:-1], f"{entry[-1]},"])
    return [*lines, ")"]


def listed(entries: Sequence[str]) -> Lines:
    """The source of a tuple, one entry a line."""
    if len(entries) < 2:
        return [tuple_of(entries)]
    return ["(", *(f"    {entry}," for entry in entries), ")"]


def quoted(text: str) -> str:
    """The source of a text; that of JSON is Python's too."""
    return json.dumps(text, ensure_ascii=False)


def assigned(name: str, lines: Lines) -> Lines:
    """``name = value``."""
    first, *rest = lines
    line = f"{name} = {first}"
    assert len(line) <= WIDTH
    return [line, *rest]
