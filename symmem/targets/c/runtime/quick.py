"""Calls of compiled kernels on vectors that are as the library takes them; all others are checked, and converted.

Every function has NumPy arrays; a step with memory has tensors of PyTorch too, which is not imported here.

A copy of this file stands beside the Python modules of a built library; it imports nothing of symmem.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

Vector = Any
Function = Any
NOT_AT_ONCE = (
    *(KeyError, TypeError, ValueError, AttributeError, BufferError),
    *(RuntimeError, ctypes.ArgumentError),
)
"""What says that a call is not as the library takes it, and has to be looked at."""
FEW = 4096  # entries of which a second copy costs less than a look at what overlaps

Settings = tuple[Any, tuple[float, ...]]
"""The step n, and the parameters."""
Known = tuple[int, Any, int]
"""The same as the library takes them, and how many products with the Hessian they ask for."""
Starts = tuple[Any, ...]
"""Where vectors begin."""


def memoryless(kernels: Any, vectors: tuple[Vector, Function], settings: Settings, *, out: Vector) -> Vector:
    """``F^(n)(theta)`` of theta and the function grad."""
    theta, grad = vectors
    known = kernels.settings(*settings)
    if not _is_seen(kernels, theta):
        return _checked(kernels, theta, settings).memoryless(grad, out)
    g = grad(theta)
    try:
        room = np.empty(theta.shape, theta.dtype) if out is None else out
        is_like = room.dtype is theta.dtype and room.shape == theta.shape
        if is_like and _run(kernels, "memoryless", (theta, g), known, room):
            return room
    except NOT_AT_ONCE:
        pass
    return _checked(kernels, theta, settings).memoryless_from(g, out)


def direction(kernels: Any, vectors: tuple[Vector, Vector], settings: Settings) -> Vector:
    """The vectors that the Hessian has to be applied to, of theta and g, on a new first axis."""
    theta, g = vectors
    known = kernels.settings(*settings)
    try:
        found = np.empty((known[2], *theta.shape), theta.dtype)
        if _run(kernels, "direction", (theta, g), known, found):
            return found
    except NOT_AT_ONCE:
        pass
    return _checked(kernels, theta, settings).direction(g)


def _run(
    kernels: Any, role: str, vectors: tuple[Vector, Vector], known: Known, room: Vector
) -> Starts | None:
    """A function of theta and g that writes to ``room``; where theta and g begin.

    None where g is not like theta, or the library refuses.
    """
    theta, g = vectors
    dtype, start_of = theta.dtype, kernels.start_of
    if g.dtype is not dtype or g.shape != theta.shape:
        return None
    starts, (step, params, _) = (start_of(theta), start_of(g)), known
    status = kernels.known_functions[dtype][role](*starts, start_of(room), theta.size, step, params)
    return starts if status == 0 else None


def _checked(kernels: Any, theta: Vector, settings: Settings) -> Any:
    """A call at theta that looks at everything, and converts what is not as the library takes it."""
    n, parameters = settings
    return kernels.call(theta, n, *parameters)


def _is_seen(kernels: Any, theta: Vector) -> bool:
    """Whether this is an array of a type that has been seen."""
    return type(theta) is np.ndarray and theta.dtype in kernels.known_functions


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
    known = kernels.settings(*settings)
    if known[2] != 1 or not _is_seen(kernels, theta):
        return getattr(_checked(kernels, theta, settings), role)(grad, hvp, lr, out)
    g, shape, dtype = grad(theta), theta.shape, theta.dtype
    room = np.empty(shape, dtype)
    try:
        starts = _run(kernels, "direction", (theta, g), known, room)
    except NOT_AT_ONCE:
        starts = None
    hv = hvp(theta, room if starts else _checked(kernels, theta, settings).direction(g)[0])
    try:
        if starts and hv.dtype is dtype and hv.shape == shape:
            starts = *starts, kernels.start_of(hv)
            found = _written(kernels, role, theta, starts, (known, lr, out))
            if found is not None:
                return found
    except NOT_AT_ONCE:
        pass
    call = _checked(kernels, theta, settings)
    return getattr(call, f"{role}_from")(g, call.like(hv)[None], lr, out)


def from_products(
    kernels: Any,
    role: str,
    vectors: tuple[Vector, Vector, Vector],
    settings: Settings,
    lr: float,
    *,
    out: Vector,
) -> Vector:
    """``correction``, ``step`` or ``straight`` of theta, g and hv: at once where all are whole arrays, else checked."""
    theta, g, hv = vectors
    known = kernels.settings(*settings)
    try:
        dtype, shape = theta.dtype, theta.shape
        if g.dtype is dtype and hv.dtype is dtype and g.shape == shape and hv.shape == (known[2], *shape):
            starts = (*map(kernels.start_of, vectors),)
            found = _written(kernels, role, theta, starts, (known, lr, out))
            if found is not None:
                return found
    except NOT_AT_ONCE:
        pass
    return getattr(_checked(kernels, theta, settings), f"{role}_from")(g, hv, lr, out)


def _written(
    kernels: Any, role: str, theta: Vector, starts: Starts, rest: tuple[Known, float, Vector]
) -> Vector:
    """The result at theta, of vectors of its type that begin at ``starts``; ``rest`` has lr and out.

    None where the library refuses, or where ``out`` has to be looked at.  A buffer is only had of an array that is
    whole and can be written; the library itself sees what overlaps.
    """
    ((step, params, _), lr, out), start_of = rest, kernels.start_of
    dtype, size, is_own = theta.dtype, theta.size, out is None or out is theta
    if not is_own and (out.dtype is not dtype or out.shape != theta.shape):
        return None
    run = kernels.known_functions[dtype][role]
    if role != "step":
        room = np.empty(theta.shape, dtype) if out is None else out
        return room if run(*starts, start_of(room), size, step, lr, params) == 0 else None
    if not is_own and (size > FEW or type(out) is not np.ndarray):
        return None
    room = theta if out is theta else theta.copy()  # it changes in place
    if run(start_of(room), *starts[1:], size, step, lr, params) != 0:
        return None
    if is_own:
        return room
    out[...] = room
    return out


def with_memory(
    kernels: Any, role: str, vectors: tuple[Vector, ...], settings: Settings, *rates: float
) -> Vector:
    """``update`` of theta, g and memory, or another step with memory, which takes hv too."""
    theta, g, memory, *products = vectors
    step, params, count = kernels.settings(*settings)
    try:
        is_array = type(theta) is np.ndarray
        dtype, shape = theta.dtype, theta.shape
        is_whole = dtype.itemsize > 2 and g.dtype is dtype and memory.dtype is dtype and g.shape == shape
        for hv in products:
            is_whole = is_whole and hv.dtype is dtype and hv.shape == (count, *shape)
        if is_whole and memory.shape == (kernels.memories, *shape):
            start_of, size = (kernels.start_of, theta.size) if is_array else (_address, theta.numel())
            starts = start_of(theta), start_of(g), *map(start_of, products), start_of(memory)
            if kernels.known_functions[dtype][role](*starts, size, step, *rates, params) == 0:
                if not is_array:
                    _tell_of_change(theta)
                    _tell_of_change(memory)
                return theta
    except NOT_AT_ONCE:
        pass
    return getattr(_checked(kernels, theta, settings), role)(*vectors[1:], *rates)


def _address(values: Vector) -> int:
    """Where the entries of a tensor begin; TypeError where they do not lie one after the other in this memory."""
    torch = sys.modules["torch"]
    is_plain = type(values) in (torch.Tensor, torch.nn.Parameter) and values.is_cpu
    if not is_plain or not values.is_contiguous() or values.is_neg() or values.is_inference():
        raise TypeError
    return int(values.data_ptr())


def _tell_of_change(values: Vector) -> None:
    """Who keeps a tensor for its gradient sees that it was changed."""
    sys.modules["torch"].autograd.graph.increment_version(values)
