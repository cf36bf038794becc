"""What the memory of a running optimizer does now, as numbers for a logger.

For R, the loss that memory adds, groups may differ in lr and in a decay of theta.  Where they differ in their memory
there is no R, and its numbers are nan.  Where lr times the decay differs between groups, the term of L in R is a change
of their rates instead, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from .formulas import FirstOrder, Stability
from .probed import Probed, warn_once
from .processes import OneProcess
from .products import Hvp, check_hvp
from .random_state import random_states, set_random_states
from .regulariser import regulariser
from .running import (
    Place,
    RunningPart,
    State,
    add_expansion,
    add_line,
    check_torch_options,
    run,
    running_parts,
    running_sums,
    shaped_sums,
)
from .running_loss import modified_loss
from .sharding import is_sharded, local
from .sharpness import sharpness
from .step import Multiply, Resources, evaluate
from .together import processes_of
from .vectors import Closure, Vectors, widened


def probe(
    formulas: FirstOrder,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    closure: Closure,
    *,
    hvp: Hvp = "double-backward",
    process_group: Any = None,
    iterations: int = 20,
    previous: Mapping[str, float] | None = None,
) -> Probed:
    """What the memory of a running optimizer does now, as numbers for a logger, and as one line: ``print`` it.

    The optimizer is PyTorch's or the one of the runtime with memory, whose strength does not matter here. The closure
    returns the loss and does not call backward. Parameters, buffers, gradients, state and random numbers stay as they
    are. It costs one gradient, the products of one step of Memoryless, and one more for each of the ``iterations``
    that find the sharpness, which end when it changes by less than 1/1000; 0 leaves it out. Of several processes it is
    for the joint batch: those of the model, where it is that of DistributedDataParallel or fully_shard, else of
    ``process_group``.

    With U = lr Phi(m), the update that the optimizer would make now, and C = lr M, what
    memory has made of it to first order in lr, each over all parameters:

    loss                        L
    update_norm                 |U|
    correction_norm             |C|
    correction_ratio            |C| / |U|
    correction_cosine           C . U / (|C| |U|)
    straight_norm               |S|, S = lr (F_straight - F): the same on the straight-line history
    straight_ratio              |S| / |U|
    share_outside               the share of the entries in which |C| > |U|: there the expansion says nothing
    memory_time                 lr / (1 - beta) with the largest decay: how far memory reaches back, in time

    and, where there is an R with M = P grad R, in the regime of the modified loss:

    regulariser                 R: the loss as memory has it is L + R
    regulariser_gradient_norm   |grad R|
    regulariser_sign            +1 memory regularises, -1 it does the opposite, 0
    regulariser_change          -grad R . U: how the update changes R, to first order

    and, where its update is linear in its memory of the gradient, on a quadratic with its preconditioner P frozen:

    preconditioned_sharpness    the largest eigenvalue of P^(1/2) H P^(1/2)
    sharpness_threshold         that from which the optimizer is unstable after many steps, from its kernels: with lr h
                                and beta1 of Adam (2 + 2 beta1)/((1 - beta1) h), less what weight decay takes

    and, where it is a gradient map of one geometric memory, such as heavy ball, Signum or Muon:

    modified_loss               the loss S with theta <- (1 - lr decay) theta - lr grad K(grad S), along the trajectory:
                                from that of the ``previous`` probe, one step ago; it starts with the loss itself, and
                                forgets this start as the optimizer does. Here all groups have to be alike.

    ``missing`` of the answer says why numbers are not there. Where |C| > |U|, or in most entries, a warning says so,
    once for an optimizer.
    """
    check_hvp(hvp)
    for group in optimizer.param_groups:
        check_torch_options(group, formulas)
    with torch.no_grad(), _left_alone(model, optimizer):
        parts = running_parts(formulas, optimizer.param_groups, optimizer.state)
        processes = _processes(model, parts, hvp, process_group)
        functions = getattr(optimizer, "functions", []) if formulas.opaque else []
        edge, made = dict[str, float](), list[_Made | None]()

        def further(multiply: Multiply) -> None:
            made.extend(_all_made(parts, optimizer.state))
            if isinstance(formulas.stability, Stability):
                sums = [None if each is None else each.sums for each in made]
                edge.update(
                    sharpness(
                        formulas.stability, parts, sums, multiply, processes=processes, iterations=iterations
                    )
                )

        watches = isinstance(formulas.stability, Stability) and iterations > 0
        resources = Resources(hvp, functions, processes)
        loss = float(evaluate(parts, parts, closure, resources, further=further if watches else None))
        made = made or _all_made(parts, optimizer.state)
        numbers = {"loss": loss, **_numbers(formulas, parts, loss, made, processes), **edge}
        numbers["steps"] = max((part.made for part in parts), default=0.0)
        state, inside = optimizer.state, formulas.running_loss
        more = modified_loss(inside, parts, numbers, state, processes=processes, previous=previous)
        found = Probed({**numbers, **more})
    found.missing = _missing(formulas, found, iterations)
    warn_once(found, optimizer)
    return found


def _missing(formulas: FirstOrder, found: Mapping[str, float], iterations: int) -> dict[str, str]:
    """Why some numbers are not there, by name."""
    reasons = {}
    if "sharpness_threshold" not in found:
        known = isinstance(formulas.stability, Stability)
        reasons["sharpness_threshold"] = f"iterations = {iterations}" if known else str(formulas.stability)
    if "modified_loss" not in found:
        alike = "the groups are not alike"
        reasons["modified_loss"] = formulas.running_loss if isinstance(formulas.running_loss, str) else alike
    if "regulariser" not in found:
        reasons["regulariser"] = "memory adds no gradient times the preconditioner"
    return reasons


def _numbers(
    formulas: FirstOrder,
    parts: Sequence[RunningPart],
    loss: float,
    made: Sequence[_Made | None],
    processes: OneProcess,
) -> dict[str, float]:
    """The sizes, and the numbers of R."""
    updates: Vectors = [None if each is None else each.update for each in made]
    corrections = [_correction(part, place, g) for part in parts for place, g in enumerate(part.gradients)]
    sizes = _sizes(updates, corrections, processes) | _range(parts, updates, corrections, processes)
    return sizes | _regularised(formulas, parts, loss, updates, processes)


def _processes(
    model: torch.nn.Module, parts: Sequence[RunningPart], hvp: Hvp, process_group: Any
) -> OneProcess:
    """Those of the model, where it is spread over several; else those of the group."""
    sharded = any(is_sharded(p) for part in parts for p in part.owned)
    together = sharded or isinstance(model, DistributedDataParallel)
    return processes_of(process_group, model if together else None, hvp)


def _regularised(
    formulas: FirstOrder,
    parts: Sequence[RunningPart],
    loss: float,
    updates: Vectors,
    processes: OneProcess,
) -> dict[str, float]:
    """The numbers of R; none where there is no R."""
    if formulas.memory is None:
        return {f"regulariser{name}": 0.0 for name in ("", "_gradient_norm", "_sign", "_change")}
    if formulas.regulariser is None:
        return {}
    value, gradient = regulariser(formulas.regulariser, parts, loss, processes)
    return {
        "regulariser": value,
        "regulariser_gradient_norm": processes.norm(gradient),
        "regulariser_sign": value and value / abs(value),
        "regulariser_change": -processes.dot(gradient, updates),
    }


def _sizes(updates: Vectors, corrections: Vectors, processes: OneProcess) -> dict[str, float]:
    size, change = processes.norm(updates), processes.norm(corrections)
    both = processes.dot(updates, corrections)
    return {
        "update_norm": size,
        "correction_norm": change,
        "correction_ratio": change / size if size else 0.0,
        "correction_cosine": both / (size * change) if size * change else 0.0,
    }


def _range(
    parts: Sequence[RunningPart], updates: Vectors, corrections: Vectors, processes: OneProcess
) -> dict[str, float]:
    """The correction on the straight line, and whether the expansion holds here."""
    lines = [_on_line(part, place, g) for part in parts for place, g in enumerate(part.gradients)]
    # One number for each tensor, also for those without a gradient: the processes add them up place by place.
    beyond, entries = [], []
    for c, u in zip(corrections, updates, strict=True):
        if c is None or u is None:
            beyond.append(0.0)
            entries.append(0.0)
        else:
            beyond.append(float((c.abs() > u.abs()).sum()))
            entries.append(float(c.numel()))
    outside, all_entries = processes.total(beyond), processes.total(entries)
    size, change = processes.norm(updates), processes.norm(lines)
    reaches = [
        part.lr / (1 - max(memory.decays(*part.values), default=0.0))
        for part in parts
        if (memory := part.formulas.memory) is not None
    ]
    return {
        "straight_norm": change,
        "straight_ratio": change / size if size else 0.0,
        "share_outside": outside / all_entries if all_entries else 0.0,
        "memory_time": max(reaches, default=0.0),
    }


def _on_line(part: RunningPart, place: int, gradient: Tensor | None) -> Tensor | None:
    """lr (F_straight - F); zero where there is no straight line."""
    if gradient is None:
        return None
    theta, g = widened(part.parameters[place], gradient)
    found = torch.zeros_like(theta)
    memory = part.formulas.memory
    if memory is not None and memory.on_line is not None and part.memories:
        add_line(part, Place(place, theta, g, part.functions[place]), found, part.lr)
    return found


@dataclass(frozen=True)
class _Made:
    """lr Phi(m) of one tensor, and the running sums after it."""

    update: Tensor
    sums: list[Tensor]


def _all_made(parts: Sequence[RunningPart], state: State) -> list[_Made | None]:
    """The update that every tensor would make now; None where there is no gradient."""
    return [
        None if g is None else _made(part, place, g, state)
        for part in parts
        for place, g in enumerate(part.gradients)
    ]


def _made(part: RunningPart, place: int, gradient: Tensor, state: State) -> _Made:
    owner = part.owned[place]
    kept = shaped_sums(running_sums(state.get(owner, {}), owner, part.formulas), part, place, gradient)
    theta, g, *sums = widened(part.parameters[place], gradient, *(local(x).clone() for x in kept))
    update = torch.zeros_like(theta)
    run(part, Place(place, theta, g, part.functions[place]), sums, update, part.lr)
    return _Made(update, sums)


def _correction(part: RunningPart, place: int, gradient: Tensor | None) -> Tensor | None:
    """lr M; None where there is no gradient."""
    if gradient is None:
        return None
    theta, g = widened(part.parameters[place], gradient)
    found = torch.zeros_like(theta)
    add_expansion(part, Place(place, theta, g, part.functions[place]), found, part.lr)
    return found


@contextmanager
def _left_alone(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Iterator[None]:
    """Puts back the random numbers and the buffers of the model."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    random = random_states(parameters)
    buffers = [(buffer, buffer.clone()) for buffer in model.buffers()]
    try:
        yield
    finally:
        set_random_states(random)
        for buffer, before in buffers:
            buffer.copy_(before)
