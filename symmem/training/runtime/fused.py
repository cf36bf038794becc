"""A step by kernels: those of an emitted Triton module, one launch for all tensors of a type, or of a built library.

The products with the Hessian are made as for every other step, of the directions that the kernels give; one set of
directions serves where all groups have the same n, lr, parameters and history, and always had one rate.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from .formulas import FirstOrder
from .groups import Part, step_of
from .running import RunningPart, running_sums, steps_made
from .sharding import local
from .step import Multiply, Resources, evaluate
from .vectors import Closure, Vectors, entry

Lists = list[list[Tensor]]


class Kernels(ABC):
    """What a step asks of kernels: which functions there are, and calls of them with lists of tensors."""

    @abstractmethod
    def has(self, name: str, n: float) -> bool:
        """Whether a function has kernels at this step."""

    @abstractmethod
    def serves(self, parts: Sequence[Part]) -> bool:
        """Whether the kernels take the tensors of these parts."""

    @abstractmethod
    def arranged(self, sums: Sequence[Tensor]) -> list[Tensor]:
        """The running sums of a tensor, as the kernels take them and as the state keeps them."""

    @abstractmethod
    def call(self, name: str, vectors: Sequence[Any], part: Part, n: float, *more: float) -> Any:
        """A function at step n; ``more`` are lr and strength, as far as it takes them."""


@dataclass(frozen=True)
class Fused(Kernels):
    """An emitted module, and which of its functions have kernels, each as (name, "finite" or "limit")."""

    module: Any
    known: frozenset[tuple[str, str]]

    def has(self, name: str, n: float) -> bool:
        """As the module has them."""
        return (name, "limit" if math.isinf(n) else "finite") in self.known

    def serves(self, parts: Sequence[Part]) -> bool:  # a group on another device was refused
        """All that a group may have."""
        return True

    def arranged(self, sums: Sequence[Tensor]) -> list[Tensor]:
        """Wherever they are."""
        return list(sums)

    def call(self, name: str, vectors: Sequence[Any], part: Part, n: float, *more: float) -> Any:
        """One launch."""
        function = getattr(self.module, name)
        return function(*vectors, **settings_of(function, part, n, *more))


def settings_of(function: Any, part: Part, n: float, *more: float) -> dict[str, Any]:
    """What a function takes by keyword: n, as many of lr and strength as it has, the parameters."""
    return dict(zip(_keywords(function), (step_of(n), *more, *part.values), strict=True))


@cache
def _keywords(function: Any) -> tuple[str, ...]:
    known = signature(function).parameters.values()
    return tuple(each.name for each in known if each.kind is each.KEYWORD_ONLY and each.name != "out")


def are_in_step(parts: Sequence[Part]) -> bool:
    """Whether one set of directions serves all groups."""
    known = {(part.n, part.lr, part.on_line, *part.values) for part in parts}
    return len(known) == 1 and all(part.had_one_rate for part in parts)


def by_type(part: Part) -> Iterator[list[int]]:
    """The places that have a gradient, by what one launch takes."""
    found: dict[Any, list[int]] = {}
    for place, (x, g) in enumerate(zip(part.parameters, part.gradients, strict=True)):
        if g is not None:
            found.setdefault((x.device, x.dtype, g.dtype), []).append(place)
    yield from found.values()


def multiplied(kernels: Kernels, parts: Sequence[Part], product: Multiply) -> list[Vectors]:
    """The products with the directions of all parts, for all their tensors."""
    directions: list[Vectors] = []
    count = parts[-1].span.stop
    for part in parts:
        for places in by_type(part):
            given = [[part.parameters[k] for k in places], gradients(part, places)]
            for position, found in enumerate(kernels.call("direction", given, part, part.n)):
                if position == len(directions):
                    directions.append([None] * count)
                for place, x in zip(places, found, strict=True):
                    directions[position][part.span.start + place] = x
    return [product(each) for each in directions]


def gradients(part: Part, places: Sequence[int]) -> list[Tensor]:
    """Those of some places, which have one."""
    return [g for place in places if (g := part.gradients[place]) is not None]


def products_at(part: Part, products: Sequence[Vectors], places: Sequence[int]) -> Lists:
    """What a launch is given of the products."""
    mine = [part.signed(each[part.span]) for each in products]
    return [[entry(each, place, part.parameters[place]) for place in places] for each in mine]


def evaluated(
    kernels: Kernels,
    parts: Sequence[Part],
    closure: Closure,
    resources: Resources,
    *,
    corrects: bool,
    first: bool = False,
) -> tuple[Tensor, list[Vectors]]:
    """The loss; the parts get their gradients; the products with the directions where ``corrects``."""
    products: list[Vectors] = []

    def multiply(product: Multiply) -> None:
        products.extend(multiplied(kernels, parts, product))

    loss = evaluate(parts, [], closure, resources, first=first, further=multiply if corrects else None)
    return loss, products


def can_step(kernels: Kernels, formulas: FirstOrder, parts: Sequence[Part]) -> bool:
    """Whether the kernels have the step without memory of all parts."""
    wanted = {"straight" if part.on_line and formulas.memory is not None else "step" for part in parts}
    served = are_in_step(parts) or formulas.memory is None
    known = all(kernels.has(name, part.n) for part in parts for name in (*wanted, "direction"))
    return served and known and kernels.serves(parts)


def fused_step(
    kernels: Kernels, parts: Sequence[Part], closure: Closure, resources: Resources, *, first: bool
) -> Tensor:
    """One update without memory of all groups; returns the loss before it."""
    remembers = parts[0].formulas.memory is not None
    loss, products = evaluated(kernels, parts, closure, resources, corrects=remembers, first=first)
    for part in parts:
        for places in by_type(part):
            thetas = [part.parameters[place] for place in places]
            given = [thetas, gradients(part, places), products_at(part, products, places)]
            if part.on_line and remembers:
                torch._foreach_sub_(
                    thetas, kernels.call("straight", given, part, part.n, part.lr), alpha=part.lr
                )
            else:
                kernels.call("step", given, part, part.n, part.lr)
    return loss


def update_of(part: RunningPart, factor: float) -> str:
    """The function that makes the step with memory of a part, with its correction this many times in it."""
    if factor == 0:
        return "update"
    return "straight_update" if part.on_line else "corrected_update"


def can_run(kernels: Kernels, parts: Sequence[RunningPart], factors: Sequence[float]) -> bool:
    """Whether the kernels have the step with memory of all parts: a target and the limit of M are not in them."""
    corrected = any(factors)
    counted = not any(math.isinf(part.made) for part in parts)
    plain = not any(part.group["target"] or part.group["limit"] for part in parts)
    names = {update_of(part, factor) for part, factor in zip(parts, factors, strict=True)}
    served = all(kernels.has(name, 0) for name in names) and kernels.serves(parts)
    aimed = plain and are_in_step(parts) and kernels.has("direction", 0)
    return counted and served and (not corrected or aimed)


def run_fused(
    kernels: Kernels,
    part: RunningPart,
    factor: float,
    products: Sequence[Vectors],
    state: Any,
) -> None:
    """The step with memory of a part, in place; a tensor without a state gets one."""
    names = part.formulas.running.states
    for places in by_type(part):
        thetas = [part.parameters[place] for place in places]
        entries = [state[part.owned[place]] for place in places]
        sums = []
        for place, entry_of in zip(places, entries, strict=True):
            mine = kernels.arranged(running_sums(entry_of, part.owned[place], part.formulas))
            entry_of.update(zip(names, mine, strict=True))
            sums.append([local(x) for x in mine])
        given = [thetas, gradients(part, places), [*zip(*sums, strict=True)]]
        if factor == 0:
            kernels.call("update", given, part, part.made, part.lr)
        else:
            given.append(products_at(part, products, places))
            kernels.call(update_of(part, factor), given, part, part.made, part.lr, factor)
        for entry_of, step in zip(entries, steps_made(part, entries), strict=True):
            entry_of["step"] = step
