"""The sizes of a probe: the update of every tensor, what memory has made of it, and the numbers of R."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .formulas import FirstOrder
from .processes import OneProcess
from .regulariser import regulariser
from .running import (
    Place,
    RunningPart,
    State,
    Term,
    expansion_terms,
    line_terms,
    run,
    running_sums,
    shaped_sums,
)
from .sharding import local
from .vectors import Vectors, widened


def sizes_of(
    formulas: FirstOrder,
    parts: Sequence[RunningPart],
    loss: float,
    made: Sequence[Made | None],
    processes: OneProcess,
) -> dict[str, float]:
    """The sizes, and the numbers of R."""
    updates: Vectors = [None if each is None else each.update for each in made]
    corrections = [
        _correction(part, place, g, expansion_terms)
        for part in parts
        for place, g in enumerate(part.gradients)
    ]
    sizes = _sizes(updates, corrections, processes) | _range(parts, updates, corrections, processes)
    return sizes | _regularised(formulas, parts, loss, updates, processes)


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
    lines = [
        _correction(part, place, g, line_terms) for part in parts for place, g in enumerate(part.gradients)
    ]
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


Terms = Callable[[RunningPart, Place, float], list[Term]]


def _correction(part: RunningPart, place: int, gradient: Tensor | None, terms: Terms) -> Tensor | None:
    """lr M, or lr (F_straight - F); zero where there is none of it, None where there is no gradient."""
    if gradient is None:
        return None
    theta, g = widened(part.parameters[place], gradient)
    found = torch.zeros_like(theta)
    at = Place([place], theta, g, part.functions[place])
    for term in terms(part, at, part.lr):
        term.added_to(found, at, is_entrywise=part.formulas.is_entrywise)
    return found


@dataclass(frozen=True)
class Made:
    """lr Phi(m) of one tensor, and the running sums after it."""

    update: Tensor
    sums: list[Tensor]


def all_made(parts: Sequence[RunningPart], state: State) -> list[Made | None]:
    """The update that every tensor would make now; None where there is no gradient."""
    return [
        None if g is None else _made(part, place, g, state)
        for part in parts
        for place, g in enumerate(part.gradients)
    ]


def _made(part: RunningPart, place: int, gradient: Tensor, state: State) -> Made:
    owner = part.owned[place]
    kept = shaped_sums(running_sums(state.get(owner, {}), owner, part.formulas), part, place, gradient)
    theta, g, *sums = widened(part.parameters[place], gradient, *(local(x).clone() for x in kept))
    update = torch.zeros_like(theta)
    run(part, Place([place], theta, g, part.functions[place]), sums, update, part.lr)
    return Made(update, sums)
