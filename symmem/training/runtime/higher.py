"""Beyond order 1: the derivatives of the loss one after the other, and a step on one flat vector of all parameters."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .evaluation import Evaluation
from .formulas import Function, Group, HigherOrder
from .groups import OF_EVERY_GROUP
from .processes import OneProcess
from .products import check_hooks
from .refusals import check_twice, explained, without_hooks
from .sharding import is_sharded, local
from .step import Resources, check_finite
from .vectors import Closure, Vectors, widened


def higher_step(
    formulas: HigherOrder,
    groups: Sequence[Group],
    closure: Closure,
    resources: Resources,
    *,
    first: bool = False,
) -> Tensor:
    """One update of every group; returns the loss before it.  The ``first`` one looks for hooks inside the model."""
    common = common_group(groups, formulas.order)
    trained = [(p, float(group["lr"])) for group in groups for p in group["params"] if p.requires_grad]
    owned = [p for p, _ in trained]
    if formulas.is_of_tensors and any(map(is_sharded, owned)):
        raise ValueError(
            f"{formulas.name} needs whole tensors, all as one vector, and a parameter is sharded; use replicas"
        )
    check_hooks(owned, resources.hvp)
    closure = without_hooks(closure) if first else closure
    with resources.processes.opened(owned) as points:
        sign = -1 if common["maximize"] else 1
        tower = Tower(closure, points, resources.processes, [local(p) for p in owned], sign)
        if resources.compare is not None:
            resources.compare(owned, tower.split(sign * tower.gradient))
        moved = formulas.step(
            tower.theta,
            tower.gradient,
            *[tower.contraction] * formulas.order,
            *(tower.tensorwise(function) for function in resources.functions),
            *([tower.of_tensor] if formulas.is_of_tensors else []),
            tower.filled([lr for _, lr in trained]),
            None if common["limit"] else common["n"],
            *formulas.values(common),
        )
    if formulas.is_of_tensors:
        check_finite(moved)
    for p, value in zip(owned, tower.split(moved), strict=True):
        if value is not None:
            local(p).copy_(value)
    for group in groups:
        group["n"] += 1
    return tower.loss


def common_group(groups: Sequence[Group], order: int) -> Group:
    """What the groups agree on: beyond order 1 they may differ in lr alone."""
    first, *others = groups
    for name in first.keys() - {"lr", *OF_EVERY_GROUP}:
        if any(group[name] != first[name] for group in others):
            raise ValueError(f"at order {order} the groups may differ in lr alone, not in {name}")
    return first


class Tower(Evaluation):
    """The derivatives of the loss at the parameters, each from the one before.

    Vectors are flat: they hold all parameters on which the loss depends.
    """

    create_graph = True

    def __init__(
        self,
        closure: Closure,
        points: Sequence[Tensor],
        processes: OneProcess,
        owned: Sequence[Tensor],
        sign: int,
    ) -> None:
        super().__init__(closure, points, processes)
        self.loss, self.gradients = processes.joint(self.loss, self.gradients)
        self._local = list(owned)
        self._sign = sign
        check_twice(g for g in self._first if g is not None)
        self._levels: dict[tuple[int, ...], tuple[tuple[Tensor, ...], Vectors]] = {(): ((), self._first)}
        self.theta = self._flat(list(owned))
        self.gradient = sign * self._flat(self.gradients)

    def contraction(self, _theta: Tensor, *vectors: Tensor) -> Tensor:
        """D^(k+1) L [v_1, ..., v_k] at the parameters, which theta stands for."""
        found = self._processes.averaged(self._along(vectors, create_graph=False))
        return self._sign * self._flat(found)

    def filled(self, numbers: Sequence[float]) -> Tensor:
        """The flat vector with a number for each parameter."""
        pairs = zip(self._local, numbers, strict=True)
        return self._flat([torch.full_like(p, x) for p, x in pairs])

    def tensorwise(self, function: Function) -> Function:
        """A function of tensors with the shapes of the parameters, on flat vectors."""

        def flat(*vectors: Tensor) -> Tensor:
            found: Vectors = []
            pieces = zip(*(self.split(vector) for vector in vectors), strict=True)
            for place, each in enumerate(pieces):
                (whole,) = self._processes.functions(place, [function])
                found.append(None if each[0] is None else whole(*each))
            return self._flat(found)

        return flat

    def of_tensor(self, function: Function, vectors: Sequence[Tensor], numbers: Sequence[float]) -> Tensor:
        """A function of each tensor, on flat vectors; a number of a tensor stands in all its entries."""
        found: Vectors = []
        for place, each in enumerate(zip(*map(self.split, vectors), strict=True)):
            try:
                found.append(
                    None if each[0] is None else function(torch, each, numbers).expand(each[0].shape)
                )
            except ValueError as error:
                raise ValueError(
                    f"parameter {place}, shape {tuple(self._local[place].shape)}: {error}"
                ) from error
        return self._flat(found)

    def split(self, vector: Tensor) -> Vectors:
        """A flat vector as tensors like the parameters; None where there is no gradient."""
        pairs = list(zip(self._local, self.gradients, strict=True))
        sizes = [0 if g is None else p.numel() for p, g in pairs]
        pieces = zip(vector.split(sizes), pairs, strict=True)
        return [None if g is None else piece.view_as(p) for piece, (p, g) in pieces]

    def _along(self, vectors: tuple[Tensor, ...], create_graph: bool) -> Vectors:
        """The gradient differentiated along one vector after the other, at the points."""
        key = tuple(id(vector) for vector in vectors)
        if key in self._levels:
            return self._levels[key][1]
        outputs: list[Tensor] = []
        directions: list[Tensor] = []
        ways = self._processes.whole(self.split(vectors[-1]))
        for below, v in zip(self._along(vectors[:-1], True), ways, strict=True):
            if below is not None and v is not None and below.requires_grad:
                outputs.append(below)
                directions.append(v.to(below.dtype))
        found: Vectors = [None] * len(self._points)
        if outputs:
            with torch.enable_grad(), explained():
                found = list(
                    torch.autograd.grad(
                        outputs,
                        self._points,
                        directions,
                        retain_graph=True,
                        create_graph=create_graph,
                        allow_unused=True,
                    )
                )
        if create_graph:
            self._levels[key] = vectors, found  # the vectors stay, and so do their ids
        return found

    def _flat(self, vectors: Vectors) -> Tensor:
        """What the vectors have where there is a gradient; zero in the place of None."""
        pieces = []
        for p, g, x in zip(self._local, self.gradients, vectors, strict=True):
            if g is not None:
                pieces.append(torch.zeros_like(p) if x is None else x.detach())
        return torch.cat([x.reshape(-1) for x in widened(*pieces)])
