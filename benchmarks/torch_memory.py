"""AdamW with its memory correction in every tenth step against PyTorch's AdamW: ten training steps of each.

The MLP of the benchmark of the memoryless step, batch 512, float32, with 0.1, 3 and 20 million parameters.  The note is
the floor: PyTorch's AdamW with a product by hand in every tenth step, and nothing done with it.
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
    floor = _by_hand(every, hvp, millions)
    found = side_by_side(lambda: seconds(subject), lambda: seconds(measure), rounds=9, patience=90.0)
    words = f"a correction every {every} steps" if every else "strength 0"
    name = f"AdamW with memory / torch.optim.AdamW, {words}, {hvp}, {millions:g} million parameters"
    note = ""
    if every:
        least = side_by_side(lambda: seconds(floor), lambda: seconds(measure), rounds=5, patience=30.0)
        note = f"floor {least[0] / least[1]:.2f}"
    return Row(name, found[0] / STEPS, found[1] / STEPS, target, note)


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
