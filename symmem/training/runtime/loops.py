"""Training loops as people have them: a step without a closure, and what a checkpoint asks of a fresh optimizer.

``step()`` without a closure repeats the last forward pass of a watched model, with its inputs and random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from .formulas import Group
from .random_state import States, random_states, set_random_states
from .vectors import Closure

Call = tuple[Sequence[Any], Mapping[str, Any], States]


class Watched:
    """A model whose last forward pass can be evaluated again; ``loss`` makes the loss of its output."""

    def __init__(self, model: torch.nn.Module, loss: Callable[[Any], Tensor]) -> None:
        self._model = model
        self._loss = loss
        self._call: Call | None = None
        self._repeats = False
        self._hook = model.register_forward_pre_hook(self._note, with_kwargs=True)

    def _note(self, _model: torch.nn.Module, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Keeps the inputs of a pass that is differentiated; evaluation passes are not."""
        if torch.is_grad_enabled() and not self._repeats:
            self._call = (arguments, named, random_states(list(self._model.parameters())))

    @property
    def has_seen(self) -> bool:
        """Whether the model has made a pass that can be repeated."""
        return self._call is not None

    def closure(self) -> Tensor:
        """The loss of the last pass, once more; the generators are left as they were."""
        if self._call is None:
            raise RuntimeError("step() without a closure: the watched model has made no forward pass")
        arguments, named, random = self._call
        after = random_states(list(self._model.parameters()))
        set_random_states(random)
        self._repeats = True
        try:
            return self._loss(self._model(*arguments, **named))
        finally:
            self._repeats = False
            set_random_states(after)

    def released(self) -> None:
        """The model is watched no more."""
        self._hook.remove()


def asks_for_state(closure: Closure | None, watched: Watched | None, groups: Sequence[Group]) -> bool:
    """Whether a step is to make the state of a fresh optimizer and nothing else, as torch.distributed.checkpoint does.

    It sets every lr to 0, every gradient to zero, and steps without a closure.
    """
    alone = closure is None and (watched is None or not watched.has_seen)
    return alone and all(float(group["lr"]) == 0 for group in groups)


def closure_of(closure: Closure | None, watched: Watched | None) -> Closure:
    """The closure of a step: the one that is given, else the pass of the watched model."""
    if closure is not None:
        return closure
    if watched is None:
        raise ValueError(
            "step needs a closure that returns the loss; without one, watch(model, loss=...) repeats the last pass"
        )
    return watched.closure
