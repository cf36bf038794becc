"""The optimizer with its memory, in the PyTorch module: what varies between optimizers, as text for its templates."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr

from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation
from symmem.derivation.group_regulariser import Regulariser, regulariser
from symmem.derivation.parameter_groups import GroupForm, group_form
from symmem.derivation.running import RunningForm, RunningSum, frozen_parameters, running_form
from symmem.program.lowering import vector_routine
from symmem.targets.python.layout import INDENT, signature
from symmem.targets.python.writer import PythonWriter
from symmem.targets.torch.group_functions import GroupFunctions, returned

_OPTIONS = (
    "amsgrad",
    "centered",
    "dampening",
    "decoupled_weight_decay",
    "momentum",
    "nesterov",
    "weight_decay",
)
"""Options of PyTorch's optimizers that change the update."""


def memory_values(derivation: Derivation, writer: PythonWriter) -> dict[str, object]:
    """The values that the templates of the optimizer with memory take; there is none beyond order 1."""
    optimizer, method = derivation.optimizer, derivation.method
    if derivation.order > 1:
        return {"memory_functions": []}
    form, running, implicit = group_form(method), running_form(method), regulariser(method)
    finite, limit = frozen_parameters(derivation)
    spelled = {} if optimizer.torch is None else optimizer.torch.state
    options = {} if optimizer.torch is None else optimizer.torch.options
    own = {*optimizer.defaults, *(() if optimizer.torch is None else optimizer.torch.arguments)}
    return {
        "memory_functions": _Lines(optimizer, form, writer).all(running, implicit),
        "states": [spelled.get(f"m{each.position}", f"m{each.position}") for each in running.sums],
        "frozen_finite": list(finite),
        "frozen_limit": list(limit),
        "has_regulariser": implicit is not None,
        "has_own": implicit is not None and implicit.loss_share != 0,
        "torch_options": {name: options.get(name, False) for name in _OPTIONS if name not in own},
    }


class _Lines:
    """The functions that the optimizer with memory and the probe call for one group and one tensor."""

    def __init__(self, optimizer: Optimizer, form: GroupForm, writer: PythonWriter) -> None:
        self._functions = GroupFunctions(optimizer, form, writer)
        self._form = form
        self._writer = writer
        self._parameters = [parameter.name for parameter in optimizer.parameters]

    def all(self, running: RunningForm, implicit: Regulariser | None) -> list[list[str]]:
        names = [self._writer.scope.name(scalar.name) for scalar in running.scalars]
        sums = [each.value for each in running.sums]
        found = [
            self._functions.scalars("_running_scalars", running.scalars, ranges=False),
            self._rates(running),
            *(self._taken_in(each) for each in running.sums),
            [f"_TAKE_IN = [{', '.join(f'_take_in{each.position}' for each in running.sums)}]"],
            self._functions.entrywise(
                "running", [*(self._writer.scope.name(value) for value in sums), *names], running.update, sums
            ),
        ]
        if self._form.memories:
            found.append(self._functions.correction())
        if implicit is not None:
            scalars = [self._writer.scope.name(scalar.name) for scalar in self._form.scalars]
            past = [self._writer.scope.name(scalar.name) for scalar in self._form.past_scalars]
            found += [
                self._numbers("_regulariser_strengths", scalars, implicit.strengths),
                self._numbers("_regulariser_own", past, [implicit.loss_share]),
                self._density(past, implicit.density),
            ]
        return found

    def _rates(self, running: RunningForm) -> list[str]:
        number = self._writer.number
        pairs = [f"({number(each.decay)}, {number(each.unit)})" for each in running.sums]
        return [*signature("_running_rates", self._parameters), *returned(pairs)]

    def _taken_in(self, running: RunningSum) -> list[str]:
        """A function that brings a running sum up to date, by its rates."""
        name = f"_take_in{running.position}"
        head = signature(name, ["out", "rates", "theta", "g", *self._functions.calls, *self._parameters])
        made = vector_routine(running.g)
        body = self._writer.accumulated(made, "seen", "_take_in", ("out", "rates"))
        return [*head, *(INDENT + line for line in body)]

    def _numbers(self, name: str, scalars: Sequence[str], values: Sequence[Expr]) -> list[str]:
        head = signature(name, [*scalars, *self._parameters])
        return [*head, *returned([self._writer.number(value) for value in values])]

    def _density(self, past: Sequence[str], density: Expr) -> list[str]:
        body = self._writer.routine(vector_routine(density), "density")
        head = signature("_group_density", ["theta", "g", *past, *self._parameters])
        return [*head, *(INDENT + line for line in body)]
