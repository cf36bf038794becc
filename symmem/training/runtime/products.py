"""Hessian-vector products: four ways to make them, and those of a function of the caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .dual_numbers import ForwardOverReverse
from .evaluation import Evaluation
from .processes import OneProcess
from .refusals import check_twice, explained
from .vectors import Closure, Vectors

Hvp = str | Callable[..., Any]


class DoubleBackward(Evaluation):
    """A second backward pass, through the graph of the gradient."""

    create_graph = True

    def product(self, directions: Vectors, *, last: bool) -> Vectors:
        """The Hessian times the directions, through the kept graph of the gradient; freed after the last."""
        outputs: list[Tensor] = []
        vectors: list[Tensor] = []
        for g, v in zip(self._first, directions, strict=True):
            if g is not None and v is not None and g.requires_grad:
                outputs.append(g)
                vectors.append(v)
        if last:
            self._first = []
        if not outputs:
            return [None] * len(directions)
        check_twice(outputs)
        with explained():
            found = torch.autograd.grad(
                outputs, self._points, vectors, retain_graph=not last, allow_unused=True
            )
        return list(found)


class CentralDifference(Evaluation):
    """The difference of the gradients at theta + t v and theta - t v, over 2 t.

    t = u^(1/3) (1 + |theta|) / |v| with the rounding unit u: an error of about u^(2/3).
    """

    power = 1 / 3
    evaluates_again = True

    def try_product(self) -> None:
        """A second call at the same point: a closure that draws a batch of its own would make wrong differences."""
        self._again(self._points, moved=False)

    def product(self, directions: Vectors, *, last: bool) -> Vectors:
        """``(grad(theta + t v) - grad(theta - t v)) / 2t``, with t where rounding and truncation balance."""
        pairs = [(p, v) for p, v in zip(self._points, directions, strict=True) if v is not None]
        size = self._processes.length(directions)
        if size == 0:
            return [None] * len(directions)
        points, vectors = [p for p, _ in pairs], [v for _, v in pairs]
        unit = max(torch.finfo(p.dtype).eps for p in points)
        if unit > 1e-6:
            raise RuntimeError(
                "a difference of gradients needs parameters in float32 or float64: half "
                'precision has too few digits; use hvp="double-backward"'
            )
        start = [p.detach().clone() for p in points]
        t = unit**self.power * (1 + self._processes.length(list(self._points))) / size
        try:
            torch._foreach_add_(points, vectors, alpha=t)
            ahead = self._again(self._points)
            behind, way = self._behind(points, vectors, start, t)
        finally:
            torch._foreach_copy_(points, start)
        return [
            None if a is None or b is None else a.sub_(b).div_(way)
            for a, b in zip(ahead, behind, strict=True)
        ]

    def _behind(
        self, points: list[Tensor], vectors: list[Tensor], start: list[Tensor], t: float
    ) -> tuple[Vectors, float]:
        """The gradient that is subtracted, and how far it lies behind."""
        torch._foreach_copy_(points, start)
        torch._foreach_sub_(points, vectors, alpha=t)
        return self._again(self._points), 2 * t


class ForwardDifference(CentralDifference):
    """The difference of the gradients at theta + t v and theta, over t: one gradient more.

    t = u^(1/2) (1 + |theta|) / |v|: an error of about u^(1/2), which is 3e-4 in float32.
    """

    power = 1 / 2

    def _behind(
        self, points: list[Tensor], vectors: list[Tensor], start: list[Tensor], t: float
    ) -> tuple[Vectors, float]:
        """The gradient that is there already."""
        return self._first, t


class GivenProduct(Evaluation):
    """Products by a function of the caller: of the parameters and a direction, two lists, to a list."""

    def __init__(
        self,
        hvp: Callable[..., Any],
        closure: Closure,
        points: Sequence[Tensor],
        processes: OneProcess,
    ) -> None:
        super().__init__(closure, points, processes)
        self._hvp = hvp

    def product(self, directions: Vectors, *, last: bool) -> Vectors:
        """What the user's function returns; a direction that is None is zero for it."""
        pairs = zip(self._points, directions, strict=True)
        given = [torch.zeros_like(p) if v is None else v for p, v in pairs]
        found = list(self._hvp(self._points, given))
        if len(found) != len(given):
            raise ValueError(f"hvp returned {len(found)} tensors, not {len(given)}")
        return found


METHODS: dict[str, type[Evaluation]] = {
    "double-backward": DoubleBackward,
    "forward-over-reverse": ForwardOverReverse,
    "central-difference": CentralDifference,
    "forward-difference": ForwardDifference,
}


def check_hvp(hvp: Hvp) -> None:
    """ValueError where this is no way to a Hessian-vector product."""
    if not callable(hvp) and hvp not in METHODS:
        known = ", ".join(METHODS)
        raise ValueError(f"hvp = {hvp!r} is neither a function nor one of {known}")


def is_difference(hvp: Hvp) -> bool:
    """Whether it takes first derivatives alone."""
    return not callable(hvp) and issubclass(METHODS[hvp], CentralDifference)


def check_hooks(parameters: Sequence[Any], hvp: Hvp) -> None:
    """Refuses hooks on parameters where they would change the products too; a difference of gradients honours them."""
    if is_difference(hvp) or not any(getattr(p, "_backward_hooks", None) for p in parameters):
        return
    raise RuntimeError(
        "a parameter has a tensor hook, which would change the Hessian-vector product as it changes the gradient; "
        'use hvp="central-difference", or change the loss instead'
    )


def evaluation_by(
    hvp: Hvp, *, products: bool
) -> Callable[[Closure, Sequence[Tensor], OneProcess], Evaluation]:
    """How to evaluate, where products are needed and where the gradient is enough."""
    if not products:
        return Evaluation
    return partial(GivenProduct, hvp) if callable(hvp) else METHODS[hvp]
