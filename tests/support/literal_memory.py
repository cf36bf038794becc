"""Memories as a person would run them, in any exact or high-precision arithmetic: they share no code with the kernels.

A memory takes the values g_0, ..., g_n of one entry and gives m_0, ..., m_n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

Memory = Callable[[Sequence[Any]], list[Any]]
Factor = Callable[[int], Fraction]


def plain(_: int) -> Fraction:
    return Fraction(1)


def instant(b: Factor = plain) -> Memory:
    return lambda g: [b(n) * x for n, x in enumerate(g)]


def geometric(beta: Fraction, b: Factor = plain) -> Memory:
    def run(g: Sequence[Any]) -> list[Any]:
        found, total = [], 0
        for n, x in enumerate(g):
            total = beta * total + x
            found.append(b(n) * total)
        return found

    return run


def delay(steps: int, b: Factor = plain, *, empty: bool = False) -> Memory:
    def run(g: Sequence[Any]) -> list[Any]:
        return [b(n) * (g[n - steps] if n >= steps else 0 * g[0] if empty else g[0]) for n in range(len(g))]

    return run


def mixture(*memories: Memory) -> Memory:
    return lambda g: [
        sum(column[1:], column[0]) for column in zip(*(run(g) for run in memories), strict=True)
    ]


def composed(outer: Memory, inner: Memory) -> Memory:
    return lambda g: outer(inner(g))


@cache
def weights(memory: Memory, n: int) -> list[Fraction]:
    """``c(n, 0), ..., c(n, n)``: what one value of 1 among zeros leaves at step n."""
    unit = [Fraction(0)] * (n + 1)
    found = []
    for k in range(n + 1):
        unit[n - k] = Fraction(1)
        found.append(memory(unit)[n])
        unit[n - k] = Fraction(0)
    return found
