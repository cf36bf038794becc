"""One clear error where PyTorch cannot differentiate a loss as it has to be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor, finfo, is_autocast_enabled
from torch.overrides import TorchFunctionMode

from .vectors import Closure

REENTRANT = "reentrant checkpoints work with backward() alone; use_reentrant=False"
_WAYS_OUT = (
    'Ways out: hvp="central-difference" at order 1, which needs first derivatives alone; '
    "attention inside torch.nn.attention.sdpa_kernel(SDPBackend.MATH); the model as "
    "it was before torch.compile."
)
_HOOK = (
    "which acts again where the gradient is differentiated, so that the Hessian-vector product is not the derivative "
    'of what it makes; use hvp="central-difference", or remove the hook'
)
_NOT_TWICE = (
    "double backward",
    "create_graph=False",
    "not implemented",
    "forward AD",
    "forward mode AD",
)
"""How PyTorch says that an operation has no second derivative."""


@contextmanager
def explained() -> Iterator[None]:
    """What PyTorch says, as what to do."""
    try:
        yield
    except RuntimeError as error:
        words = str(error)
        if "through the graph a second time" in words:
            raise RuntimeError("the closure must not call backward") from error
        if "use_reentrant=True" in words:
            raise RuntimeError(REENTRANT) from error
        if "torch.utils.checkpoint" in words:
            reason = 'checkpoints need hvp="double-backward" or "central-difference"'
            raise RuntimeError(reason) from error
        if any(sign in words for sign in _NOT_TWICE):
            raise not_twice(words.splitlines()[0].rstrip(".")) from error
        raise


def check_loss(loss: object, points: Sequence[Tensor]) -> None:
    """One clear error where what a closure returned is no loss that can be differentiated, or not in the usual way."""
    if not points:
        raise RuntimeError("no parameter of the optimizer requires a gradient: there is nothing to train")
    if not isinstance(loss, Tensor) or not loss.requires_grad:
        raise RuntimeError("the closure has to return the loss with its graph")
    if loss.numel() != 1:
        raise RuntimeError(
            f"the loss has to be one number, and the closure returned the shape {tuple(loss.shape)}"
        )
    if any(p.is_leaf and p._post_accumulate_grad_hooks for p in points):
        raise RuntimeError(
            "a parameter has a post-accumulate-grad hook, and without backward() no .grad is accumulated; "
            'use hvp="central-difference" with a closure that calls backward, or remove the hook'
        )


def check_repeated(loss: Tensor, again: Tensor) -> None:
    """Refuses a closure that has another loss at the same point, beyond what rounding may do to it."""
    one, other = float(loss), float(again)
    rounding = min(max(1e-6, 100 * finfo(loss.dtype).eps), 0.02)
    if abs(one - other) > rounding * max(abs(one), abs(other)):
        raise RuntimeError(
            f"the closure gave the losses {one:g} and {other:g} at the same point, and a product with the Hessian "
            'calls it again: draw the batch outside of it, or use hvp="double-backward", which calls it once'
        )


def not_twice(reason: str) -> RuntimeError:
    """The error for a loss without second derivatives, with the ways out."""
    return RuntimeError(f"the loss cannot be differentiated twice: {reason}. {_WAYS_OUT}")


def check_twice(gradients: Iterable[Tensor]) -> None:
    """Autograd itself leaves out the part of a function that is marked so, and runs a hook twice, without a word."""
    found = operations(gradients)
    if "torch::autograd::Error" in found:
        raise not_twice("a function in the model is marked once_differentiable")
    if "WeightNormInterfaceBackward0" in found:
        raise not_twice("PyTorch's second derivative of weight_norm is not that of its gradient")
    if "BackwardHookFunctionBackward" in found:
        raise RuntimeError(f"a module has a full backward hook, {_HOOK}")


def without_hooks(closure: Closure) -> Closure:
    """The closure, which may not put hooks on tensors inside: they would act on the product, and be no part of it."""

    def checked() -> Tensor:
        with _NoHooks():
            return closure()

    return checked


class _NoHooks(TorchFunctionMode):
    """Refuses hooks on tensors; those that FSDP2 puts on outputs change no gradient."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func is Tensor.register_hook:
            hook = [*args[1:], *(kwargs or {}).values()][0]
            owner = getattr(getattr(hook, "func", hook), "__module__", None) or ""
            if not owner.startswith("torch.distributed."):
                raise RuntimeError(f"the closure puts a hook on a tensor, {_HOOK}")
        return func(*args, **(kwargs or {}))


def without_autocast(closure: Closure) -> Closure:
    """The closure, whose gradients have to have the digits of the parameters."""

    def checked() -> Tensor:
        with _NoAutocast():
            return closure()

    return checked


class _NoAutocast(TorchFunctionMode):
    """Refuses autocast, wherever it was entered."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if is_autocast_enabled("cpu") or is_autocast_enabled("cuda"):
            raise RuntimeError(
                "under autocast gradients have the digits of half precision, and their forward difference is noise; "
                'use hvp="double-backward", or "central-difference" for one digit'
            )
        return func(*args, **(kwargs or {}))


def operations(tensors: Iterable[Tensor]) -> set[str]:
    """The names of the operations in the graph of the tensors."""
    waiting = [tensor.grad_fn for tensor in tensors]
    seen = set()
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting.extend(before for before, _ in node.next_functions)
    return {node.name() for node in seen}
