"""The loss and its gradient from one call of the closure; the products with the Hessian are in :mod:`.products`."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .calls import called
from .processes import OneProcess
from .random_state import random_states, set_random_states
from .refusals import REENTRANT, check_loss, check_repeated, explained, operations
from .vectors import Closure, Vectors


class Evaluation:
    """One evaluation at the points; ``create_graph`` where a product needs the graph of the gradient."""

    create_graph = False
    evaluates_again = False
    """Whether a product calls the closure again, which then has to see the same random numbers."""

    def __init__(self, closure: Closure, points: Sequence[Tensor], processes: OneProcess) -> None:
        self._closure = closure
        self._points = list(points)
        self._processes = processes
        self._random = random_states(self._points) if self.evaluates_again else {}
        loss, self._first = self._differentiated(self._points, self.create_graph)
        if any(g is None for g in self._first) and "CheckpointFunctionBackward" in operations([loss]):
            raise RuntimeError(REENTRANT)
        # Of several processes one may have a part without them: the others wait for its share.
        if type(processes) is OneProcess and all(g is None for g in self._first):
            raise RuntimeError(
                "the loss depends on no parameter of the optimizer: they are those of another model, or detached"
            )
        self.loss = loss.detach()
        self.gradients: Vectors = [None if g is None else g.detach() for g in self._first]
        if any(g is not None and g.layout != torch.strided for g in self.gradients):
            raise RuntimeError("sparse gradients are not supported; use sparse=False")

    def try_product(self) -> None:
        """A product in a step that needs none: what stands against one is said before a parameter has changed."""
        self.product(self.gradients, last=True)

    def product(self, directions: Vectors, *, last: bool) -> Vectors:
        """The Hessian times the directions; after the last product nothing is kept."""
        raise NotImplementedError

    def _differentiated(self, points: list[Tensor], create_graph: bool = False) -> tuple[Tensor, Vectors]:
        with torch.enable_grad():
            torch.clear_autocast_cache()  # it would hold copies of what the weights were
            call = called(self._closure, points)
            loss = call.loss
            if call.gradient is None:
                check_loss(loss, points)
                with explained():
                    return loss, self._processes.differentiated(loss, points, create_graph)
            if create_graph:
                raise RuntimeError(
                    'the closure must not call backward; hvp="central-difference" takes one that does'
                )
            if call.adds and self.evaluates_again:
                raise RuntimeError(
                    "the closure adds to gradients that were there before, of losses that a product with the Hessian "
                    "does not see: add up all micro-batches inside the closure"
                )
            return loss, call.gradient

    def _again(self, points: list[Tensor], *, moved: bool = True) -> Vectors:
        """The gradient once more, with the random numbers of the first call; the loss is the same if nothing moved."""
        after = random_states(self._points)
        set_random_states(self._random)
        try:
            loss, found = self._differentiated(points)
        finally:
            set_random_states(after)
        if not moved:
            check_repeated(self.loss, loss.detach())
        return found
