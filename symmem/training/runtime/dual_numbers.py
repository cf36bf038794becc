"""Forward over reverse: the gradient once more, with dual numbers in the place of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode

from .evaluation import Evaluation
from .refusals import explained
from .vectors import Vectors


class ForwardOverReverse(Evaluation):
    """A product is the tangent of the gradient, from a second call of the closure."""

    evaluates_again = True

    def product(self, directions: Vectors, *, last: bool) -> Vectors:
        """The Hessian times the directions: the derivative of the gradient, computed beside it in one pass."""
        with torch.enable_grad(), forward_ad.dual_level(), explained():
            points = [
                p if v is None else forward_ad.make_dual(p, v)
                for p, v in zip(self._points, directions, strict=True)
            ]
            with _Replaced(self._points, points):
                found = self._again(points, moved=False)
            for before, now in zip(self.gradients, found, strict=True):
                if before is not None and now is None:
                    raise RuntimeError(
                        "forward over reverse: the closure uses parameters where they "
                        "cannot be replaced, for example in TorchScript; "
                        'use hvp="double-backward"'
                    )
            return [None if g is None else forward_ad.unpack_dual(g).tangent for g in found]


class _Replaced(TorchFunctionMode):
    """Every function of torch gets the points in the place of the parameters."""

    def __init__(self, parameters: Sequence[Tensor], points: Sequence[Tensor]) -> None:
        super().__init__()
        self._points = {id(p): x for p, x in zip(parameters, points, strict=True)}

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*self._replaced(args), **self._replaced(kwargs or {}))

    def _replaced(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return self._points.get(id(value), value)
        if type(value) in (list, tuple):
            return type(value)(self._replaced(each) for each in value)
        if type(value) is dict:
            return {key: self._replaced(each) for key, each in value.items()}
        return value
