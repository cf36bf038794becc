"""The gradient scaled to a norm, and its derivative: memory is that of the scaled gradient."""

from __future__ import annotations

import torch

from .processes import OneProcess
from .vectors import Vectors


class Clipped:
    """The gradient g scaled to a norm of max_norm at most, and its derivative.

    G = c g with c = max_norm / (|g| + 1e-6), as torch.nn.utils.clip_grad_norm_ has it, and
    G = g where c is 1 or more. Memory is that of G: in the place of the product H v
    stands the derivative of G along v, c (H v - g <g, H v> / (|g| (|g| + 1e-6))).
    """

    def __init__(self, gradients: Vectors, max_norm: float | None, processes: OneProcess) -> None:
        self._processes = processes
        self._given = gradients
        self._norm = 0.0
        self._factor = 1.0
        if max_norm is not None:
            self._norm = processes.norm(gradients)
            self._factor = min(1.0, max_norm / (self._norm + 1e-6))
        self.gradients = self._scaled(gradients)

    def derivative(self, product: Vectors) -> Vectors:
        """The derivative of G along v, from the product of v with the Hessian."""
        if self._factor == 1:
            return product
        radial = self._processes.dot(self._given, product)
        radial /= self._norm * (self._norm + 1e-6)
        found: Vectors = []
        for g, hv in zip(self._given, product, strict=True):
            if g is None:
                found.append(hv)
            else:
                found.append(g * -radial if hv is None else torch.sub(hv, g, alpha=radial))
        return self._scaled(found)

    def _scaled(self, vectors: Vectors) -> Vectors:
        if self._factor == 1:
            return vectors
        return [None if x is None else x * self._factor for x in vectors]
