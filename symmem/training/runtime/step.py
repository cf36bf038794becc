"""One step of all groups: gradients, displacements, products with the Hessian, and the update of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .bunches import bunches, gradient_of, separated, write
from .clipping import Clipped
from .formulas import Function
from .groups import Part, Product
from .processes import OneProcess
from .products import Hvp, check_hooks, evaluation_by, is_difference
from .refusals import without_autocast, without_hooks
from .remembered import Row, Table, planned
from .sharding import OnShard, is_sharded, local
from .vectors import Closure, Target, Vectors, accumulate, joined, widened

Multiply = Callable[[Vectors], Vectors]
"""The Hessian times a vector."""


@dataclass(frozen=True)
class Resources:
    """With what derivatives are found."""

    hvp: Hvp
    functions: list[Any]
    processes: OneProcess
    max_norm: float | None = None
    compare: Callable[[Sequence[Tensor], Vectors], None] | None = None
    """Is told the gradient of every tensor, for a loop that made its own."""


def evaluate(
    parts: Sequence[Part],
    receivers: Sequence[Part],
    closure: Closure,
    resources: Resources,
    *,
    first: bool = False,
    further: Callable[[Multiply], None] | None = None,
) -> Tensor:
    """The loss; the parts get their gradients, the receivers what they remember.

    In the ``first`` step, which needs no product, one is made all the same: that later ones can be made is known before
    any parameter has changed.  ``further`` is called at the end with a function that makes products of local vectors.
    """
    processes = resources.processes
    rows, shares = planned(receivers, parts)
    asked = bool(rows) or further is not None
    tried = first and not callable(resources.hvp) and (not asked or is_difference(resources.hvp))
    multiplies = asked or tried
    if multiplies:
        check_hooks([p for part in parts for p in part.owned], resources.hvp)
    if first and resources.hvp == "double-backward":
        closure = without_hooks(closure)
    if first and resources.hvp == "forward-difference":
        closure = without_autocast(closure)
    with processes.opened([p for part in parts for p in part.owned]) as points:
        evaluation = evaluation_by(resources.hvp, products=multiplies)(closure, points, processes)
        if tried:
            evaluation.try_product()
        loss, gradients = processes.joint(evaluation.loss, evaluation.gradients)
        if resources.compare is not None:
            resources.compare([p for part in parts for p in part.owned], gradients)
        clipped = Clipped(gradients, resources.max_norm, processes)
        place_parts(parts, clipped.gradients, resources)

        def product(vectors: Vectors, *, last: bool = False) -> Vectors:
            found = processes.averaged(evaluation.product(processes.whole(vectors), last=last))
            return clipped.derivative(found)

        products = []
        for place, row in enumerate(rows):
            displacement = _displacement(parts, row)
            last = further is None and place + 1 == len(rows)
            products.append(Product(product(displacement, last=last), displacement))
        if further is not None:
            further(product)
    for part, mine in zip(receivers, shares, strict=True):
        part.remember(products, mine)
    return loss


def place_parts(parts: Sequence[Part], gradients: Vectors, resources: Resources) -> None:
    """The parts get their tensors, their places among all tensors, and their gradients."""
    start = 0
    for part in parts:
        if part.keeps_state and part.formulas.is_of_tensors and any(map(is_sharded, part.owned)):
            raise ValueError(
                f"{part.formulas.name} keeps a state of whole tensors, and a parameter is sharded; use replicas, or "
                "Memoryless, which gathers them"
            )
        part.parameters = [local(p) for p in part.owned]
        part.span = slice(start, start + len(part.owned))
        part.gradients = part.signed(gradients[part.span])
        part.functions = [
            # A formula of whole tensors calls the user's functions with whole tensors.
            resources.functions
            if part.formulas.is_of_tensors
            else resources.processes.functions(place, resources.functions)
            for place in range(start, part.span.stop)
        ]
        start = part.span.stop


def _displacement(parts: Sequence[Part], row: Row) -> Vectors:
    found: Vectors = []
    for part, table in zip(parts, row, strict=True):
        found += contribution(part, table)
    return found


def contribution(part: Part, table: Table) -> Vectors:
    """What the group puts into a displacement, lr times the sum of weight * F: a tensor for each parameter."""
    found: Vectors = [None] * len(part.parameters)
    memory = part.formulas.memory
    if memory is None or part.unit == 0 or not table:
        return found
    for bunch in bunches(part):
        thetas = [part.parameters[place] for place in bunch]
        point = widened(joined(thetas), gradient_of(part, bunch))
        total = torch.empty_like(point[0])
        for row, (weight, *scalars) in enumerate(table):
            given = (*part.functions[bunch[0]], *scalars, *part.values)
            target = Target(total, part.unit * weight, is_new=row == 0)
            with named(part, bunch[0]):
                add_formula(part, bunch[0], target, memory.past, (point, given))
        for place, x in zip(bunch, separated(total.to(thetas[0].dtype), thetas), strict=True):
            found[place] = x
    return found


def updated(part: Part, bunch: Sequence[int]) -> Tensor:
    """theta - lr (F + M), or on the straight-line history, of a bunch: of one tensor in place, if by entries.

    A formula of whole matrices gets a copy, so that no parameter changes where the update of another is not finite.
    """
    place, formulas, functions = bunch[0], part.formulas, part.functions[bunch[0]]
    parameter = joined([part.parameters[each] for each in bunch])
    theta, g = widened(parameter, gradient_of(part, bunch))
    formula, vectors, scales = formulas.plain, [theta, g], list[float]()
    memory = formulas.memory
    if memory is not None and part.memories:
        scales = [each.scale for each in part.memories]
        shared = len({each.row for each in part.memories}) == 1 and not part.on_line
        formula = memory.shared if shared else memory.corrected
        if part.on_line and memory.on_line is not None:
            formula, scales = memory.on_line, [*scales, *part.line_numbers]
        vectors += part.remembered_at(bunch, shared=shared)
    given = (*functions, *scales, *part.scalars, *part.values)
    out = theta.clone() if formulas.is_of_tensors and theta is parameter else theta
    add_formula(part, place, Target(out, -part.lr), formula, (vectors, given))
    if formulas.is_of_tensors and not is_sharded(
        part.owned[place]
    ):  # of shards the whole value was looked at
        check_finite(out)
    return out


def add_formula(
    part: Part,
    place: int,
    target: Target,
    formula: Function,
    arguments: tuple[Sequence[Tensor], Sequence[Any]],
) -> None:
    """``out += factor * formula(*vectors, *given)`` for one tensor, from the target and ``(vectors, given)``.

    A formula of whole tensors gets the shards of all processes, and they get their shards of its value: it is the
    same everywhere, and so is a refusal.
    """
    owner, (vectors, given) = part.owned[place], arguments
    if not (part.formulas.is_of_tensors and is_sharded(owner)):
        accumulate(target, formula, vectors, given, is_entrywise=part.formulas.is_entrywise)
        return

    def finite(*whole: Tensor) -> Tensor:
        value = formula(*whole, *given)
        check_finite(value)
        return value

    target.take(target.out, OnShard(owner, finite)(*vectors))


def update_parameters(parts: Sequence[Part]) -> None:
    """Every tensor that has a gradient gets its new value: those of functions of a tensor once all are known."""
    waiting: list[tuple[list[Tensor], Tensor]] = []
    for part in parts:
        for bunch in bunches(part):
            with named(part, bunch[0]):
                pair = [part.parameters[place] for place in bunch], updated(part, bunch)
            if part.formulas.is_of_tensors:
                waiting.append(pair)
            else:
                write(*pair)
    for pair in waiting:
        write(*pair)


@contextmanager
def named(part: Part, place: int) -> Iterator[None]:
    """A function of a matrix that refuses its argument does not know whose it is: the tensor is named here."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{tensor_name(part, place)}: {error}") from error


def check_finite(value: Tensor) -> None:
    """ValueError before a value that is not finite replaces a parameter."""
    if not bool(torch.isfinite(value).all()):
        raise ValueError("the update is not finite, and no parameter was changed")


def tensor_name(part: Part, place: int) -> str:
    """A tensor in words: its place in its group, and its shape."""
    return f"{part.formulas.title}, parameter {place} of its group, shape {tuple(part.owned[place].shape)}"
