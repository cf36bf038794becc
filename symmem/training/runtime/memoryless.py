"""The optimizer without memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch._compile import _disable_dynamo

from .formulas import FirstOrder, Formulas, HigherOrder
from .fused import can_step, fused_step
from .groups import Part
from .higher import higher_step
from .loops import asks_for_state, closure_of
from .noted import note_steps
from .optimizer import GroupOptimizer, Settings, check_higher
from .states import without_memory
from .step import evaluate, update_parameters
from .vectors import Closure


class Memoryless(GroupOptimizer[Formulas]):
    """An optimizer without memory.

    One step is theta <- theta - lr F_straight, with everything at the present theta: the
    update of the optimizer on a past that is a straight line, F + M to first order in lr
    and bounded as the optimizer is. ``history="expansion"`` is theta - lr (F + M).
    ``step(closure)`` takes a closure that returns the loss and does not call backward.
    The groups may differ in every argument. Each counts its own updates n, from 0, also
    one that joins later; the rates that a scheduler gave it enter with its past steps. With
    ``limit=True`` the coefficients are those of n -> infinity. Beyond order 1 the groups may differ in lr alone.

    ``hvp`` is how the Hessian-vector product is made:
    "double-backward" evaluates the closure once;
    "forward-over-reverse" evaluates it again, with dual numbers;
    "central-difference" evaluates it twice more, and needs first derivatives alone;
    "forward-difference" evaluates it once more, with half as many digits as numbers have;
    a function gets the parameters and a direction, two lists, and returns a list.
    A closure that is evaluated again sees the same random numbers of torch; what it
    changes outside, such as the running statistics of BatchNorm, changes again.

    ``kernels`` is the path of a module that ``symmem build`` laid out, such as
    DIR/python/symmem_adamw.py: its compiled kernels make the update where all groups have
    the same n, lr and parameters, and whole tensors of float32 or float64 on the CPU.

    ``max_norm`` bounds the norm of the gradient over all groups, as clip_grad_norm_ in
    torch.nn.utils does; memory is that of the bounded gradient, exactly. Small batches
    are accumulated by a closure that adds up their losses. Mixed precision is bfloat16
    autocast in the closure; there is no GradScaler.

    Of several processes, each with its part of the batch, the loss and its derivatives
    are averaged: over ``process_group``, or over the processes of ``module``, which is the
    model after DistributedDataParallel or fully_shard; after fully_shard it has to be
    given. There differences leave all passes to FSDP2, and the other ways
    keep the parameters unsharded between two passes.

    An opaque function is called with a tensor of the shape of a parameter. Where a
    derivative x, v -> D(x)[v] is not given, torch.func.jvp makes it.
    """

    def __init__(
        self,
        formulas: Formulas,
        params: Any,
        arguments: Mapping[str, Any],
        settings: Settings,
    ) -> None:
        if isinstance(formulas, HigherOrder):
            check_higher(formulas, settings)
        super().__init__(formulas, params, arguments, settings)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """A state of this optimizer, or of PyTorch's: n is the step of its tensors, and the settings here stay."""
        found = without_memory(self.formulas, state_dict, self.param_groups)
        for saved, mine in zip(found["param_groups"], self.param_groups, strict=False):
            self.check_group({**saved, "params": mine["params"]})
        super().load_state_dict(found)

    @_disable_dynamo  # inside torch.compile too a step runs as it is
    @torch.no_grad()
    def step(self, closure: Closure | None = None) -> Tensor | None:  # type: ignore[override]
        """One update of every group; returns the loss before it."""
        if asks_for_state(closure, self._watched, self.param_groups):
            return None  # there is no state to make
        closure = closure_of(closure, self._watched)
        self.check_changes()
        resources, formulas = self.resources(closure), self.formulas
        if isinstance(formulas, HigherOrder):
            loss = higher_step(formulas, self.param_groups, closure, resources, first=not self._tried)
            self._tried = True
            return loss
        assert isinstance(formulas, FirstOrder)
        parts = [Part(formulas, group, place) for place, group in enumerate(self.param_groups)]
        first = formulas.memory is not None and not self._tried
        fused = self.fused()
        if fused is not None and can_step(fused, formulas, parts):
            loss = fused_step(fused, parts, closure, resources, first=first)
        else:
            loss = evaluate(parts, parts, closure, resources, first=first)
            update_parameters(parts)
        self._tried = self._tried or first
        note_steps(parts)
        return loss
