"""``kernels="triton"``: the Triton module of an optimizer, derived and loaded from memory, for the runtime.

A step that its kernels have is made by them, one launch for all tensors of a type; every other step (a target, a rate
that changed, groups that differ) is made by the formulas of PyTorch, as without them.
"""

from __future__ import annotations

import importlib
import linecache
from collections.abc import Sequence
from functools import lru_cache

import torch

from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.targets.triton.module import triton_code
from symmem.training.loading import loaded
from symmem.training.runtime.formulas import FirstOrder, Formulas
from symmem.training.runtime.fused import Fused

TRITON = "triton"


def check_kernels(
    optimizer: Optimizer, formulas: Formulas, kernels: str | None, *, keeps_state: bool
) -> None:
    """One line where kernels are asked for that cannot be had."""
    if kernels is None:
        return
    if optimizer.schedule is not None:
        raise ValueError(
            f"kernels = {kernels!r}: those of {optimizer.name} apply its declared schedule, and here the rate "
            "is that of the group; take a declaration without [schedule]"
        )
    if kernels != TRITON:  # a path, which the runtime looks at
        return
    if not isinstance(formulas, FirstOrder):
        raise ValueError(f"kernels = {kernels!r}: {formulas.title} has no kernels at this order and step")
    if keeps_state and any(link.delay for link in formulas.running.chain):
        raise ValueError(
            f"kernels = {kernels!r}: {formulas.title} keeps past values, and has none with memory"
        )
    triton_kernels(optimizer)


def check_devices(parameters: Sequence[torch.Tensor], *, on_triton: bool) -> None:
    """Kernels run on a GPU; in Triton's interpreter on a CPU."""
    if not on_triton:
        return
    wanted = "cpu" if _is_interpreted() else "cuda"
    for parameter in parameters:
        if parameter.device.type != wanted:
            raise ValueError(
                f"kernels = {TRITON!r}: a parameter is on {parameter.device}, and Triton runs on cuda, or on a "
                "CPU with TRITON_INTERPRET=1 set before it is imported"
            )


def triton_kernels(optimizer: Optimizer) -> Fused:
    """The kernels of an optimizer; DerivationError where it is not entrywise."""
    return _kernels(optimizer, interpreted=_is_interpreted())


@lru_cache(maxsize=64)
def _kernels(optimizer: Optimizer, *, interpreted: bool) -> Fused:  # noqa: ARG001  # Triton decides at import
    code = triton_code(derive(optimizer))
    name = f"symmem_triton_{optimizer.name.replace('-', '_')}"
    # Triton reads the source of its kernels.
    linecache.cache[f"<{name}>"] = (len(code.text), None, code.text.splitlines(keepends=True), f"<{name}>")
    return Fused(loaded(name, code.text), code.known)


def _is_interpreted() -> bool:
    try:
        triton = importlib.import_module("triton")
    except ImportError as error:
        reason = f"{error}; pip install 'symmem[triton]'"
        raise ValueError(f"kernels = {TRITON!r}: Triton is not here: {reason}") from None
    return bool(triton.knobs.runtime.interpret)
