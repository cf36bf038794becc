"""Calls of compiled kernels, checked, on NumPy arrays and on CPU tensors of PyTorch, which is not imported here.

A copy of this file stands beside the Python modules of a built library; it imports nothing of symmem.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Vector = Any
"""A NumPy array or a tensor."""
Gradient = Callable[[Vector], Vector]
Product = Callable[[Vector, Vector], Vector]
START = ctypes.c_char * 0  # the first byte of an array, without the cost of array.ctypes
OVERLAP = 2  # a result overlaps an input without being the same vector


def is_tensor(values: Vector) -> bool:
    """Whether it is a tensor of PyTorch, which need not be imported for that."""
    return hasattr(values, "data_ptr")


def array(values: Vector) -> Vector:
    """The values as a NumPy array, without a copy."""
    return values.detach().numpy() if is_tensor(values) else np.asarray(values)


def pointer(values: Vector) -> Any:
    """The first entry, as the library takes it: an address, or an object of ctypes at it."""
    return values.data_ptr() if is_tensor(values) else start(values)


def start(values: Vector) -> Any:
    """The same of an array."""
    try:
        return START.from_buffer(values)
    except (TypeError, ValueError, BufferError):  # read-only, or of a type that a buffer does not know
        return int(values.ctypes.data)


def whole(name: str, values: Vector) -> Vector:
    """A tensor as the library reads it: real entries one after another, on the CPU, no view that is to be negated."""
    if values.device.type != "cpu":
        raise TypeError(f"{name} is on {values.device}, not on the CPU")
    if values.is_sparse or str(values.layout) != "torch.strided":
        raise TypeError(f"{name} is {values.layout}, not a dense tensor")
    check_real(name, values.dtype, is_complex=values.is_complex())
    return values.detach().resolve_neg().contiguous()


def check_real(name: str, dtype: Any, *, is_complex: bool) -> None:
    """Refuses complex entries, whose imaginary part a conversion would drop."""
    if is_complex:
        raise TypeError(f"{name} is {dtype}: give real numbers")


def address(values: Vector) -> int:
    """The address of the first entry."""
    at = pointer(values)
    return at if isinstance(at, int) else ctypes.addressof(at)


class CheckedCall:
    """theta and the parameters of a call, checked, and vectors that are like theta."""

    __slots__ = ("_at", "_count", "_functions", "_given", "_is_tensor", "_kernels", "_n", "_params",
                 "_pointer", "_shape", "_size", "_theta")  # fmt: skip
    start_of = staticmethod(START.from_buffer)

    def __init__(self, kernels: Any, theta: Vector, n: int | None, parameters: tuple[float, ...]) -> None:
        self._kernels, self._given = kernels, theta
        self._n, self._params, self._count = kernels.settings(n, parameters)
        self._is_tensor = type(theta) is not np.ndarray and is_tensor(theta)
        if self._is_tensor:
            theta = whole("theta", theta)
            self._size, self._pointer = theta.numel(), pointer
        else:
            if type(theta) is not np.ndarray or not theta.flags.c_contiguous or theta.dtype.kind != "f":
                kind = np.asarray(theta).dtype
                theta = np.asarray(theta, dtype=float if kind.kind in "biu" else kind, order="C")
            self._size, self._pointer = theta.size, start
        self._functions = kernels.functions(theta.dtype)
        self._theta, self._shape = theta, theta.shape
        self._at = self._pointer(theta)

    def memoryless(self, grad: Gradient, out: Vector) -> Vector:
        """``F^(n)(theta)``, written to ``out``."""
        return self.memoryless_from(grad(self._given), out)

    def memoryless_from(self, g: Vector, out: Vector) -> Vector:
        """The same from a gradient that is there."""
        return self._into(out, "memoryless", self.like(g))

    def correction(self, grad: Gradient, hvp: Product, lr: float, out: Vector) -> Vector:
        """``M^(n)(theta)``, h included, written to ``out``."""
        g = self.like(grad(self._given))
        return self._into(out, "correction", g, self._products(hvp, g), rates=(lr,))

    def step(self, grad: Gradient, hvp: Product, lr: float, out: Vector) -> Vector:
        """``theta - lr (F + M)``, written to ``out``."""
        g = self.like(grad(self._given))
        return self._step(out, g, self._products(hvp, g), lr)

    def straight(self, grad: Gradient, hvp: Product, lr: float, out: Vector) -> Vector:
        """The update on the straight-line history, written to ``out``."""
        g = self.like(grad(self._given))
        return self._into(out, "straight", g, self._products(hvp, g), rates=(lr,))

    def direction(self, g: Vector) -> Vector:
        """The vectors that the Hessian has to be applied to."""
        return self._directions(self.like(g))

    def correction_from(self, g: Vector, hv: Vector, lr: float, out: Vector) -> Vector:
        """The correction from a gradient and Hessian-vector products that are there."""
        return self._into(out, "correction", self.like(g), self._several(hv), rates=(lr,))

    def step_from(self, g: Vector, hv: Vector, lr: float, out: Vector) -> Vector:
        """The step from a gradient and Hessian-vector products that are there."""
        return self._step(out, self.like(g), self._several(hv), lr)

    def straight_from(self, g: Vector, hv: Vector, lr: float, out: Vector) -> Vector:
        """The update on the straight-line history from a gradient and products that are there."""
        return self._into(out, "straight", self.like(g), self._several(hv), rates=(lr,))

    def initial_memory(self) -> Vector:
        """What the optimizer keeps before its first step: zeros, in float32 beside half precision."""
        shape, kind = (self._kernels.memories, *self._shape), self._kind_of_memory()
        return self._theta.new_zeros(shape, dtype=kind) if self._is_tensor else np.zeros(shape, kind)

    def update(self, g: Vector, memory: Vector, lr: float) -> Vector:
        """A step of the optimizer with its memory: theta and memory change in place."""
        return self._update("update", memory, (self.like(g),), (lr,))

    def corrected_update(self, g: Vector, memory: Vector, hv: Vector, lr: float, strength: float) -> Vector:
        """The same with ``strength * correction`` in it."""
        return self._update("corrected_update", memory, (self.like(g), self._several(hv)), (lr, strength))

    def straight_update(self, g: Vector, memory: Vector, hv: Vector, lr: float, strength: float) -> Vector:
        """The same with ``strength * (straight - memoryless)`` in it."""
        return self._update("straight_update", memory, (self.like(g), self._several(hv)), (lr, strength))

    def _update(
        self, role: str, memory: Vector, vectors: Sequence[Vector], rates: tuple[float, ...]
    ) -> Vector:
        """A step with memory; vectors that are not whole are copied, and the copies brought back."""
        given, theta = self._given, self._theta
        self._check_written("theta", given, self._shape, theta.dtype)
        self._check_written("memory", memory, (self._kernels.memories, *self._shape), self._kind_of_memory())
        kept: Vector = memory.detach().contiguous() if self._is_tensor else np.ascontiguousarray(memory)
        starts = (self._at, *map(self._pointer, vectors), self._pointer(kept))
        status = self._status(role, starts, rates)
        if status == OVERLAP:
            raise ValueError("theta, memory and the other vectors overlap; give each its own room")
        self._check_status(status)
        for own, used in ((memory, kept), (given, theta)):
            is_own = own is used or (self._is_tensor and own.data_ptr() == used.data_ptr())
            self._deliver(own, own if is_own else used)
        return given

    def _kind_of_memory(self) -> Any:
        """The type of the memory: float32 beside half precision."""
        kind = self._theta.dtype
        if kind.itemsize > 2:
            return kind
        return sys.modules["torch"].float32 if self._is_tensor else np.dtype(np.float32)

    def like(self, values: Vector) -> Vector:
        """What a function of the caller's returned, as a vector like theta."""
        return self._shaped(values, self._shape)

    def _several(self, values: Vector) -> Vector:
        """Products with the Hessian, one after another."""
        return self._shaped(values, (self._count, *self._shape))

    def _shaped(self, values: Vector, shape: tuple[int, ...]) -> Vector:
        theta = self._theta
        if self._is_tensor:
            if not is_tensor(values):
                raise TypeError(f"a function returned a {type(values).__name__}, not a tensor like theta")
            values = whole("what a function returned", values).to(theta)
        elif (
            type(values) is not np.ndarray or values.dtype is not theta.dtype or not values.flags.c_contiguous
        ):
            values = np.asarray(array(values))
            check_real("what a function returned", values.dtype, is_complex=values.dtype.kind == "c")
            values = np.asarray(values, dtype=theta.dtype, order="C")
        if values.shape != shape:
            raise ValueError(f"a function returned {tuple(values.shape)}, not {tuple(shape)}")
        return values

    def _directions(self, g: Vector) -> Vector:
        """The vectors whose products with the Hessian are needed, on a new first axis."""
        found = self._empty((self._count, *self._shape))
        self._check_status(self._status("direction", (self._at, self._pointer(g), self._pointer(found))))
        return found

    def _products(self, hvp: Product, g: Vector) -> Vector:
        """The products of the directions with the Hessian, one after another."""
        directions = self._directions(g)
        if self._count == 1:
            return self.like(hvp(self._given, directions[0]))
        found = self._empty(directions.shape)
        for place, vector in zip(found, directions, strict=True):
            place[...] = self.like(hvp(self._given, vector))
        return found

    def _into(
        self, out: Vector, role: str, g: Vector, *products: Vector, rates: tuple[float, ...] = ()
    ) -> Vector:
        """The result of a function, in ``out`` if there is one: by way of a new vector where it overlaps an input."""
        starts = (self._at, self._pointer(g), *map(self._pointer, products))
        if out is not None:
            self._check_out(out)
            if out.is_contiguous() if self._is_tensor else out.flags.c_contiguous:
                status = self._status(role, (*starts, self._pointer(out)), rates)
                if status != OVERLAP:
                    self._check_status(status)
                    return self._deliver(out, out)
        target = self._empty(self._shape)
        self._check_status(self._status(role, (*starts, self._pointer(target)), rates))
        return target if out is None else self._deliver(out, target)

    def _step(self, out: Vector, g: Vector, products: Vector, rate: float) -> Vector:
        """The step, from a copy of theta in ``out``, or in place where ``out`` is theta."""
        target = out
        if out is not None:
            self._check_out(out)
            target = out if out is self._theta or self._is_apart(out, (g, products)) else None
        if target is None:
            target = self._empty(self._shape)
        at = self._pointer(target)
        if target is not self._theta and address(target) != address(self._theta):
            (target.detach() if self._is_tensor else target)[...] = self._theta
        self._check_status(self._status("step", (at, self._pointer(g), self._pointer(products)), (rate,)))
        return target if out is None else self._deliver(out, target)

    def _is_apart(self, out: Vector, others: Sequence[Vector]) -> bool:
        """Whether theta may be copied to ``out``: it is whole, is theta or apart from it, and apart from the rest."""
        if not (out.is_contiguous() if self._is_tensor else out.flags.c_contiguous):
            return False
        at, length, theta = address(out), self._size * self._theta.dtype.itemsize, address(self._theta)
        spans = [(address(each), max(self._count, 1) * length) for each in others]
        if at != theta:
            spans.append((theta, length))
        return not any(begin - length < at < begin + size for begin, size in spans)

    def _check_out(self, out: Vector) -> None:
        self._check_written("out", out, self._shape, self._theta.dtype)

    def _check_written(self, name: str, out: Vector, shape: tuple[int, ...], dtype: Any) -> None:
        if not (is_tensor(out) if self._is_tensor else isinstance(out, np.ndarray)):
            kind = "a tensor" if self._is_tensor else "an array"
            raise TypeError(f"{name} is a {type(out).__name__}, not {kind} that can be written")
        if out.shape != shape or out.dtype != dtype:
            found = f"{name} is {out.dtype}, {tuple(out.shape)}"
            raise ValueError(f"{found}, not like theta: {dtype}, {tuple(shape)}")
        if self._is_tensor:
            if out.device.type != "cpu":
                raise TypeError(f"{name} is on {out.device}, not on the CPU")
            if out.is_neg():
                raise ValueError(f"{name} is a view that is to be negated; give a tensor of its own")
        elif not out.flags.writeable:
            raise ValueError(f"{name} is read-only; give an array that can be written")

    def _deliver(self, out: Vector, target: Vector) -> Vector:
        """The result where the caller wants it; who keeps a tensor for its gradient sees that it was changed."""
        if out is not target:
            (out.detach() if self._is_tensor else out)[...] = target
        elif self._is_tensor and not out.is_inference():
            sys.modules["torch"].autograd.graph.increment_version(out)
        return out

    def _empty(self, shape: tuple[int, ...]) -> Vector:
        theta = self._theta
        return theta.new_empty(shape) if self._is_tensor else np.empty(shape, theta.dtype)

    def _status(self, role: str, starts: tuple[Any, ...], rates: tuple[float, ...] = ()) -> int:
        try:
            return int(self._functions[role](*starts, self._size, self._n, *rates, self._params))
        except ctypes.ArgumentError:
            raise TypeError(f"{' and '.join(map(repr, rates))}: give lr and strength as numbers") from None

    def _check_status(self, status: int) -> None:
        if status != 0:
            raise ValueError(self._kernels.symbol("message")(status).decode())
