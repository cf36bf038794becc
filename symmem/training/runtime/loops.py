"""Training loops as people have them: a step without a closure, and what a checkpoint asks of a fresh optimizer.

``step()`` without a closure repeats the last forward pass of a watched model, with its inputs, its random numbers and
its autocast; buffers, such as the averages of batch normalisation, stay as the pass of the loop left them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .formulas import Group
from .random_state import States, random_states, set_random_states
from .vectors import Closure, Vectors


@dataclass(frozen=True)
class Pass:
    """A forward pass: what it was called with, and the random numbers and the autocast in which it was."""

    arguments: Sequence[Any]
    named: Mapping[str, Any]
    random: States
    casts: tuple[tuple[str, torch.dtype, bool], ...]


class Watched:
    """A model whose last forward pass can be evaluated again; ``loss`` makes the loss of its output."""

    def __init__(self, model: torch.nn.Module, loss: Callable[[Any], Tensor]) -> None:
        self._model = model
        self._loss = loss
        self._call: Pass | None = None
        self._repeats = False
        self._told = False
        self._hook = model.register_forward_pre_hook(self._note, with_kwargs=True)

    def _note(self, _model: torch.nn.Module, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Keeps the inputs of a pass that is differentiated; evaluation passes are not."""
        if torch.is_grad_enabled() and not self._repeats:
            parameters = list(self._model.parameters())
            devices = sorted({"cpu", *(p.device.type for p in parameters)} - {"meta"})
            casts = tuple((x, torch.get_autocast_dtype(x), torch.is_autocast_enabled(x)) for x in devices)
            self._call = Pass(arguments, named, random_states(parameters), casts)

    @property
    def has_seen(self) -> bool:
        """Whether the model has made a pass that can be repeated."""
        return self._call is not None

    def closure(self) -> Tensor:
        """The loss of the last pass, once more; generators and buffers are left as they were."""
        if self._call is None:
            raise RuntimeError("step() without a closure: the watched model has made no forward pass")
        after = random_states(list(self._model.parameters()))
        set_random_states(self._call.random)
        self._repeats = True
        try:
            with ExitStack() as stack:
                stack.enter_context(_kept_buffers(self._model))
                for device, dtype, enabled in self._call.casts:
                    stack.enter_context(torch.autocast(device, dtype, enabled))
                return self._loss(self._model(*self._call.arguments, **self._call.named))
        finally:
            self._repeats = False
            set_random_states(after)

    def compare(self, parameters: Sequence[Tensor], gradients: Vectors) -> None:
        """A warning, once, where the loop left another gradient in ``.grad`` than that of the pass repeated here.

        It clipped, added up micro-batches or changed the loss, and none of this is seen.  What calls no backward
        leaves none; the pieces of a sharded tensor are not looked at.
        """
        pairs = [
            (p.grad, g)
            for p, g in zip(parameters, gradients, strict=True)
            if type(p.grad) is Tensor and type(g) is Tensor and p.grad.layout == torch.strided
        ]
        if self._told or not pairs:
            return
        away, size = _square([mine - g for mine, g in pairs]), _square([g for _, g in pairs])
        unit = max(torch.finfo(g.dtype).eps for _, g in pairs)
        if self._casts():
            unit = max(unit, torch.finfo(torch.bfloat16).eps)
        if away > unit ** (2 / 3) * size:
            self._told = True
            words = f"watch: the gradient in .grad is {(away / size) ** 0.5 if size else float('inf'):.2g} of its size "
            words += (
                "away from that of the last pass, which the step takes: what a loop clips or adds up is not seen; "
                "use max_norm=, or a closure that adds up its micro-batches"
            )
            warnings.warn(words, stacklevel=5)

    def _casts(self) -> bool:
        return self._call is not None and any(enabled for _, _, enabled in self._call.casts)

    def released(self) -> None:
        """The model is watched no more."""
        self._hook.remove()


def _square(tensors: Sequence[Tensor]) -> float:
    """The sum of the squares of all entries, waited for once."""
    parts = [x.float().square().sum() for x in tensors]
    return float(torch.stack([x.to(parts[0].device) for x in parts]).sum())


@contextmanager
def _kept_buffers(model: torch.nn.Module) -> Iterator[None]:
    """The buffers of a model are afterwards what they were: the same tensors, with the same values."""
    found = [
        (module, name, buffer, buffer.detach().clone())
        for module in model.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None
    ]
    try:
        yield
    finally:
        for module, name, buffer, value in found:
            # Past autograd, to which nothing happened: a graph that needs a buffer saw what the kernel saw.
            buffer.data.copy_(value)
            module._buffers[name] = buffer


def asks_for_state(closure: Closure | None, watched: Watched | None, groups: Sequence[Group]) -> bool:
    """Whether a step is to make the state of a fresh optimizer and nothing else, as torch.distributed.checkpoint does.

    It sets every lr to 0, every gradient to zero, and steps without a closure.
    """
    alone = closure is None and (watched is None or not watched.has_seen)
    return alone and all(float(group["lr"]) == 0 for group in groups)


def closure_of(closure: Closure | None, watched: Watched | None) -> Closure:
    """The closure of a step: the one that is given, else the pass of the watched model."""
    if closure is not None and not callable(closure):
        raise TypeError(f"step takes a closure that returns the loss, and not a {type(closure).__name__}")
    if closure is not None:
        return closure
    if watched is None:
        raise ValueError(
            "step needs a closure that returns the loss; without one, watch(model, loss=...) repeats the last pass"
        )
    return watched.closure
