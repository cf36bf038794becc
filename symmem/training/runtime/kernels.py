"""Compiled kernels, those of ``symmem build``, for a step of the runtime: one call and one pass for each tensor.

They are called as Triton's are (:mod:`.fused`), with lists of tensors.  The library keeps the running sums of a tensor
as the rows of one memory, and so does the state here: AdamW's ``exp_avg`` and ``exp_avg_sq`` of a matrix are two views
of one tensor of shape (2, rows, columns).
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from .formulas import FirstOrder, Formulas
from .fused import Kernels, settings_of
from .groups import Part
from .sharding import is_sharded

SERVED = {torch.float32, torch.float64}
FROM_PRODUCTS = {"step": "step_from", "straight": "straight_from"}
"""What the module calls the functions that take products, and not functions of the caller."""


@dataclass(frozen=True)
class Compiled(Kernels):
    """The module of a built library; ``has_finite`` says whether it has M at a step, or in the limit alone."""

    module: Any
    has_finite: bool

    def has(self, name: str, n: float) -> bool:
        """The update from its memory is always there."""
        return name == "update" or math.isinf(n) or self.has_finite

    def serves(self, parts: Sequence[Part]) -> bool:
        """Whole tensors of a CPU, in float32 or float64."""
        return all(
            p.device.type == "cpu" and p.dtype in SERVED and p.is_contiguous() and not is_sharded(p)
            for part in parts
            for p in part.owned
        )

    def arranged(self, sums: Sequence[Tensor]) -> list[Tensor]:
        """The rows of one memory; sums that lie elsewhere, as after loading a state, are copied into a new one."""
        return list(sums) if _are_rows(sums) else [*torch.stack(list(sums))]

    def call(self, name: str, vectors: Sequence[Any], part: Part, n: float, *more: float) -> Any:
        """The function of every tensor in turn."""
        function = getattr(self.module, FROM_PRODUCTS.get(name, name))
        settings = settings_of(function, part, n, *more)
        found = []
        for theta, *others in _by_tensor(*vectors):
            in_place = {"out": theta} if name == "step" else {}
            found.append(function(theta, *others, **settings, **in_place))
        return [*zip(*found, strict=True)] if name == "direction" else found


def _by_tensor(
    thetas: Sequence[Tensor], gradients: Sequence[Tensor], *several: Sequence[Sequence[Tensor]]
) -> Iterator[list[Tensor]]:
    """What a call takes: theta and its gradient, its memory as one tensor, its products as one."""
    for place, (theta, g) in enumerate(zip(thetas, gradients, strict=True)):
        yield [theta, g, *(_as_one([column[place] for column in each], theta) for each in several)]


def _as_one(tensors: Sequence[Tensor], like: Tensor) -> Tensor:
    """The tensors on a new first axis: the memory in which they are rows, else a copy."""
    if not tensors:
        return like.new_empty((0, *like.shape))
    first = tensors[0]
    if not _are_rows(tensors):
        return torch.stack(list(tensors))
    return first.as_strided((len(tensors), *first.shape), (first.numel(), *first.stride()))


def _are_rows(tensors: Sequence[Tensor]) -> bool:
    """Whether the tensors lie one after the other in one memory; someone may have moved or replaced one."""
    if not tensors:
        return True
    first, *others = tensors
    memory = first.untyped_storage().data_ptr()
    return first.is_contiguous() and all(
        x.untyped_storage().data_ptr() == memory
        and x.data_ptr() == first.data_ptr() + k * first.nbytes
        and (x.dtype, x.shape, x.stride()) == (first.dtype, first.shape, first.stride())
        for k, x in enumerate(others, start=1)
    )


def check_kernels(formulas: Formulas, path: str | None, *, keeps_state: bool) -> None:
    """Raises where there is nothing for kernels to do, or where they are those of another optimizer."""
    if path is None:
        return
    title = f"kernels = {path!r}: {formulas.title}"
    if not isinstance(formulas, FirstOrder):
        raise ValueError(f"{title} has no kernels at this order")
    if formulas.opaque:
        raise ValueError(f"{title} has open functions, and no kernels")
    if not keeps_state and formulas.memory is None:
        raise ValueError(f"{title} has no memory to be corrected for")
    if keeps_state and any(link.delay for link in formulas.running.chain):
        raise ValueError(f"{title} keeps past values, and has no kernels with memory")
    module = compiled_kernels(path, formulas).module
    if keeps_state and len(module.initial_memory(torch.zeros(1))) != len(formulas.running.states):
        raise ValueError(f"{title} has no kernels with memory: those act by entries")


def compiled_kernels(path: str, formulas: FirstOrder) -> Compiled:
    """The kernels of an optimizer from the path of their Python module."""
    return Compiled(_module_at(path, formulas.name, formulas.declaration), formulas.has_finite)


@cache
def _module_at(path: str, name: str, declaration: str) -> Any:
    """The module, with its library, if it is that of the same declared formulas."""
    module = _loaded(path)
    if name != module.NAME:
        raise ValueError(f"{path!r} has the kernels of {module.NAME}, not of {name}")
    if declaration != module.DECLARATION:
        raise ValueError(
            f"{path!r} has the kernels of another declaration of {name}, or of one with a schedule: build them from "
            "this one, and start Python again where they were loaded before"
        )
    return module


@cache
def _loaded(path: str) -> Any:
    """The module at a path, with its library."""
    specification = importlib.util.spec_from_file_location("symmem_kernels", path)
    if specification is None or specification.loader is None:
        raise ValueError(
            f"{path!r} is not a Python module, such as DIR/python/symmem_adamw.py of symmem build"
        )
    try:
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        module.version()
    except (OSError, ImportError, SyntaxError) as error:
        raise ValueError(f"{path!r} was not loaded: {error}") from error
    except AttributeError:
        raise ValueError(f"{path!r} is no module of symmem build, or one of an earlier version") from None
    if not hasattr(module, "DECLARATION"):
        raise ValueError(f"{path!r} is a module of an earlier version of symmem build: build it again")
    return module
