"""The optimizer with its memory as it runs: parameters by the updates that they made, and their running sums."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from .chains import push, run_chain, take_in
from .formulas import FirstOrder, Function, Group
from .groups import Part, step_of
from .rates import records_of
from .vectors import Target, accumulate, blocks

State = Mapping[Tensor, dict[str, Any]]


class RunningPart(Part):
    """Parameters of a group that have made the same number of updates.

    ``made`` is this number; infinite where the state does not count the updates.  ``target`` gives parameters other
    values than those of the group.
    """

    keeps_state = True

    def __init__(
        self,
        formulas: FirstOrder,
        group: Group,
        parameters: Sequence[Any],
        made: float,
        target: Mapping[str, float] | None = None,
        *,
        place: int = 0,
    ) -> None:
        super().__init__(formulas, group, place)
        self.owned = list(parameters)
        self.made = made
        self.target = dict(target or {})

    @property
    def n(self) -> float:
        """The step that the optimizer makes next, from 0 on; infinity in the limit form."""
        return math.inf if self.group.get("limit", False) else self.made

    @cached_property
    def values(self) -> list[float]:
        """The parameters of the memory that is wanted: those of the group, but for its target."""
        pairs = zip(self.formulas.parameters, self.formulas.values(self.group), strict=True)
        return [float(self.target.get(name, value)) for name, value in pairs]

    @cached_property
    def running_numbers(self) -> tuple[float, ...]:
        """The numbers of the update from the running sums, once in a step: those of the step, then the parameters."""
        return (*self.formulas.running.scalars(step_of(self.made), *self.values), *self.values)

    def aimed(self, target: Mapping[str, float]) -> RunningPart:
        """The same parameters with the values of a target, to receive what those would remember."""
        found = RunningPart(self.formulas, self.group, self.owned, self.made, target, place=self.place)
        found.span, found.members = self.span, self.members
        return found


def running_parts(
    formulas: FirstOrder, groups: Sequence[Group], state: State, *, trained: bool = True
) -> list[RunningPart]:
    """The parameters that are trained, or those that are not: by group, updates made, and in which steps."""
    parts: list[RunningPart] = []
    start = 0
    for index, group in enumerate(groups):
        alike: dict[tuple[float, int], list[int]] = {}
        records = records_of(group)
        for member, p in enumerate(group["params"]):
            if p.requires_grad == trained:
                made = _updates_made(state.get(p, {}), formulas)
                alike.setdefault((made, records.get(member, 0)), []).append(member)
        for (made, _), members in alike.items():
            part = RunningPart(formulas, group, [group["params"][k] for k in members], made, place=index)
            part.span, part.members = slice(start, start + len(members)), members
            start = part.span.stop
            parts.append(part)
    return parts


def _updates_made(entry: Mapping[str, Any], formulas: FirstOrder) -> float:
    if "step" in entry:
        made = float(entry["step"])
        return made if math.isinf(made) else round(made)
    # PyTorch's SGD does not count: what has a buffer is taken to be many updates old.
    return math.inf if any(entry.get(name) is not None for name in formulas.running.states) else 0


def steps_made(part: RunningPart, entries: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
    """The numbers of updates of some tensors, with this one, from their states."""
    steps = [entry["step"] if "step" in entry else torch.tensor(float(part.made)) for entry in entries]
    if all(isinstance(step, Tensor) for step in steps):
        return torch._foreach_add(steps, 1)
    return [step + 1 for step in steps]


def running_sums(entry: Mapping[str, Any], like: Tensor, formulas: FirstOrder) -> list[Tensor]:
    """The sums in the state of a parameter, or zeros."""
    found = [entry.get(name) for name in formulas.running.states]
    return [torch.zeros_like(like) if x is None else x for x in found]


def shaped_sums(sums: Sequence[Tensor], part: RunningPart, place: int, gradient: Tensor) -> list[Tensor]:
    """The sums, zeros in the shape of what they take in where that is a matrix of another shape than theta."""
    if not part.formulas.is_of_tensors or part.formulas.running.chain:  # a chain keeps tensors like theta
        return list(sums)
    found = []
    for x, taken_in in zip(sums, part.formulas.running.taken_in, strict=True):
        value = taken_in(part.parameters[place], gradient, *part.functions[place], *part.values)
        other = isinstance(value, Tensor) and value.ndim > 0 and value.shape != x.shape
        found.append(torch.zeros_like(value) if other else x)
    return found


@dataclass(frozen=True)
class Place:
    """A bunch of tensors in a step: point and gradient in the type to compute in, and the opaque functions for it."""

    bunch: Sequence[int]
    theta: Tensor
    g: Tensor
    functions: list[Any]


@dataclass(frozen=True)
class Term:
    """``factor * formula(theta, g, *vectors, *given)``: what a step adds to Phi."""

    factor: float
    formula: Function
    vectors: list[Tensor]
    given: tuple[Any, ...]

    def added_to(self, out: Tensor, at: Place, *, is_entrywise: bool) -> None:
        """The same into a tensor, block by block."""
        vectors = (at.theta, at.g, *self.vectors)
        target = Target(out, self.factor)
        accumulate(target, self.formula, vectors, self.given, is_entrywise=is_entrywise)


def run(
    part: RunningPart, at: Place, sums: Sequence[Tensor], out: Tensor, factor: float, *terms: Term
) -> None:
    """The sums take in the gradient; ``out += factor * (Phi + terms)``, in one pass of blocks; out may be theta."""
    formulas, values = part.formulas, part.values
    running = formulas.running
    numbers = part.running_numbers
    rates = running.rates(*values)
    tensors = (at.theta, at.g, out, *sums, *(x for term in terms for x in term.vectors))
    for theta, g, target, *block in blocks(*tensors, is_entrywise=formulas.is_entrywise):
        mine, vectors = block[: len(sums)], block[len(sums) :]
        newest: list[Tensor] = []
        if running.chain:
            point, given = (theta, g, *mine), (*at.functions, *numbers)
            update, newest = run_chain(running, point, given, rates, is_first=part.made == 0)
        else:
            for x, (decay, unit), taken_in in zip(mine, rates, running.taken_in, strict=True):
                take_in(x, decay, unit, taken_in(theta, g, *at.functions, *values))
            update = running.update(theta, g, *mine, *at.functions, *numbers)
        target.add_(_with_terms(update, terms, (theta, g), vectors), alpha=factor)
        push(mine, running.chain, newest)


def _with_terms(
    update: Tensor, terms: Sequence[Term], point: tuple[Tensor, Tensor], vectors: list[Tensor]
) -> Tensor:
    """The sum in a tensor of its own: an update may be one of the running sums."""
    total = update
    for term in terms:
        mine, vectors = vectors[: len(term.vectors)], vectors[len(term.vectors) :]
        value = term.formula(*point, *mine, *term.given)
        add = total.add if total is update else total.add_
        total = add(value, alpha=term.factor)
    return total


def correction_terms(part: RunningPart, at: Place, factor: float) -> list[Term]:
    """``factor * M``, or ``factor * (F_straight - F)``, from what the part remembers; none where that is nothing."""
    memory = part.formulas.memory
    if memory is not None and part.on_line and memory.on_line is not None:
        return line_terms(part, at, factor)
    return expansion_terms(part, at, factor)


def expansion_terms(part: RunningPart, at: Place, factor: float) -> list[Term]:
    """factor * M."""
    memory = part.formulas.memory
    if memory is None or not part.memories:
        return []
    scales = [each.scale for each in part.memories]
    given = (*at.functions, *scales, *part.scalars, *part.values)
    return [Term(factor, memory.correction, part.remembered_at(at.bunch), given)]


def line_terms(part: RunningPart, at: Place, factor: float) -> list[Term]:
    """factor * (F_straight - F); nothing where there is no straight line."""
    memory = part.formulas.memory
    if memory is None or memory.on_line is None or not part.memories:
        return []
    scales = [each.scale for each in part.memories]
    numbers = (*part.scalars, *part.values)
    given = (*at.functions, *scales, *part.line_numbers, *numbers)
    return [
        Term(factor, memory.on_line, part.remembered_at(at.bunch), given),
        Term(-factor, part.formulas.plain, [], (*at.functions, *numbers)),
    ]


def check_torch_options(group: Group, formulas: FirstOrder) -> None:
    """Refuses the groups of an optimizer of PyTorch's that does something else."""
    for name, value in formulas.running.options.items():
        if name in group and bool(group[name]) != value:
            raise ValueError(f"a group with {name} = {group[name]!r} is not that of {formulas.title}")
    missing = ", ".join(argument.name for argument in formulas.arguments if argument.name not in group)
    if missing:
        raise ValueError(f"a group of another optimizer: it has no {missing}")
