"""The optimizer class of the PyTorch module: what varies between optimizers, as text for its templates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sympy import Expr, Symbol

from symmem.algebra.atoms import GRAD, LR, STEP, THETA
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.groups import GroupForm, StepScalar, group_form
from symmem.emission.blocks import Block, Names
from symmem.emission.decimals import decimal
from symmem.emission.program import Routine
from symmem.emission.python_code import INDENT, PythonWriter, signature

STEP_SCALARS = "_step_scalars"


def class_values(optimizer: Optimizer, writer: PythonWriter) -> dict[str, object]:
    """The values that the templates of the class take; the writer remembers their kernels."""
    form = group_form(optimizer)
    return {
        "arguments": _arguments(optimizer),
        "decays": len(form.memories),
        "is_linear": form.is_linear,
        "past_scalars": [scalar.name.name for scalar in form.past_scalars],
        "has_ways": form.has_ways,
        "has_limit": all(scalar.limit is not None for scalar in (*form.scalars, *form.past_scalars)),
        "group_functions": _Functions(optimizer, form, writer).lines(),
    }


def _arguments(optimizer: Optimizer) -> list[dict[str, str]]:
    """The arguments as PyTorch spells them, in its order; then the parameters that it does not name."""
    spelled = {} if optimizer.torch is None else optimizer.torch.arguments
    named = [name for value in spelled.values() for name in ((value,) if isinstance(value, str) else value)]
    plain = {name: name for name in optimizer.defaults if name not in named}
    found = []
    for name, value in {**spelled, **plain}.items():
        if isinstance(value, str):
            kind, default = "float", decimal(optimizer.defaults[value])
        else:
            kind = f"tuple[{', '.join(['float'] * len(value))}]"
            default = f"({', '.join(decimal(optimizer.defaults[each]) for each in value)})"
        found.append({"name": name, "type": kind, "default": default})
    return found


class _Functions:
    """The functions that the class calls for one group and one tensor."""

    def __init__(self, optimizer: Optimizer, form: GroupForm, writer: PythonWriter) -> None:
        self._optimizer = optimizer
        self._form = form
        self._writer = writer
        self._parameters = [parameter.name for parameter in optimizer.parameters]
        self._vectors = {}
        for position, memory in enumerate(form.memories, start=1):
            self._vectors[memory.product] = Symbol(f"hv{position}")
        if form.has_ways:
            for position, memory in enumerate(form.memories, start=1):
                self._vectors[memory.way] = Symbol(f"way{position}")

    def lines(self) -> list[list[str]]:
        form = self._form
        scalars = [scalar.name.name for scalar in form.scalars]
        past = [scalar.name.name for scalar in form.past_scalars]
        found = [
            self._values(),
            self._scalars(STEP_SCALARS, form.scalars, ranges=False),
            self._entrywise("plain", ["lr", *scalars], THETA - LR * form.memoryless),
        ]
        if not form.memories:
            return found
        vectors = [symbol.name for symbol in self._vectors.values()]
        scales = [memory.scale.name for memory in form.memories]
        update = THETA - LR * (form.memoryless + form.correction)
        return [
            *found,
            self._entrywise("corrected", [*vectors, *scales, "lr", *scalars], update),
            self._entrywise("past", [*past, "lr"], LR * form.past),
            *([self._scalars("_past_scalars", form.past_scalars, ranges=True)] if past else []),
            self._decays(),
        ]

    def _values(self) -> list[str]:
        """The parameters of a group, in the order of the declaration."""
        spelled = {} if self._optimizer.torch is None else self._optimizer.torch.arguments
        entries = {name: f'group["{name}"]' for name in self._parameters}
        for name, value in spelled.items():
            if isinstance(value, str):
                entries[value] = f'group["{name}"]'
            else:
                entries |= {each: f'group["{name}"][{place}]' for place, each in enumerate(value)}
        return [
            "def _group_values(group: dict[str, Any]) -> list[float]:",
            *_returned([f"float({entry})" for entry in entries.values()]),
        ]

    def _decays(self) -> list[str]:
        sources = [self._writer.number(memory.decay) for memory in self._form.memories]
        return [*signature("_group_decays", self._parameters), *_returned(sources)]

    def _scalars(self, name: str, scalars: Sequence[StepScalar], *, ranges: bool) -> list[str]:
        """A function of n and the parameters: the numbers at step n, or their limits where n is None."""
        lines = signature(name, [STEP.name, *self._parameters])
        if not scalars:
            return [*lines, *_returned([])]
        names = [scalar.name.name for scalar in scalars]
        limits = [(scalar.name, scalar.limit) for scalar in scalars if scalar.limit is not None]
        if len(limits) == len(scalars):
            body = [*self._writer.numbers(limits), *_return_names(names)]
        else:
            body = ['raise ValueError("the coefficients have no limit")']
        lines += [f"{INDENT}if n is None:", *(INDENT * 2 + line for line in body)]
        finite = [(scalar.name, scalar.at_step) for scalar in scalars]
        write = self._writer.ranges if ranges else self._writer.numbers
        return [*lines, *(INDENT + line for line in (*write(finite), *_return_names(names)))]

    def _entrywise(self, role: str, arguments: Sequence[str], expression: Expr) -> list[str]:
        """A function of tensors: theta, g, the opaque functions, the arguments, the parameters."""
        calls = [name for f in self._optimizer.functions for name in (f.name, f"{f.name}_jvp")]
        head = ["theta", "g", *calls, *arguments, *self._parameters, "out=None"]
        names = Names(frozenset((*self._parameters, *arguments)), {THETA, GRAD, *self._vectors.values()})
        block = Block(names)
        result = block.finish(expression.xreplace(self._vectors))
        body = self._writer.routine(Routine(block.statements(), result), role, out=True)
        return [*signature(f"_group_{role}", head), *(INDENT + line for line in body)]


def _returned(entries: Sequence[str]) -> list[str]:
    line = f"{INDENT}return [{', '.join(entries)}]"
    if len(line) <= 88:
        return [line]
    return [f"{INDENT}return [", *(f"{INDENT * 2}{entry}," for entry in entries), f"{INDENT}]"]


def _return_names(names: Iterable[str]) -> list[str]:
    return [f"return [{', '.join(names)}]"]
