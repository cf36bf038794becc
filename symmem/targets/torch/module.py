"""The PyTorch target: functions of tensors, differentiable where their arguments are, and an optimizer class.

The class is for one process; :mod:`.with_runtime` writes the module that stands on the whole runtime.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symmem.derivation.derivation import Derivation
from symmem.derivation.groups.parameter_groups import GroupForm, group_form
from symmem.documents.parts import Part
from symmem.program.lowering import lower
from symmem.program.needs import Need
from symmem.program.noise import with_noise
from symmem.targets.python.layout import INDENT, WIDTH, signature
from symmem.targets.python.module import CHECKS, MATRICES, NOISE, PythonTarget, python_module
from symmem.targets.torch.arguments import Spelled, SpelledFunction, spelled_arguments, tuple_of
from symmem.targets.torch.formulas import has_line, higher_step, imports_math, tensor_writer
from symmem.targets.torch.functions import FunctionWriter, Lines
from symmem.targets.torch.group_functions import CORRECTED, LINE, GroupFunctions, lines_of
from symmem.targets.torch.inlining import InliningWriter
from symmem.targets.torch.line_record import line_of
from symmem.targets.torch.pieces import HELPERS, ROWS, definitions, more_helpers, renamed
from symmem.targets.torch.record import by_groups, check_scope, joins_entries

TARGET = PythonTarget(
    "torch/module.py.jinja",
    has_out=True,
    helpers=(CHECKS, HELPERS, MATRICES, ROWS, NOISE),
    told=(Part.ITERATION,),
)
FIRST_ORDER = (
    "Groups may differ in everything; each counts its updates n and keeps its past rates.",
    '``hvp``: "double-backward", "central-difference" or a function. More: symmem.training.',
)
HIGHER_ORDER = (
    "The groups may differ in lr alone, and the present lr stands for that of past steps.",
    "``limit=True`` takes the coefficients of n -> infinity; else n counts the updates.",
)
EXPANSION = (
    "This is the expansion in lr, which divides by small gradients: with a small eps it can diverge.",
    "The straight-line history, where there is one, is in symmem.training, or comes with --runtime.",
)
"""At order 1, where all tensors are taken as one vector: cascades, delays, numbers of the model."""


@dataclass(frozen=True)
class EmittedClass:
    """The class of a module: what it stands on, its formulas, and what these need."""

    base: str
    notes: Sequence[str]
    aliases: Sequence[str]
    before: Sequence[str]
    after: Sequence[str]
    needs: frozenset[Need]


def torch_module(derivation: Derivation, *, minibatch: bool = False) -> str:
    """The PyTorch module of a derivation; ``minibatch``: with the functions of the noise of batches."""
    check_scope(derivation, on_a_line=lambda: "" if line_of(derivation) is None else "--runtime")
    program = with_noise(lower(derivation), derivation) if minibatch else lower(derivation)
    writer = tensor_writer(program)
    found = _first(derivation, writer) if by_groups(derivation) else _higher(derivation, writer)
    arguments, functions = spelled_arguments(derivation.optimizer, derivation.order)
    needs = found.needs | program.needs()
    along = definitions("derivatives", "_Along") if functions else []
    values = {
        "base": found.base,
        "has_history": by_groups(derivation),
        "constructor": _constructor(derivation, arguments, functions),
        "notes": found.notes,
        "names": found.aliases,
        "before": found.before,
        "after": [*more_helpers(needs, program.needs()), *along, *found.after],
        "imports_math": by_groups(derivation) or imports_math(needs, writer.scope),
        "arguments": arguments,
        "open_functions": functions,
        "settings": settings(arguments),
        "given_functions": given_functions(functions),
    }
    return python_module(derivation, program, TARGET, writer, values)


def _constructor(
    derivation: Derivation, arguments: Sequence[Spelled], functions: Sequence[SpelledFunction]
) -> Lines:
    """The head of the constructor."""
    head = ["self", "params: Any", "lr: float = 1e-3"]
    head += [f"{each.name}: {each.type} = {each.default}" for each in arguments]
    head.append("*")
    for function in functions:
        head.append(f"{function.name}: Callable[..., Tensor]")
        head += [f"{name}: Callable[..., Tensor] | None = None" for name in function.derivatives]
    head += ["maximize: bool = False", "limit: bool = False"]
    if by_groups(derivation):
        head.append(f'history: str = "{"straight" if has_line(derivation) else "expansion"}"')
    head.append('hvp: Any = "double-backward"')
    return signature("__init__", head, "None", depth=1)


def settings(arguments: Sequence[Spelled]) -> Lines:
    """The arguments of a constructor as a dictionary."""
    entries = [f'"{name}": {name}' for name in ("lr", *(each.name for each in arguments))]
    line = f"{{{', '.join(entries)}}}"
    if len(line) <= WIDTH - 2 * len(INDENT) - len("arguments = "):
        return [line]
    return ["{", *(f"{INDENT}{entry}," for entry in entries), "}"]


def given_functions(functions: Sequence[SpelledFunction]) -> list[str]:
    """The opaque functions, each with its derivatives; torch makes those that are not given."""
    found = []
    for each in functions:
        found.append(each.name)
        derivatives = enumerate(each.derivatives, start=1)
        found += [f"{name} or _Along({each.name}, {times})" for times, name in derivatives]
    return found


def _first(derivation: Derivation, writer: InliningWriter) -> EmittedClass:
    form = group_form(derivation.method)
    functions = FunctionWriter(derivation.method, writer)
    lines = [_values(derivation), *GroupFunctions(form, functions).alone()]
    updates = [f'"straight": {LINE}'] if has_line(derivation) else []
    updates += [f'"expansion": {CORRECTED}']
    table = _table(form)
    listed = definitions("tables", "_listed") if table == "_settling" else []
    return EmittedClass(
        base="_Memoryless",
        notes=FIRST_ORDER,
        aliases=[
            *definitions("derivatives", "_Tensors"),
            *definitions("first_order", "_Group", "_Row"),
            f"_HAS_PATHS, _LINES = {form.has_displacements}, {tuple_of(lines_of(form))}",
        ],
        before=definitions("first_order", "_Memoryless"),
        after=[
            *("\n".join(each) for each in lines),
            f"_UPDATES = {{{', '.join(updates)}}}",
            *definitions("first_order", "_numbers", "_count", "_planned", "_factor", "_remembered"),
            *definitions("first_order", "_widened"),
            *listed,
            renamed("tables", table, "_table"),
            *definitions("derivatives", "_derivatives", "_backward_again", "_difference"),
        ],
        needs=frozenset(functions.needs),
    )


def _table(form: GroupForm) -> str:
    """How the past steps of a group are listed."""
    if not form.past_scalars:
        return "_constant"
    if form.is_linear:
        return "_linear"
    settles = all(scalar.limit is not None for scalar in (*form.scalars, *form.past_scalars))
    return "_settling" if settles else "_listed"


def _higher(derivation: Derivation, writer: InliningWriter) -> EmittedClass:
    step = higher_step(derivation, writer)
    return EmittedClass(
        base="_HigherMemoryless",
        notes=HIGHER_ORDER if derivation.order > 1 else (*HIGHER_ORDER, *EXPANSION),
        aliases=[
            *definitions("derivatives", "_Hvp"),
            f"_ORDER, _JOINS = {derivation.order}, {joins_entries(derivation)}",
            f"_HAS_FINITE, _HAS_LIMIT = {step.has_finite}, {step.has_limit}",
        ],
        before=definitions("higher_order", "_HigherMemoryless"),
        after=[
            "\n".join(_values(derivation)),
            "\n".join(step.function),
            *definitions("higher_order", "_tensorwise", "_each_tensor", "_flat"),
        ],
        needs=step.needs,
    )


def _values(derivation: Derivation) -> Lines:
    """The parameters of a group, in the order of the declaration."""
    arguments, _ = spelled_arguments(derivation.optimizer, derivation.order)
    names = [name for each in arguments for name in each.parameters]
    declared = [parameter.name for parameter in derivation.optimizer.parameters]
    head = "def _values(group: dict[str, Any]) -> list[float]:"
    entries = [f'{"*" if each.is_tuple else ""}group["{each.name}"]' for each in arguments]
    if names != declared:
        places = {
            name: f'group["{each.name}"][{place}]' if each.is_tuple else f'group["{each.name}"]'
            for each in arguments
            for place, name in enumerate(each.parameters)
        }
        entries = [places[name] for name in declared]
    line = f"{INDENT}return [float(x) for x in ({', '.join(entries)},)]"
    if len(entries) > 1:
        line = f"{INDENT}return [float(x) for x in ({', '.join(entries)})]"
    if len(line) <= WIDTH or not entries:
        return [head, line if entries else f"{INDENT}return []"]
    lines = [f"{INDENT}values = [", *(f"{INDENT * 2}{entry}," for entry in entries), f"{INDENT}]"]
    return [head, *lines, f"{INDENT}return [float(x) for x in values]"]
