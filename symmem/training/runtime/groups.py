"""A parameter group in one step: what it has, and what it remembers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import Tensor

from .formulas import FirstOrder, Group
from .lines import line_numbers
from .rates import unit_of
from .sharding import local
from .vectors import Vectors, entry, joined, widened

OF_EVERY_GROUP = (
    *("params", "param_names", "name", "_rates", "foreach", "fused"),
    *("initial_lr", "max_lr", "min_lr", "swa_lr", "base_momentum", "max_momentum"),
    *("lr_scale", "group_name", "names"),
)
"""Keys of a group beside the arguments: what PyTorch and a run here leave in it, what schedulers do, and what training
frameworks write there to find a group again.  No formula reads them; another key may be an argument with a slip in it.
"""
Share = tuple[int, float] | None
"""Which product, and its factor; None where nothing is remembered."""


@dataclass(frozen=True)
class Product:
    """The Hessian times a displacement, and the displacement where a formula needs it."""

    vectors: Vectors
    displacement: Vectors


@dataclass(frozen=True)
class Remembered:
    """What a group has of a product: Hessian * (scale * displacement) = scale * product."""

    row: int
    product: Vectors
    displacement: Vectors
    scale: float


class Part:
    """A parameter group in one step; gradients and memories come in as the step goes on."""

    keeps_state = False
    """Whether its tensors have a state: that of a sharded one would be in shards."""

    def __init__(self, formulas: FirstOrder, group: Group, place: int = 0) -> None:
        self.formulas = formulas
        self.group = group
        self.place = place
        self.target: dict[str, float] = {}
        self.owned: list[Any] = [p for p in group["params"] if p.requires_grad]
        self.parameters: list[Tensor] = []
        self.functions: list[list[Any]] = []
        self.span = slice(0)
        self.members = [0]
        self.gradients: Vectors = []
        self.memories: list[Remembered] = []

    @cached_property
    def lr(self) -> float:
        """The learning rate of the group now."""
        return float(self.group["lr"])

    @cached_property
    def unit(self) -> float:
        """The rate in which the past rates of the group are counted."""
        return unit_of(self.group, self.member)

    @property
    def member(self) -> int:
        """A parameter by its place in the group, whose past rates are those of the part."""
        return self.members[0]

    @property
    def had_one_rate(self) -> bool:
        """Whether its rate has never changed."""
        return (self.group.get("_rates") or [self.lr]) == [self.lr]

    @cached_property
    def decays(self) -> list[float]:
        """Those of its memories, by which its past rates count; a line has the last rate alone."""
        memory = self.formulas.memory
        return [] if memory is None or memory.is_one_line else list(memory.decays(*self.values))

    @property
    def n(self) -> float:
        """The updates that it has made; infinite where the limit form is asked for."""
        return math.inf if self.group["limit"] else float(self.group["n"])

    @cached_property
    def values(self) -> list[float]:
        """The parameters of the formulas in the group now, in their order."""
        return self.formulas.values(self.group)

    @cached_property
    def scalars(self) -> list[float]:
        """The numbers of F and M that depend on the step."""
        return list(self.formulas.scalars(step_of(self.n), *self.values))

    @cached_property
    def on_line(self) -> bool:
        """Whether the group takes the straight-line history."""
        return bool(self.group.get("history") == "straight")

    @cached_property
    def line_numbers(self) -> list[float]:
        """The numbers of its memories as straight lines, one memory after the other."""
        memory = self.formulas.memory
        assert memory is not None
        if memory.is_one_line:
            return []
        pairs = zip(memory.decays(*self.values), memory.lines, strict=True)
        return [
            x for decay, (power, summed) in pairs for x in line_numbers(decay, self.n, power, summed=summed)
        ]

    def signed(self, vectors: Vectors) -> Vectors:
        """Derivatives of the loss as derivatives of what the group minimises."""
        if not self.group["maximize"]:
            return vectors
        return [None if x is None else x.neg() for x in vectors]

    def remember(self, products: Sequence[Product], shares: Sequence[Share]) -> None:
        """Takes its shares of the products; no memories where all shares are None."""
        for share in shares if any(shares) else []:
            if share is None:
                self.memories.append(Remembered(-1, [], [], 0.0))
            else:
                row, scale = share
                product = self.signed(products[row].vectors[self.span])
                displacement = products[row].displacement[self.span]
                self.memories.append(Remembered(row, product, displacement, scale))

    def remembered_at(self, bunch: Sequence[int], *, shared: bool = False) -> list[Tensor]:
        """The products, then the displacements, of a bunch; of the first memory alone where all share it."""
        memories = self.memories[:1] if shared else self.memories
        found = [memory.product for memory in memories]
        if self.formulas.memory is not None and self.formulas.memory.has_displacements:
            found += [memory.displacement for memory in memories]
        rows = ([entry(each, place, local(self.owned[place])) for place in bunch] for each in found)
        return widened(*map(joined, rows))


def step_of(n: float) -> int | None:
    """n as the formulas take it: None is the limit."""
    return None if math.isinf(n) else int(n)
