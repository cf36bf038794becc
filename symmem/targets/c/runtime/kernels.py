"""The compiled kernels of one optimizer, by ctypes, for NumPy arrays and for CPU tensors of PyTorch.

A copy of this file stands beside the Python modules of a built library; it imports nothing of symmem.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

Vector = Any
"""A NumPy array or a CPU tensor of PyTorch, which is not imported here."""
Gradient = Callable[[Vector], Vector]
Product = Callable[[Vector, Vector], Vector]
SUFFIXES = {"float32": "f32", "float64": "f64"}
ENDING = ".dylib" if sys.platform == "darwin" else ".so"


def is_tensor(values: Vector) -> bool:
    """Whether it is a tensor of PyTorch, which need not be imported for that."""
    return hasattr(values, "data_ptr")


def array(values: Vector) -> Vector:
    """The values as a NumPy array, without a copy."""
    return values.detach().numpy() if is_tensor(values) else np.asarray(values)


def pointer(values: Vector) -> int:
    """The address of the first entry."""
    return int(values.data_ptr() if is_tensor(values) else values.ctypes.data)


def may_overlap(first: Vector, second: Vector) -> bool:
    """Whether the two may lie on the same memory."""
    return bool(np.may_share_memory(array(first), array(second)))


class Kernels:
    """A library's functions of one optimizer; ``place`` is the file of the module that asks for them.

    ``parameters`` are the names of the optimizer's parameters, in the order in which a call gives their values.
    """

    def __init__(self, name: str, prefix: str, library: str, parameters: Sequence[str], place: str) -> None:
        self.name = name
        self.prefix = prefix
        self._library = library
        self._place = place
        fields = [(parameter, ctypes.c_double) for parameter in parameters or ["unused"]]
        self.params: Any = type("Params", (ctypes.Structure,), {"_fields_": fields})

    @cached_property
    def library(self) -> ctypes.CDLL:
        """The library, found from the module's own place, with the types of its functions."""
        folder = os.path.join(os.path.dirname(os.path.abspath(self._place)), os.pardir, "lib")
        library = ctypes.CDLL(os.path.abspath(os.path.join(folder, f"lib{self._library}{ENDING}")))
        vector, count, step = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64
        tail = (count, step, ctypes.POINTER(self.params))
        late = (count, step, ctypes.c_double, ctypes.POINTER(self.params))
        types = {"memoryless": (vector,) * 3 + tail, "direction": (vector,) * 3 + tail,
                 "correction": (vector,) * 4 + late, "step": (vector,) * 3 + late,
                 "straight": (vector,) * 4 + late}  # fmt: skip
        results: dict[str, tuple[tuple[Any, ...], Any]] = {
            f"{name}_{suffix}": (given, ctypes.c_int)
            for name, given in types.items()
            for suffix in SUFFIXES.values()
        }
        results |= {"directions": ((step,), count), "message": ((ctypes.c_int,), ctypes.c_char_p)}
        results |= {"name": ((), ctypes.c_char_p), "version": ((), ctypes.c_char_p)}
        for name, (given, result) in results.items():
            function = getattr(library, f"{self.prefix}_{name}")
            function.argtypes, function.restype = given, result
        return library

    def symbol(self, name: str) -> Any:
        """A function of the library, by its name without the prefix."""
        return getattr(self.library, f"{self.prefix}_{name}")

    def version(self) -> str:
        """The version of symmem that wrote the library."""
        return str(self.symbol("version")().decode())

    def call(self, theta: Vector, n: int | None, *parameters: float) -> CheckedCall:
        """A call at theta and step n; the limit is None."""
        return CheckedCall(self, theta, n, parameters)


