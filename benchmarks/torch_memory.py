"""AdamW with its memory correction in every tenth step against PyTorch's AdamW: ten training steps of each.

The MLP of the benchmark of the memoryless step, batch 512, float32, with 0.1, 3 and 20 million parameters.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from measure import Row, Target, seconds, side_by_side
from torch_step import network

from symmem.training import WithMemory

STEPS = 10


def every_tenth_step() -> Row:
    return _row(10, "double-backward", Target(1.2))


def every_tenth_step_small() -> Row:
    return _row(10, "double-backward", Target(1.2), 0.1)


def every_tenth_step_large() -> Row:
    return _row(10, "double-backward", Target(1.2), 20.0)


def every_tenth_step_by_differences() -> Row:
    return _row(10, "forward-difference", Target(1.2))


def every_tenth_step_by_differences_small() -> Row:
    return _row(10, "forward-difference", Target(1.2), 0.1)


def every_tenth_step_by_differences_large() -> Row:
    return _row(10, "forward-difference", Target(1.2), 20.0)


def every_step() -> Row:
    return _row(1, "double-backward", None)


def without_correction() -> Row:
    return _row(0, "double-backward", Target(1.02))


def without_correction_small() -> Row:
    return _row(0, "double-backward", Target(1.02), 0.1)


def without_correction_large() -> Row:
    return _row(0, "double-backward", Target(1.02), 20.0)


def _row(every: int, hvp: str, target: Target | None, millions: float = 3.0) -> Row:
    subject, measure = _corrected(every, hvp, millions), _plain(millions)
    found = side_by_side(lambda: seconds(subject), lambda: seconds(measure), rounds=9, patience=90.0)
    words = f"a correction every {every} steps" if every else "strength 0"
    name = f"AdamW with memory / torch.optim.AdamW, {words}, {hvp}, {millions:g} million parameters"
    return Row(name, found[0] / STEPS, found[1] / STEPS, target)


def _corrected(every: int, hvp: str, millions: float) -> Callable[[], None]:
    model, closure = network(millions)
    strength = -1.0 if every else 0.0
    optimizer = WithMemory("adamw", model.parameters(), lr=1e-6, strength=strength, every=every or 1, hvp=hvp)
    return _training(lambda: optimizer.step(closure))


def _plain(millions: float) -> Callable[[], None]:
    model, closure = network(millions)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)

    def step() -> None:
        optimizer.zero_grad()
        closure().backward()
        optimizer.step()

    return _training(step)


def _training(step: Callable[[], object]) -> Callable[[], None]:
    def train() -> None:
        for _ in range(STEPS):
            step()

    train()
    return train
