"""The modified loss inside a gradient map, along a trajectory (mathematics.md section 11).

    S_n = now L(theta_n) + kept S_{n-1} - lr (sum over all entries of density)

The density is ``beta K*(v)`` at the momentum that the step before left, which is still in the state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from .chains import split
from .formulas import RunningLoss
from .groups import step_of
from .processes import OneProcess
from .running import RunningPart, State, running_sums
from .sharding import local
from .vectors import widened


def modified_loss(
    found: RunningLoss | str,
    parts: Sequence[RunningPart],
    numbers: Mapping[str, float],
    state: State,
    *,
    processes: OneProcess,
    previous: Mapping[str, float] | None,
) -> dict[str, float]:
    """S now, from that of the previous probe; the loss itself where there is none of the step before."""
    used = [part for part in parts if any(g is not None for g in part.gradients)]
    if isinstance(found, str) or len({(part.lr, *part.values, part.group["maximize"]) for part in used}) != 1:
        return {}
    first, loss = used[0], numbers["loss"]
    sign = -1.0 if first.group["maximize"] else 1.0
    last = None if previous is None else previous.get("modified_loss")
    if last is None or previous is None or not _follows(previous.get("steps"), numbers["steps"]):
        return {"modified_loss": loss}
    taken = processes.total([x for part in parts for x in _densities(found, part, state)])
    kept = found.kept(first.lr, *first.values)
    return {"modified_loss": found.now(*first.values) * loss + kept * last - sign * first.lr * taken}


def _follows(before: float | None, steps: float) -> bool:
    """Whether one update lies between two probes; infinite where the optimizer does not count."""
    return before is not None and (before + 1 == steps or before == steps == float("inf"))


def _densities(found: RunningLoss, part: RunningPart, state: State) -> list[float]:
    """The sum over the entries of each tensor, at the running sums that the last step left."""
    scalars = part.formulas.running.scalars(step_of(part.made - 1), *part.values) if part.made else []
    totals = []
    for place, g in enumerate(part.gradients):
        if g is None or not part.made:
            totals.append(0.0)
            continue
        kept = [
            local(x) for x in running_sums(state.get(part.owned[place], {}), part.owned[place], part.formulas)
        ]
        chain = part.formulas.running.chain
        theta, slope, *sums = widened(
            part.parameters[place], g, *([x[-1] for x in split(kept, chain)] if chain else kept)
        )
        value = found.density(theta, slope, *sums, *scalars, *part.values)
        totals.append(float((value + torch.zeros_like(theta)).sum(dtype=torch.float64)))
    return totals
