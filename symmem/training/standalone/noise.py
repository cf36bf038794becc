"""What the emitted functions of the noise of mini-batches call, and per-sample gradients for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

__all__ = ["_Noise", "_between", "per_sample"]


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


def _between(batches: float | None, n: float | None) -> float:
    """The covariance of the noise of two steps over that of one with itself."""
    if batches is None:
        return 0.0
    if not batches >= max(2, (n or 0) + 1):
        raise ValueError(f"batches = {batches!r} are too few; None draws each anew")
    return -1.0 / (batches - 1)


class _Noise:
    """Averages over the batches, from their gradients and Hessians; each batch is a row."""

    def __init__(self, theta: Tensor, grads: Any, hvps: Any = None) -> None:
        self.theta, self.hvps = theta, hvps
        rows = self._like_theta(grads(theta))
        if rows.shape[1:] != theta.shape:
            raise ValueError(f"grads returned {rows.shape}, not rows of {theta.shape}")
        self.mean = rows.mean(dim=0)
        self.noise = rows - self.mean
        self.variance = (self.noise**2).mean(dim=0)

    def _like_theta(self, rows: Any) -> Tensor:
        return torch.as_tensor(rows, dtype=self.theta.dtype, device=self.theta.device)

    def products(self, rows: Tensor) -> Tensor:
        """The Hessian of each batch times its row."""
        found = self._like_theta(self.hvps(self.theta, rows))
        if found.shape != self.noise.shape:
            raise ValueError(f"hvps returned {found.shape}, not {self.noise.shape}")
        return found

    def hvp(self, _theta: Tensor, v: Tensor) -> Tensor:
        """The Hessian of the mean loss times v."""
        return self.products(v.expand_as(self.noise)).mean(dim=0)

    def variance_along(self, v: Tensor) -> Tensor:
        """The change of the variance along v; the noise adds up to 0."""
        return 2 * (self.noise * self.products(v.expand_as(self.noise))).mean(dim=0)

    def variance_gradient(self, w: Tensor) -> Tensor:
        """The gradient of the sum of w times the variance, w held fixed."""
        return 2 * self.products(w * self.noise).mean(dim=0)

    def noisy_hessian(self, w: Tensor) -> Tensor:
        """The mean of the noise times the Hessian of w times the noise."""
        rows = [row * self.hvp(self.theta, w * row) for row in self.noise]
        return torch.stack(rows).mean(dim=0)
