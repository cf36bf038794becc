"""One call of a closure: the loss, and the gradient where it called backward itself; ``.grad`` stays as it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from .vectors import Closure, Vectors


@dataclass(frozen=True)
class Call:
    """What a closure returned, and the gradient that it left in ``.grad``; None where it did not call backward.

    ``adds``: it added to a gradient that was there before, as the last of several micro-batches does.
    """

    loss: Tensor
    gradient: Vectors | None = None
    adds: bool = False


def called(closure: Closure, points: Sequence[Tensor]) -> Call:
    """Calls the closure, which sees ``.grad`` as it is and may add to it; ``.grad`` is left as it was."""
    if not all(p.is_leaf for p in points):
        return Call(closure())
    before = [p.grad for p in points]
    seen = _Accumulated(points) if any(g is not None for g in before) else None
    try:
        loss = closure()
        made = [p.grad for p in points]
    finally:
        if seen is not None:
            seen.removed()
        for p, old in zip(points, before, strict=True):
            p.grad = old
    if seen is None:
        return Call(loss, made if any(g is not None for g in made) else None)
    return Call(loss, made, seen.adds) if seen.reached else Call(loss)


class _Accumulated:
    """Sees which points a backward pass reaches, and whether it adds to what was there; ``.grad`` becomes a copy."""

    def __init__(self, points: Sequence[Tensor]) -> None:
        self.reached = False
        self.adds = False
        self._handles = []
        for p in points:
            p.grad = None if p.grad is None else p.grad.detach().clone()
            self._handles.append(p.register_post_accumulate_grad_hook(self._hook_of(p.grad)))

    def _hook_of(self, copy: Tensor | None) -> Callable[[Tensor], None]:
        version = 0 if copy is None else copy._version

        def hook(p: Tensor) -> None:
            # One change in place is the addition alone: what was zeroed before it was changed twice.
            self.reached = True
            self.adds = self.adds or (copy is not None and p.grad is copy and copy._version == version + 1)

        return hook

    def removed(self) -> None:
        """The points have no hooks of this any more."""
        for handle in self._handles:
            handle.remove()
