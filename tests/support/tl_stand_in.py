"""A stand-in for Triton: its jit and the few functions of its language that emitted kernels call, over torch.

A kernel runs program by program on addresses in memory, as Triton's interpreter runs it; what a mask leaves out is NaN.
The tests under ``prove`` hold both against the same numbers.
"""

from __future__ import annotations

import ctypes
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch


@dataclass(frozen=True)
class Pointer:
    """Places in memory behind an address."""

    address: int
    kind: torch.dtype
    places: Any = 0

    def __add__(self, more: Any) -> Pointer:
        return replace(self, places=self.places + more)

    def memory(self, places: torch.Tensor) -> torch.Tensor:
        size = (int(places.max()) + 1) * self.kind.itemsize
        return torch.frombuffer((ctypes.c_char * size).from_address(self.address), dtype=self.kind)


class Jit:
    """A kernel, or a function that kernels call."""

    running = 0

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *given: Any) -> Any:
        return self.function(*given)

    def __getitem__(self, grid: tuple[int]) -> Callable[..., None]:
        def run(*given: Any, num_warps: int, **settings: Any) -> None:
            assert num_warps in (1, 2, 4, 8)
            seen = [Pointer(x.data_ptr(), x.dtype) if isinstance(x, torch.Tensor) else x for x in given]
            for Jit.running in range(*grid):
                self.function(*seen, **settings)

        return run


def load(pointer: Pointer, mask: torch.Tensor | None = None) -> torch.Tensor:
    places = torch.as_tensor(pointer.places)
    if mask is None:
        return pointer.memory(places)[places]
    found = torch.full(places.shape, torch.nan, dtype=pointer.kind)
    found[mask] = pointer.memory(places[mask])[places[mask]]
    return found


def store(pointer: Pointer, value: torch.Tensor, mask: torch.Tensor) -> None:
    assert value.dtype == pointer.kind
    pointer.memory(pointer.places[mask])[pointer.places[mask]] = value[mask]


def cast(value: torch.Tensor, kind: Any) -> Any:
    return Pointer(int(value), kind[1]) if isinstance(kind, tuple) else value.to(kind)


def language() -> types.ModuleType:
    made = types.ModuleType("triton.language")
    own = ("abs", "sqrt", "exp", "log", "sin", "cos", "erf", "where", "arange")
    made.__dict__.update({name: getattr(torch, name) for name in own})
    kinds = ("float64", "float32", "bfloat16", "float16", "int32", "int64")
    made.__dict__.update({name: getattr(torch, name) for name in kinds})
    made.__dict__.update(load=load, store=store, cast=cast, static_range=range, constexpr=object)
    made.program_id = lambda axis: Jit.running
    made.pointer_type = lambda kind: ("pointer", kind)
    made.multiple_of = lambda value, divisor: value
    made.full = lambda shape, value, kind: torch.full(shape, float(value), dtype=kind)
    made.minimum = lambda x, y, nan: torch.minimum(x, torch.as_tensor(y))
    made.maximum = lambda x, y, nan: torch.maximum(x, torch.as_tensor(y))
    made.PropagateNan = types.SimpleNamespace(ALL=None)
    return made


def modules() -> dict[str, types.ModuleType]:
    """What ``import triton`` and ``import triton.language`` find."""
    made = types.ModuleType("triton")
    made.jit, made.language = Jit, language()
    made.knobs = types.SimpleNamespace(runtime=types.SimpleNamespace(interpret=True))
    return {"triton": made, "triton.language": made.language}
