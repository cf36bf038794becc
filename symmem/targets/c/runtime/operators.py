"""The compiled kernels of one optimizer as custom operators of PyTorch.

A copy of this file stands beside the Python modules of a built library; it imports nothing of symmem.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

DIRECTION = "(Tensor theta, Tensor g, SymInt n, float[] parameters) -> Tensor"
CORRECTION = "(Tensor theta, Tensor g, Tensor hv, SymInt n, float lr, float[] parameters) -> Tensor"
STEP = "(Tensor(a0!) theta, Tensor g, Tensor hv, SymInt n, float lr, float[] parameters) -> ()"

UPDATE = "(Tensor(a0!) theta, Tensor g, Tensor(a1!) memory, SymInt n, float lr, float[] parameters) -> ()"


def torch_operators(kernels: Any) -> SimpleNamespace:
    """``direction``, ``correction``, ``straight``, ``step_``, ``update_`` as ``torch.ops.<prefix>``; ``directions``.

    ``n < 0`` is the limit; ``parameters`` are numbers in the order of the declaration.
    """
    directions = kernels.symbol("directions")

    def call(theta: Tensor, n: int, parameters: list[float]) -> Any:
        return kernels.call(theta, None if n < 0 else n, *parameters)

    def direction(theta: Tensor, g: Tensor, n: int, parameters: list[float]) -> Any:
        return call(theta, n, parameters).direction(g)

    def correction(*given: Any) -> Any:
        theta, g, hv, n, lr, parameters = given
        return call(theta, n, parameters).correction_from(g, hv, lr, None)

    def straight(*given: Any) -> Any:
        theta, g, hv, n, lr, parameters = given
        return call(theta, n, parameters).straight_from(g, hv, lr, None)

    def step(*given: Any) -> None:
        theta, g, hv, n, lr, parameters = given
        call(theta, n, parameters).step_from(g, hv, lr, theta)

    def update(*given: Any) -> None:
        theta, g, memory, n, lr, parameters = given
        call(theta, n, parameters).update(g, memory, lr)

    def like_directions(theta: Tensor, _g: Tensor, n: int, _parameters: list[float]) -> Tensor:
        return theta.new_empty((directions(n), *theta.shape))

    def like_theta(theta: Tensor, *_: Any) -> Tensor:
        return torch.empty_like(theta, memory_format=torch.contiguous_format)

    return SimpleNamespace(
        directions=directions,
        direction=_operator(f"{kernels.prefix}::direction", direction, like_directions, DIRECTION),
        correction=_operator(f"{kernels.prefix}::correction", correction, like_theta, CORRECTION),
        straight=_operator(f"{kernels.prefix}::straight", straight, like_theta, CORRECTION),
        step_=_operator(f"{kernels.prefix}::step_", step, lambda *_: None, STEP, ("theta",)),
        update_=_operator(f"{kernels.prefix}::update_", update, lambda *_: None, UPDATE, ("theta", "memory")),
    )


def _operator(
    name: str,
    function: Callable[..., Any],
    fake: Callable[..., Any],
    schema: str,
    mutated: tuple[str, ...] = (),
) -> Any:
    """A custom operator; ``fake`` says what the result looks like, for those who trace it."""
    made = torch.library.custom_op(name, function, mutates_args=mutated, device_types="cpu", schema=schema)
    made.register_fake(fake)
    return made
