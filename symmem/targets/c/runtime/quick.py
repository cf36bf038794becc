"""Calls of compiled kernels on NumPy arrays that are as the library takes them; all others are checked, and converted.

A copy of this file stands beside the Python modules of a built library; it imports nothing of symmem.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

Vector = Any
Function = Any
NOT_AT_ONCE = (KeyError, TypeError, ValueError, AttributeError, BufferError, ctypes.ArgumentError)
"""What says that a call is not as the library takes it, and has to be looked at."""


Settings = tuple[Any, tuple[float, ...]]
"""The step n, and the parameters."""


def memoryless(kernels: Any, vectors: tuple[Vector, Function], settings: Settings, *, out: Vector) -> Vector:
    """``F^(n)(theta)`` of theta and the function grad."""
    theta, grad = vectors
    n, parameters = settings
    if not _is_known(kernels, theta, settings):
        return kernels.call(theta, n, *parameters).memoryless(grad, out)
    g = grad(theta)
    try:
        room = np.empty(theta.shape, theta.dtype) if out is None else out
        if (
            room.dtype is theta.dtype
            and room.shape == theta.shape
            and _run(kernels, "memoryless", (theta, g), settings, room)
        ):
            return room
    except NOT_AT_ONCE:
        pass
    return kernels.call(theta, n, *parameters).memoryless_from(g, out)


def direction(kernels: Any, vectors: tuple[Vector, Vector], settings: Settings) -> Vector:
    """The vectors that the Hessian has to be applied to, of theta and g, on a new first axis."""
    theta, g = vectors
    try:
        found = np.empty((kernels.known_settings[settings][2], *theta.shape), theta.dtype)
        if _run(kernels, "direction", (theta, g), settings, found):
            return found
    except NOT_AT_ONCE:
        pass
    n, parameters = settings
    return kernels.call(theta, n, *parameters).direction(g)


def _run(kernels: Any, role: str, vectors: tuple[Vector, Vector], settings: Settings, room: Vector) -> bool:
    """A function of theta and g that writes to ``room``; False where g is not like theta, or the library refuses."""
    theta, g = vectors
    step, params, _ = kernels.known_settings[settings]
    dtype, start_of = theta.dtype, kernels.start_of
    if g.dtype is not dtype or g.shape != theta.shape:
        return False
    run = kernels.known_functions[dtype][role]
    return bool(run(start_of(theta), start_of(g), start_of(room), theta.size, step, params) == 0)


def _is_known(kernels: Any, theta: Vector, settings: Settings) -> bool:
    """Whether an array of this type has been seen, and these settings: what was checked then is not checked again."""
    try:
        known = settings in kernels.known_settings and theta.dtype in kernels.known_functions
    except NOT_AT_ONCE:
        return False
    return known and type(theta) is np.ndarray


def with_functions(
    kernels: Any,
    role: str,
    vectors: tuple[Vector, Function, Function],
    settings: Settings,
    lr: float,
    *,
    out: Vector,
) -> Vector:
    """``correction``, ``step`` or ``straight`` of theta and the functions grad and hvp, where one product is needed."""
    theta, grad, hvp = vectors
    n, parameters = settings
    if not _is_known(kernels, theta, settings) or kernels.known_settings[settings][2] != 1:
        return getattr(kernels.call(theta, n, *parameters), role)(grad, hvp, lr, out)
    g = grad(theta)
    hv = hvp(theta, direction(kernels, (theta, g), settings)[0])
    if type(hv) is not np.ndarray or hv.shape != theta.shape:
        hv = kernels.call(theta, n, *parameters).like(hv)
    return from_products(kernels, role, (theta, g, hv[None]), settings, lr, out=out)


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
        if g.dtype is dtype and hv.dtype is dtype and g.shape == shape and hv.shape == (count, *shape):
            if role != "step":
                room = np.empty(shape, dtype) if out is None else out
                is_whole = room.dtype is dtype and room.shape == shape
                starts: tuple[Any, ...] = (start_of(theta), start_of(g), start_of(hv), start_of(room))
            else:  # in place, or of a copy; what goes into another vector begins with a copy of theta there
                room = theta.copy() if out is None else theta
                is_whole = out is None or out is theta
                starts = (start_of(room), start_of(g), start_of(hv))
            if is_whole and kernels.known_functions[dtype][role](*starts, theta.size, step, lr, params) == 0:
                return room
    except NOT_AT_ONCE:
        pass
    n, parameters = settings
    return getattr(kernels.call(theta, n, *parameters), f"{role}_from")(g, hv, lr, out)


def with_memory(
    kernels: Any, role: str, vectors: tuple[Vector, ...], settings: Settings, *rates: float
) -> Vector:
    """``update`` of theta, g and memory, or another step with memory, which takes hv too."""
    theta, g, memory, *products = vectors
    try:
        step, params, count = kernels.known_settings[settings]
        dtype, shape, start_of = theta.dtype, theta.shape, kernels.start_of
        is_whole = dtype.itemsize > 2 and g.dtype is dtype and memory.dtype is dtype and g.shape == shape
        for hv in products:
            is_whole = is_whole and hv.dtype is dtype and hv.shape == (count, *shape)
        if is_whole and memory.shape == (kernels.memories, *shape):
            starts = start_of(theta), start_of(g), *map(start_of, products), start_of(memory)
            if kernels.known_functions[dtype][role](*starts, theta.size, step, *rates, params) == 0:
                return theta
    except NOT_AT_ONCE:
        pass
    n, parameters = settings
    return getattr(kernels.call(theta, n, *parameters), role)(*vectors[1:], *rates)
