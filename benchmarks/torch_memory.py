"""AdamW with its memory correction in every tenth step against PyTorch's AdamW: ten training steps of each.

The MLP of the benchmark of the memoryless step, batch 512, float32, with 0.1, 3 and 20 million parameters, by PyTorch
alone and by the kernels of ``symmem build``.  The note is the floor: PyTorch's AdamW with a product by hand in every
tenth step, and nothing done with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from measure import Row, Target, seconds, side_by_side
from torch_step import built, network

from symmem.training import WithMemory

STEPS = 10
SIZES = {"_small": 0.1, "": 3.0, "_large": 20.0}
"""Millions of parameters, by the ending of a row's name."""


@dataclass(frozen=True)
class Way:
    """How AdamW with memory is trained: a correction in every so many steps, 0 for none."""

    name: str
    every: int
    hvp: str = "double-backward"
    by_kernels: bool = False


def _rows() -> Iterator[Callable[[], Row]]:
    """A row for each way to train and each size; the way without kernels is that of who has no compiler."""
    for way in (
        Way("every_tenth_step", 10),
        Way("every_tenth_step_by_differences", 10, "forward-difference"),
        Way("every_tenth_step_by_kernels", 10, by_kernels=True),
        Way("without_correction", 0),
        Way("without_correction_by_kernels", 0, by_kernels=True),
    ):
        for size, millions in SIZES.items():
            row = partial(_row, way, Target(1.2 if way.every else 1.02), millions)
            row.__name__ = f"{way.name}{size}"  # type: ignore[attr-defined]  # what the command line chooses by
            yield row


def _row(way: Way, target: Target | None, millions: float) -> Row:
    subject, measure = _corrected(way, millions), _plain(millions)
    floor = _by_hand(way.every, way.hvp, millions)
    found = side_by_side(lambda: seconds(subject), lambda: seconds(measure), rounds=9, patience=90.0)
    words = f"a correction every {way.every} steps, {way.hvp}" if way.every else "strength 0"
    kernels = ", built kernels" if way.by_kernels else ""
    name = f"AdamW with memory / torch.optim.AdamW, {words}{kernels}, {millions:g} million parameters"
    note = ""
    if way.every:
        least = side_by_side(lambda: seconds(floor), lambda: seconds(measure), rounds=5, patience=30.0)
        note = f"floor {least[0] / least[1]:.2f}"
    return Row(name, found[0] / STEPS, found[1] / STEPS, target, note)


def _corrected(way: Way, millions: float) -> Callable[[], None]:
    model, closure = network(millions)
    amount: dict[str, Any] = {"strength": -1.0, "every": way.every} if way.every else {"strength": 0.0}
    kernels = built() if way.by_kernels else None
    optimizer = WithMemory("adamw", model.parameters(), lr=1e-6, hvp=way.hvp, kernels=kernels, **amount)
    return _training(lambda: optimizer.step(closure))


def _plain(millions: float) -> Callable[[], None]:
    model, closure = network(millions)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)

    def step() -> None:
        optimizer.zero_grad()
        closure().backward()
        optimizer.step()

    return _training(step)


def _by_hand(every: int, hvp: str, millions: float) -> Callable[[], None]:
    """The least that a correction in every k-th step can cost: the gradient as ever, and one product along its sign."""
    model, closure = network(millions)
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-6)
    made = 0

    def step() -> None:
        nonlocal made
        made += 1
        product = every > 0 and made % every == 0
        first = torch.autograd.grad(closure(), parameters, create_graph=product and hvp == "double-backward")
        for p, g in zip(parameters, first, strict=True):
            p.grad = g.detach()
        if product:
            _product(parameters, first, closure, hvp)
        optimizer.step()

    return _training(step)


def _product(
    parameters: list[torch.nn.Parameter],
    first: tuple[torch.Tensor, ...],
    closure: Callable[[], torch.Tensor],
    hvp: str,
) -> None:
    direction = [g.detach().sign() for g in first]
    if hvp == "double-backward":
        torch.autograd.grad(first, parameters, direction)
        return
    with torch.no_grad():
        torch._foreach_add_(parameters, direction, alpha=1e-3)
    ahead = torch.autograd.grad(closure(), parameters)
    with torch.no_grad():
        torch._foreach_sub_(parameters, direction, alpha=1e-3)
        torch._foreach_sub_(ahead, first)


def _training(step: Callable[[], object]) -> Callable[[], None]:
    def train() -> None:
        for _ in range(STEPS):
            step()

    train()
    return train


BENCHMARKS: tuple[Callable[[], Row], ...] = tuple(_rows())
