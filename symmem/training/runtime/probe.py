"""What the memory of a running optimizer does now, as numbers for a logger.

With U = lr Phi(m), the update that the optimizer would make now, and C = lr M, what
memory has made of it to first order in lr, each over all parameters:

loss                        L
steps                       the updates made so far; infinite where the state does not count them
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

For R, the loss that memory adds, groups may differ in lr and in a decay of theta.  Where they differ in their memory
there is no R, and its numbers are nan.  Where lr times the decay differs between groups, the term of L in R is a change
of their rates instead, and is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

from .formulas import FirstOrder, Stability
from .probe_sizes import Made, all_made, sizes_of
from .probed import Probed, warn_once
from .processes import OneProcess
from .products import Hvp, check_hvp, is_difference
from .random_state import random_states, set_random_states
from .refusals import without_hooks
from .running import RunningPart, State, check_torch_options, running_parts
from .running_loss import modified_loss
from .sharding import is_sharded
from .sharpness import sharpness
from .step import Multiply, Resources, evaluate
from .together import processes_of
from .vectors import Closure


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
    are. It costs one gradient (two by differences), the products of one step of Memoryless, and one more for each of
    the ``iterations`` that find the sharpness, which end when it changes by less than 1/1000; 0 leaves it out. Of
    several processes it is for the joint batch: those of the model, where it is that of DistributedDataParallel or
    fully_shard, else of ``process_group``.

    ``missing`` of the answer says why numbers are not there. Where |C| > |U|, or in most entries, a warning says so,
    once for an optimizer.
    """
    check_hvp(hvp)
    if not isinstance(iterations, int) or iterations < 0:
        raise ValueError(f"iterations = {iterations!r}: it counts products, from 0 on")
    for group in optimizer.param_groups:
        check_torch_options(group, formulas)
    _check_model(model, optimizer)
    with torch.no_grad(), left_alone(model, optimizer):
        parts = running_parts(formulas, optimizer.param_groups, optimizer.state)
        _check_steps(formulas, parts)
        processes = _processes(model, parts, hvp, process_group)
        functions = getattr(optimizer, "functions", []) if formulas.opaque else []
        resources = Resources(hvp, functions, processes)
        seen = without_hooks(closure) if hvp == "double-backward" else closure
        given = formulas, parts, optimizer.state, seen, resources
        found = _probed(*given, iterations=iterations, previous=previous)
    found.missing = _missing(formulas, found, iterations)
    warn_once(found, optimizer)
    return found


def _probed(
    formulas: FirstOrder,
    parts: Sequence[RunningPart],
    state: State,
    closure: Closure,
    resources: Resources,
    *,
    iterations: int,
    previous: Mapping[str, float] | None,
) -> Probed:
    """All numbers; the products of the sharpness are made while the graph of the gradient is there."""
    processes = resources.processes
    edge, made = dict[str, float](), list[Made | None]()

    def further(multiply: Multiply) -> None:
        made.extend(all_made(parts, state))
        if isinstance(formulas.stability, Stability):
            sums = [None if each is None else each.sums for each in made]
            known = formulas.stability, parts, sums, multiply
            edge.update(sharpness(*known, processes=processes, iterations=iterations))

    watches = isinstance(formulas.stability, Stability) and iterations > 0
    # A closure that draws a batch of its own, or has too few digits, makes differences of something else.
    given = parts, parts, closure, resources
    first = is_difference(resources.hvp)
    loss = float(evaluate(*given, first=first, further=further if watches else None))
    made = made or all_made(parts, state)
    numbers = {"loss": loss, **sizes_of(formulas, parts, loss, made, processes), **edge}
    numbers["steps"] = float(max((part.made for part in parts), default=0.0))
    inside = formulas.running_loss
    more = modified_loss(inside, parts, numbers, state, processes=processes, previous=previous)
    return Probed({**numbers, **more})


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


def _processes(
    model: torch.nn.Module, parts: Sequence[RunningPart], hvp: Hvp, process_group: Any
) -> OneProcess:
    """Those of the model, where it is spread over several; else those of the group."""
    sharded = any(is_sharded(p) for part in parts for p in part.owned)
    together = sharded or isinstance(model, DistributedDataParallel)
    return processes_of(process_group, model if together else None, hvp)


@contextmanager
def left_alone(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Iterator[None]:
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


def _check_steps(formulas: FirstOrder, parts: Sequence[RunningPart]) -> None:
    """At a step that is counted there has to be an M of that step."""
    if not formulas.has_finite and any(not math.isinf(part.n) for part in parts):
        raise ValueError(
            f"{formulas.name}: what memory does is known after many steps alone; give probe a WithMemory that was "
            "made with limit=True (it takes the state of the present one)"
        )


def _check_model(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Numbers of another model's parameters would look as good as those that were meant."""
    trained = {id(p) for group in optimizer.param_groups for p in group["params"]}
    if not any(id(p) in trained for p in model.parameters()):
        raise ValueError("the optimizer has no parameter of this model: it is that of another one")
