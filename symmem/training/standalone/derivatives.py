"""Derivatives of the loss for the emitted optimizer: one process, two ways to make a Hessian-vector product."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

__all__ = ["_Along", "_derivatives"]

_Hvp = str | Callable[..., Any]
_Tensors = list[Any]  # None in the place of a gradient that is not there


def _derivatives(closure: Any, points: _Tensors, hvp: Any) -> tuple[Any, ...]:
    """The loss, its gradient, and the function of a direction that is its Hessian."""

    def gradient(**options: Any) -> tuple[Tensor, _Tensors]:
        with torch.enable_grad():
            torch.clear_autocast_cache()  # it holds copies of what the weights were
            loss = closure()
            return loss.detach(), list(torch.autograd.grad(loss, points, **options))

    def again() -> _Tensors:  # with the random numbers of the first time
        with torch.random.fork_rng(range(torch.cuda.device_count())):
            torch.set_rng_state(random[0])
            torch.cuda.set_rng_state_all(random[1])
            return gradient(materialize_grads=True)[1]

    def product(along: _Tensors) -> _Tensors:
        if callable(hvp):
            return list(hvp(points, along))
        if hvp == "double-backward":
            return _backward_again(first, points, along)
        return _difference(again, points, along)

    random = torch.get_rng_state(), torch.cuda.get_rng_state_all()
    loss, first = gradient(create_graph=hvp == "double-backward", allow_unused=True)
    return loss, [None if g is None else g.detach() for g in first], product


def _backward_again(first: _Tensors, points: _Tensors, along: _Tensors) -> _Tensors:
    """A second backward pass, through the graph of the gradient."""
    used = [k for k, g in enumerate(first) if g is not None and g.requires_grad]
    outputs, vectors = [first[k] for k in used], [along[k] for k in used]
    advice = 'cannot be differentiated twice; use hvp="central-difference"'
    waiting, seen = [g.grad_fn for g in outputs], set()
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            if node.name() == "torch::autograd::Error":  # autograd would skip it
                raise RuntimeError(f"a once_differentiable function {advice}")
            seen.add(node)
            waiting.extend(before for before, _ in node.next_functions)
    try:
        options: Any = {"retain_graph": True, "materialize_grads": True}
        return list(torch.autograd.grad(outputs, points, vectors, **options))
    except RuntimeError as error:
        raise RuntimeError(f"the loss {advice}") from error


def _difference(gradient: Any, points: _Tensors, along: _Tensors) -> _Tensors:
    """The gradients at theta + t v and theta - t v, subtracted, over 2 t."""
    size = math.hypot(*(float(p.norm()) for p in points))
    length = math.hypot(*(float(v.norm()) for v in along)) or 1.0
    unit = max(torch.finfo(p.dtype).eps for p in points)
    if unit > 1e-6:
        raise RuntimeError('half precision needs hvp="double-backward"')
    t = unit ** (1 / 3) * (1 + size) / length
    start = [p.detach().clone() for p in points]
    found = []
    try:
        for shift in (t, -t):
            for p, x, v in zip(points, start, along, strict=True):
                p.copy_(x).add_(v, alpha=shift)
            found.append(gradient())
    finally:
        for p, x in zip(points, start, strict=True):
            p.copy_(x)
    return [(a - b) / (2 * t) for a, b in zip(*found, strict=True)]


class _Along:
    """The derivative of a function at x, along one direction after the other."""

    def __init__(self, function: Callable[..., Tensor], times: int) -> None:
        self._function = function if times == 1 else _Along(function, times - 1)

    def __call__(self, x: Tensor, *directions: Tensor) -> Tensor:
        *before, last = directions
        found = torch.func.jvp(lambda y: self._function(y, *before), (x,), (last,))
        return found[1]
