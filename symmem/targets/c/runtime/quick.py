"""Calls of compiled kernels on NumPy arrays that are as the library takes them; all others are checked, and converted.

A copy of this file stands beside the Python modules of a built library; it imports nothing of symmem.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

Vector = Any
NOT_AT_ONCE = (KeyError, TypeError, ValueError, AttributeError, BufferError, ctypes.ArgumentError)
"""What says that a call is not as the library takes it, and has to be looked at."""


Settings = tuple[Any, tuple[float, ...]]
"""The step n, and the parameters."""


def from_products(
    kernels: Any,
    role: str,
    vectors: tuple[Vector, Vector, Vector],
    settings: Settings,
    lr: float,
    *,
    out: Vector,
) -> Vector:
    """``correction``, ``step`` or ``straight`` of theta, g and hv: at once where all are whole arrays, else checked.

    A buffer is only had of an array that is whole and can be written; the library itself sees what overlaps.
    """
    theta, g, hv = vectors
    try:
        step, params, count = kernels.known_settings[settings]
        dtype, shape, start_of = theta.dtype, theta.shape, kernels.start_of
        room: Vector = out
        starts: tuple[Any, ...] = (start_of(theta), start_of(g), start_of(hv))
        if g.dtype is dtype and hv.dtype is dtype and g.shape == shape and hv.shape == (count, *shape):
            if role == "step" and out is None:
                room = theta.copy()
                starts = (start_of(room), *starts[1:])
            elif role != "step":
                room = np.empty(shape, dtype) if out is None else out
                starts = (*starts, start_of(room))
            # A step into another vector begins with a copy of theta there.
            if (
                room.dtype is dtype
                and room.shape == shape
                and (role != "step" or out is None or out is theta)
            ):
                run = kernels.known_functions[dtype][role]
                if run(*starts, theta.size, step, lr, params) == 0:
                    return room
    except NOT_AT_ONCE:
        pass
    n, parameters = settings
    return getattr(kernels.call(theta, n, *parameters), f"{role}_from")(g, hv, lr, out)


def with_memory(
    kernels: Any, vectors: tuple[Vector, Vector, Vector], settings: Settings, lr: float
) -> Vector:
    """``update`` of theta, g and memory, in the same way."""
    theta, g, memory = vectors
    try:
        step, params, _ = kernels.known_settings[settings]
        dtype, shape, start_of = theta.dtype, theta.shape, kernels.start_of
        is_whole = dtype.itemsize > 2 and g.dtype is dtype and memory.dtype is dtype
        if is_whole and g.shape == shape and memory.shape == (kernels.memories, *shape):
            starts = start_of(theta), start_of(g), start_of(memory)
            if kernels.known_functions[dtype]["update"](*starts, theta.size, step, lr, params) == 0:
                return theta
    except NOT_AT_ONCE:
        pass
    n, parameters = settings
    return kernels.call(theta, n, *parameters).update(g, memory, lr)
