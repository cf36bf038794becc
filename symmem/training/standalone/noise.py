"""What the emitted functions of the noise of mini-batches call, and per-sample gradients for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

__all__ = ["_repeated", "_rows", "per_sample"]


def per_sample(
    loss: Callable[[Tensor, Any], Tensor], data: Any
) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    """grads and hvps of loss(theta, sample): a row for each sample, by torch.func.

    data is a tensor, or a tuple of tensors, whose first axis counts the samples.
    """
    gradient = torch.func.grad(loss)

    def grads(theta: Tensor) -> Tensor:
        return torch.func.vmap(gradient, (None, 0))(theta, data)

    def hvps(theta: Tensor, rows: Tensor) -> Tensor:
        def product(row: Tensor, sample: Any) -> Any:
            slope = torch.func.jvp(lambda x: gradient(x, sample), (theta,), (row,))
            return slope[1]

        return torch.func.vmap(product)(rows, data)

    return grads, hvps


def _rows(theta: Tensor, values: Any) -> Tensor:
    """What a function of the caller's returned for many batches."""
    return torch.as_tensor(values, dtype=theta.dtype, device=theta.device)


def _repeated(v: Tensor, rows: Tensor) -> Tensor:
    """The same v for every row."""
    return v.expand_as(rows)
