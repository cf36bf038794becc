"""Functions on the device, in Triton's language: those that a module needs are copied into it, word for word."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl


@triton.jit
def _place(entry, block, BLOCK: tl.constexpr, ALIGNED: tl.constexpr) -> Any:
    """The entries of a tensor that a program works on, and which of them exist."""
    size = tl.load(entry + 1)
    if ALIGNED:
        size = tl.multiple_of(size, 16)
    place = (block - tl.load(entry)) * BLOCK + tl.arange(0, BLOCK)
    return place, place < size


@triton.jit
def _pointer(entry, KIND: tl.constexpr, ALIGNED: tl.constexpr) -> Any:
    """The address in a table as a pointer."""
    pointer = tl.cast(tl.load(entry), tl.pointer_type(KIND))
    if ALIGNED:
        pointer = tl.multiple_of(pointer, 16)
    return pointer


@triton.jit
def _sign(x) -> Any:
    return (x > 0).to(x.dtype) - (x < 0).to(x.dtype)


@triton.jit
def _power(x, y) -> Any:
    return tl.exp(y * tl.log(x))


@triton.jit
def _whole_power(x, TIMES: tl.constexpr) -> Any:
    value = x
    for _ in tl.static_range(TIMES - 1):
        value = value * x
    return value


@triton.jit
def _tan(x) -> Any:
    return tl.sin(x) / tl.cos(x)


@triton.jit
def _cosh(x) -> Any:
    return 0.5 * (tl.exp(x) + tl.exp(-x))


@triton.jit
def _tanh(x) -> Any:
    """A continued fraction of positive terms below 1, the exponential beyond."""
    size = tl.abs(x)
    far = tl.exp(-2.0 * size)
    near = tl.where(size < 1.0, x, 0.0)
    square, below = near * near, tl.full(x.shape, 25.0, x.dtype)
    for k in tl.static_range(12):
        below = (23 - 2 * k) + square / below
    beyond = (1.0 - far) / (1.0 + far)
    return tl.where(size < 1.0, near / below, tl.where(x < 0, -beyond, beyond))


@triton.jit
def _sinh(x) -> Any:
    return _tanh(x) * _cosh(x)


@triton.jit
def _angle(x) -> Any:
    """The arc tangent for sizes up to 1: two halvings, then a continued fraction of positive terms."""
    for _ in tl.static_range(2):
        x = x / (1.0 + tl.sqrt(1.0 + x * x))
    square, below = x * x, tl.full(x.shape, 21.0, x.dtype)
    for k in tl.static_range(10):
        below = (19 - 2 * k) + (10 - k) * (10 - k) * square / below
    return 4.0 * x / below


@triton.jit
def _atan(x) -> Any:
    size = tl.abs(x)
    angle = _angle(tl.where(size > 1.0, 1.0 / size, size))
    angle = tl.where(size > 1.0, 1.5707963267948966 - angle, angle)
    return tl.where(x < 0, -angle, angle)
