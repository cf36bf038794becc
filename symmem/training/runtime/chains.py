"""Variables that read variables, and values that are kept for some steps: cascades and delays as they run.

In a step the variables go in their order.  A running sum takes in its g, which may read those above it as they are
after this step; a delay of d steps gives the oldest of its d values, and takes in its g when all have been read.  At
the first step it gives its first value, or 0 where it starts empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from .formulas import Link, Running

Rates = tuple[float, float]
"""What a sum keeps of itself in a step, and the unit of what it takes in."""


def run_chain(
    running: Running,
    tensors: Sequence[Tensor],
    given: Sequence[Any],
    rates: Sequence[Rates],
    *,
    is_first: bool,
) -> tuple[Tensor, list[Tensor]]:
    """Phi after the sums have taken in what this step gives, and what the delays take in when all have been read.

    ``tensors`` are theta, the gradient and the states.
    """
    kept = split(tensors[2:], running.chain)
    point = [*tensors[:2], *(each[-1] for each in kept)]
    newest = []
    for link, mine, (decay, unit), taken_in in zip(running.chain, kept, rates, running.taken_in, strict=True):
        value = taken_in(*point, *given)
        if link.delay == 0:
            take_in(mine[0], decay, unit, value)
            continue
        if is_first and not link.starts_empty:
            for x in mine:
                x.copy_(value)
        newest.append(value.clone())  # it may be a tensor that changes before it is taken in
    return running.update(*point, *given), newest


def push(states: Sequence[Tensor], chain: Sequence[Link], newest: Sequence[Tensor]) -> None:
    """The values of the delays move on by one step."""
    delays = [mine for link, mine in zip(chain, split(states, chain), strict=True) if link.delay]
    for mine, value in zip(delays, newest, strict=True):
        for older, newer in zip(reversed(mine[1:]), reversed(mine[:-1]), strict=True):
            older.copy_(newer)
        mine[0].copy_(value)


def split(states: Sequence[Tensor], chain: Sequence[Link]) -> list[list[Tensor]]:
    """The tensors of each variable; those of a delay from the newest to the oldest."""
    found, start = [], 0
    for link in chain:
        found.append(list(states[start : start + link.states]))
        start += link.states
    return found


def take_in(x: Tensor, decay: float, unit: float, value: Tensor) -> None:
    """x <- decay * x + unit * value."""
    if unit == 1 - decay:
        x.lerp_(value, unit)
    else:
        x.mul_(decay).add_(value, alpha=unit)