class CheckedCall:
    """theta and the parameters of a call, checked, and vectors that are like theta."""

    def __init__(self, kernels: Kernels, theta: Vector, n: int | None, parameters: Sequence[float]) -> None:
        if n is not None and (n != int(n) or n < 0):
            raise ValueError(f"n = {n!r}: steps count from 0; n=None is the limit")
        self._kernels = kernels
        self._given = theta
        self._n = -1 if n is None else int(n)
        self._params = kernels.params(*parameters)
        if is_tensor(theta):
            if theta.device.type != "cpu":
                raise TypeError(f"theta is on {theta.device}, not on the CPU")
            self._theta = theta.detach().contiguous()
        else:
            theta = np.asarray(theta)
            kind = float if theta.dtype.kind in "biu" else theta.dtype
            self._theta = np.asarray(theta, dtype=kind, order="C")
        suffix = SUFFIXES.get(str(self._theta.dtype).rpartition(".")[2])
        if suffix is None:
            raise TypeError(f"theta has the type {theta.dtype}, not float32 or float64")
        self._suffix = suffix

    def memoryless(self, grad: Gradient, out: Vector) -> Vector:
        """``F^(n)(theta)``, written to ``out``."""
        return self._into(out, "memoryless", self._like(grad(self._given)))

    def correction(self, grad: Gradient, hvp: Product, lr: float, out: Vector) -> Vector:
        """``M^(n)(theta)``, h included, written to ``out``."""
        g = self._like(grad(self._given))
        return self._into(out, "correction", g, self._products(hvp, g), rate=lr)

    def step(self, grad: Gradient, hvp: Product, lr: float, out: Vector) -> Vector:
        """``theta - lr (F + M)``, written to ``out``."""
        g = self._like(grad(self._given))
        return self._step(out, g, self._products(hvp, g), lr)

    def straight(self, grad: Gradient, hvp: Product, lr: float, out: Vector) -> Vector:
        """The update on the straight-line history, written to ``out``."""
        g = self._like(grad(self._given))
        return self._into(out, "straight", g, self._products(hvp, g), rate=lr)

    def direction(self, g: Vector) -> Vector:
        """The vectors that the Hessian has to be applied to."""
        return self._directions(self._like(g))

    def correction_from(self, g: Vector, hv: Vector, lr: float, out: Vector) -> Vector:
        """The correction from a gradient and Hessian-vector products that are there."""
        return self._into(out, "correction", self._like(g), self._stack(hv), rate=lr)

    def step_from(self, g: Vector, hv: Vector, lr: float, out: Vector) -> Vector:
        """The step from a gradient and Hessian-vector products that are there."""
        return self._step(out, self._like(g), self._stack(hv), lr)

    def straight_from(self, g: Vector, hv: Vector, lr: float, out: Vector) -> Vector:
        """The update on the straight-line history from a gradient and products that are there."""
        return self._into(out, "straight", self._like(g), self._stack(hv), rate=lr)

    def _like(self, values: Vector, shape: tuple[int, ...] | None = None) -> Vector:
        """What a function of the caller's returned, as a vector like theta."""
        theta = self._theta
        shape = tuple(theta.shape) if shape is None else shape
        if is_tensor(theta):
            values = values.detach().to(theta).contiguous()
        else:
            values = np.asarray(array(values), dtype=theta.dtype, order="C")
        if tuple(values.shape) != shape:
            raise ValueError(f"a function returned {tuple(values.shape)}, not {shape}")
        return values

    def _stack(self, products: Vector) -> Vector:
        return self._like(products, (self._count(), *self._theta.shape))

    def _directions(self, g: Vector) -> Vector:
        """The vectors whose products with the Hessian are needed, on a new first axis."""
        found = self._empty((self._count(), *self._theta.shape))
        self._run("direction", self._theta, g, found)
        return found

    def _products(self, hvp: Product, g: Vector) -> Vector:
        """The products of the directions with the Hessian, one after another."""
        directions = self._directions(g)
        if len(directions) == 1:
            return self._like(hvp(self._given, directions[0]))
        found = self._empty(directions.shape)
        for place, vector in zip(found, directions, strict=True):
            place[...] = self._like(hvp(self._given, vector))
        return found

    def _into(self, out: Vector, function: str, *vectors: Vector, rate: float | None = None) -> Vector:
        """The result of a function, in ``out`` if there is one."""
        target = self._target(out, vectors)
        self._run(function, self._theta, *vectors, target, rate=rate)
        return self._delivered(out, target)

    def _step(self, out: Vector, g: Vector, products: Vector, rate: float) -> Vector:
        """The step, from a copy of theta in ``out``, or in place where ``out`` is theta."""
        target = self._target(out, (g, products))
        if any(may_overlap(target, vector) for vector in (g, products)):
            target = self._empty(self._theta.shape)
        if pointer(target) != pointer(self._theta):
            target[...] = self._theta
        self._run("step", target, g, products, rate=rate)
        return self._delivered(out, target)

    def _target(self, out: Vector, vectors: Sequence[Vector]) -> Vector:
        """Where the kernel writes: the caller's vector if whole, else a new one."""
        theta = self._theta
        if out is None:
            return self._empty(theta.shape)
        if type(out).__name__ != "Parameter" and type(out) is not type(theta):
            raise TypeError(f"out is a {type(out).__name__}, not like theta")
        if out.shape != theta.shape or out.dtype != theta.dtype:
            raise ValueError(f"out is not like theta: {theta.dtype}, {theta.shape}")
        out = out.detach() if is_tensor(out) else out
        whole = out.is_contiguous() if is_tensor(out) else out.flags.c_contiguous
        shifted = any(
            may_overlap(out, vector) and pointer(out) != pointer(vector) for vector in (theta, *vectors)
        )
        return out if whole and not shifted else self._empty(theta.shape)

    def _delivered(self, out: Vector, target: Vector) -> Vector:
        if out is None:
            return target
        if pointer(out) != pointer(target):
            (out.detach() if is_tensor(out) else out)[...] = target
        return out

    def _empty(self, shape: tuple[int, ...]) -> Vector:
        theta = self._theta
        return theta.new_empty(shape) if is_tensor(theta) else np.empty(shape, dtype=theta.dtype)

    def _count(self) -> int:
        return int(self._kernels.symbol("directions")(self._n))

    def _run(self, function: str, *vectors: Vector, rate: float | None = None) -> None:
        kernels = self._kernels
        rates = () if rate is None else (rate,)
        size = int(np.prod(self._theta.shape))
        pointers, params = map(pointer, vectors), ctypes.byref(self._params)
        status = kernels.symbol(f"{function}_{self._suffix}")(*pointers, size, self._n, *rates, params)
        if status != 0:
            raise ValueError(kernels.symbol("message")(status).decode())
