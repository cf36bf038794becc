"""Derivatives of the loss for the emitted optimizer: one process, two ways to make a Hessian-vector product."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

__all__ = ["_Along", "_derivatives", "_widened"]


def _derivatives(
    closure: Callable[[], Tensor],
    parameters: list[Tensor],
    hvp: str | Callable[..., Any] | None,
) -> tuple[Tensor, list[Tensor | None], Callable[[list[Tensor]], list[Tensor]]]:
    """The loss, its gradient, and the function of a direction that is its Hessian."""
    random = torch.get_rng_state(), torch.cuda.get_rng_state_all()

    def gradient(create_graph: bool) -> tuple[Tensor, list[Tensor | None]]:
        with torch.enable_grad():
            torch.clear_autocast_cache()  # it holds copies of what the weights were
            loss = closure()
            if not isinstance(loss, Tensor) or not loss.requires_grad:
                raise RuntimeError("the closure has to return the loss with its graph")
            options = {"create_graph": create_graph, "allow_unused": True}
            return loss.detach(), list(torch.autograd.grad(loss, parameters, **options))

    def again() -> list[Tensor | None]:
        """The gradient once more, with the random numbers of the first time."""
        after = torch.get_rng_state(), torch.cuda.get_rng_state_all()
        torch.set_rng_state(random[0])
        torch.cuda.set_rng_state_all(random[1])
        try:
            return gradient(create_graph=False)[1]
        finally:
            torch.set_rng_state(after[0])
            torch.cuda.set_rng_state_all(after[1])

    def product(direction: list[Tensor]) -> list[Tensor]:
        if callable(hvp):
            return list(hvp(parameters, direction))
        if hvp == "double-backward":
            found = _backward_again(first, parameters, direction)
        else:
            found = _difference(again, parameters, direction)
        pairs = zip(parameters, found, strict=True)
        return [torch.zeros_like(p) if hv is None else hv for p, hv in pairs]

    loss, first = gradient(create_graph=hvp == "double-backward")
    return loss, [None if g is None else g.detach() for g in first], product


def _backward_again(
    gradients: Sequence[Tensor | None],
    parameters: list[Tensor],
    direction: list[Tensor],
) -> list[Tensor | None]:
    """A second backward pass, through the graph of the gradient."""
    pairs = zip(gradients, direction, strict=True)
    used = [(g, v) for g, v in pairs if g is not None and g.requires_grad]
    if not used:
        return [None] * len(parameters)
    outputs, vectors = zip(*used, strict=True)
    advice = 'the loss cannot be differentiated twice; use hvp="central-difference"'
    if "torch::autograd::Error" in _operations(outputs):  # autograd would skip it
        raise RuntimeError(f"{advice}: a function is marked once_differentiable")
    options = {"retain_graph": True, "allow_unused": True}
    try:
        return list(torch.autograd.grad(outputs, parameters, vectors, **options))
    except RuntimeError as error:
        raise RuntimeError(f"{advice}: {error}") from error


def _operations(tensors: Sequence[Tensor]) -> set[str]:
    """The names of the operations in the graph of the tensors."""
    waiting, seen = [tensor.grad_fn for tensor in tensors], set()
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting.extend(before for before, _ in node.next_functions)
    return {node.name() for node in seen}


def _difference(
    gradient: Callable[[], list[Tensor | None]],
    parameters: list[Tensor],
    direction: list[Tensor],
) -> list[Tensor | None]:
    """The gradients at theta + t v and theta - t v, subtracted, over 2 t."""
    size = math.sqrt(sum(float(v.double().square().sum()) for v in direction))
    if size == 0:
        return [None] * len(parameters)
    unit = max(torch.finfo(p.dtype).eps for p in parameters)
    if unit > 1e-6:
        raise RuntimeError('half precision needs hvp="double-backward"')
    scale = math.sqrt(sum(float(p.double().square().sum()) for p in parameters))
    t = unit ** (1 / 3) * (1 + scale) / size
    start = [p.detach().clone() for p in parameters]
    try:
        torch._foreach_add_(parameters, direction, alpha=t)
        ahead = gradient()
        for p, x, v in zip(parameters, start, direction, strict=True):
            p.copy_(x).sub_(v, alpha=t)
        behind = gradient()
    finally:
        for p, x in zip(parameters, start, strict=True):
            p.copy_(x)
    pairs = zip(ahead, behind, strict=True)
    return [None if a is None or b is None else (a - b) / (2 * t) for a, b in pairs]


def _widened(*tensors: Tensor) -> list[Tensor]:
    """The tensors in the type to compute in: half precision becomes float32."""
    return [x.float() if x.dtype.itemsize < 4 else x for x in tensors]


class _Along:
    """The derivative of a function at x, along one direction after the other."""

    def __init__(self, function: Callable[..., Tensor], times: int) -> None:
        self._function = function if times == 1 else _Along(function, times - 1)

    def __call__(self, x: Tensor, *directions: Tensor) -> Tensor:
        *before, last = directions
        found = torch.func.jvp(lambda y: self._function(y, *before), (x,), (last,))
        return found[1]
