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
ROLES = ("memoryless", "direction", "correction", "step", "straight")
ENDING = ".dylib" if sys.platform == "darwin" else ".so"
STEPS = 2**63  # the library counts steps in 64 bits with a sign
START = ctypes.c_char * 0  # the first byte of an array, without the cost of array.ctypes


def is_tensor(values: Vector) -> bool:
    """Whether it is a tensor of PyTorch, which need not be imported for that."""
    return hasattr(values, "data_ptr")


def array(values: Vector) -> Vector:
    """The values as a NumPy array, without a copy."""
    return values.detach().numpy() if is_tensor(values) else np.asarray(values)


def pointer(values: Vector) -> int:
    """The address of the first entry."""
    return int(values.data_ptr()) if is_tensor(values) else start(values)


def start(values: Vector) -> int:
    """The same of an array."""
    try:
        return ctypes.addressof(START.from_buffer(values))
    except (TypeError, ValueError, BufferError):  # an array that is read-only or not contiguous
        return int(values.ctypes.data)


def step_number(n: Any) -> int:
    """The step as the library takes it; the limit is -1."""
    if n is None:
        return -1
    try:
        step = int(n)
    except (TypeError, ValueError, OverflowError):
        step = -1
    if step != n or not 0 <= step < STEPS:
        raise ValueError(f"n = {n!r}: steps count from 0, below 2**63; n=None is the limit")
    return step


class Kernels:
    """A library's functions of one optimizer; ``place`` is the file of the module that asks for them.

    ``parameters`` are the names of the optimizer's parameters, in the order in which a call gives their values.
    """

    def __init__(self, name: str, prefix: str, library: str, parameters: Sequence[str], place: str) -> None:
        self.name, self.prefix = name, prefix
        self._library, self._place, self._names = library, place, tuple(parameters)
        fields = [(parameter, ctypes.c_double) for parameter in parameters or ["unused"]]
        self.params: Any = type("Params", (ctypes.Structure,), {"_fields_": fields})
        self._functions: dict[Any, dict[str, Any]] = {}

    @cached_property
    def library(self) -> ctypes.CDLL:
        """The library, found from the module's own place, with the types of its functions."""
        above = os.path.dirname(os.path.dirname(os.path.abspath(self._place)))
        inside = os.path.join(above, self._library, "lib")  # of an installed wheel
        folder = inside if os.path.isdir(inside) else os.path.join(above, "lib")
        first, alone = (os.path.join(folder, f"lib{self._library}{more}{ENDING}") for more in ("", "_alone"))
        try:
            library = ctypes.CDLL(first)
        except OSError:  # no OpenMP on this machine: a wheel has a library without threads beside it
            library = ctypes.CDLL(alone if os.path.exists(alone) else first)
        vector, count, step = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64
        given = ctypes.POINTER(self.params)
        tail, late = (count, step, given), (count, step, ctypes.c_double, given)
        types = {"memoryless": (vector,) * 3 + tail, "direction": (vector,) * 3 + tail,
                 "correction": (vector,) * 4 + late, "step": (vector,) * 3 + late,
                 "straight": (vector,) * 4 + late}  # fmt: skip
        results: dict[str, tuple[tuple[Any, ...], Any]] = {}
        for suffix in SUFFIXES.values():
            results |= {f"{name}_{suffix}": (given, ctypes.c_int) for name, given in types.items()}
        results |= {
            "params_size": ((), count),
            "directions": ((step,), count),
            "message": ((ctypes.c_int,), ctypes.c_char_p),
        }
        results |= {"name": ((), ctypes.c_char_p), "version": ((), ctypes.c_char_p)}
        for name, (given, result) in results.items():
            function = getattr(library, f"{self.prefix}_{name}")
            function.argtypes, function.restype = given, result
        if getattr(library, f"{self.prefix}_params_size")() != ctypes.sizeof(self.params):
            raise ImportError(
                f"{self.name}: the library {library._name} has other parameters; build it again"
            )
        return library

    def symbol(self, name: str) -> Any:
        """A function of the library, by its name without the prefix."""
        return getattr(self.library, f"{self.prefix}_{name}")

    def version(self) -> str:
        """The version of symmem that wrote the library."""
        return str(self.symbol("version")().decode())

    def functions(self, dtype: Any) -> dict[str, Any]:
        """The functions of the library on vectors of a type, by their roles; they are looked up once."""
        found = self._functions.get(dtype)
        if found is None:
            suffix = SUFFIXES.get(str(dtype).rpartition(".")[2])
            if suffix is None:
                raise TypeError(f"theta has the type {dtype}, not float32 or float64")
            found = self._functions[dtype] = {role: self.symbol(f"{role}_{suffix}") for role in ROLES}
        return found

    @cached_property
    def products(self) -> tuple[int, int]:
        """How many products with the Hessian a step asks for: at a finite n, and in the limit."""
        directions = self.symbol("directions")
        return int(directions(0)), int(directions(-1))

    def packed(self, parameters: Sequence[float]) -> Any:
        """The values of all parameters, as the library takes them."""
        if len(parameters) != len(self._names):
            names = ", ".join(self._names) or "none"
            raise ValueError(f"{self.name}: {len(parameters)} parameters, not {len(self._names)} ({names})")
        return self.params(*parameters)

    def call(self, theta: Vector, n: int | None, *parameters: float) -> CheckedCall:
        """A call at theta and step n; the limit is None."""
        return CheckedCall(self, theta, n, parameters)


class CheckedCall:
    """theta and the parameters of a call, checked, and vectors that are like theta."""

    def __init__(self, kernels: Kernels, theta: Vector, n: int | None, parameters: Sequence[float]) -> None:
        self._kernels = kernels
        self._given = theta
        self._n = step_number(n)
        self._params = kernels.packed(parameters)
        self._is_tensor = is_tensor(theta)
        if self._is_tensor:
            if theta.device.type != "cpu":
                raise TypeError(f"theta is on {theta.device}, not on the CPU")
            self._theta, self._size = theta.detach().contiguous(), theta.numel()
        else:
            if type(theta) is not np.ndarray or not theta.flags.c_contiguous or theta.dtype.kind != "f":
                kind = np.asarray(theta).dtype
                theta = np.asarray(theta, dtype=float if kind.kind in "biu" else kind, order="C")
            self._theta, self._size = theta, theta.size
        self._functions = kernels.functions(self._theta.dtype)
        self._count = kernels.products[self._n < 0]
        self._several = (self._count, *self._theta.shape)
        self._pointer = pointer if self._is_tensor else start
        self._at = self._pointer(self._theta)
        self._bytes = self._size * self._theta.itemsize

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
        return self._into(out, "correction", self._like(g), self._like(hv, self._several), rate=lr)

    def step_from(self, g: Vector, hv: Vector, lr: float, out: Vector) -> Vector:
        """The step from a gradient and Hessian-vector products that are there."""
        return self._step(out, self._like(g), self._like(hv, self._several), lr)

    def straight_from(self, g: Vector, hv: Vector, lr: float, out: Vector) -> Vector:
        """The update on the straight-line history from a gradient and products that are there."""
        return self._into(out, "straight", self._like(g), self._like(hv, self._several), rate=lr)

    def _like(self, values: Vector, shape: tuple[int, ...] | None = None) -> Vector:
        """What a function of the caller's returned, as a vector like theta."""
        theta = self._theta
        shape = theta.shape if shape is None else shape
        if self._is_tensor:
            values = values.detach().to(theta).contiguous()
        elif (
            type(values) is not np.ndarray or values.dtype is not theta.dtype or not values.flags.c_contiguous
        ):
            values = np.asarray(array(values), dtype=theta.dtype, order="C")
        if values.shape != shape:
            raise ValueError(f"a function returned {tuple(values.shape)}, not {tuple(shape)}")
        return values

    def _directions(self, g: Vector) -> Vector:
        """The vectors whose products with the Hessian are needed, on a new first axis."""
        found = self._empty(self._several)
        self._run("direction", self._at, self._pointer(g), self._pointer(found))
        return found

    def _products(self, hvp: Product, g: Vector) -> Vector:
        """The products of the directions with the Hessian, one after another."""
        directions = self._directions(g)
        if self._count == 1:
            return self._like(hvp(self._given, directions[0]))
        found = self._empty(directions.shape)
        for place, vector in zip(found, directions, strict=True):
            place[...] = self._like(hvp(self._given, vector))
        return found

    def _into(
        self, out: Vector, role: str, g: Vector, *products: Vector, rate: float | None = None
    ) -> Vector:
        """The result of a function, in ``out`` if there is one; it may be an input that is one vector."""
        starts = [self._at, self._pointer(g), *map(self._pointer, products)]
        ones = 2 if self._count > 1 else 3
        at = None if out is None else self._place(out, starts[:ones], starts[ones:])
        target = self._empty(self._theta.shape) if at is None else out
        self._run(role, *starts, self._pointer(target) if at is None else at, rate=rate)
        return self._delivered(out, target)

    def _step(self, out: Vector, g: Vector, products: Vector, rate: float) -> Vector:
        """The step, from a copy of theta in ``out``, or in place where ``out`` is theta."""
        starts = [self._pointer(g), self._pointer(products)]
        at = None if out is None else self._place(out, (self._at,), starts)
        target = self._empty(self._theta.shape) if at is None else out
        at = self._pointer(target) if at is None else at
        if at != self._at:
            (target.detach() if self._is_tensor else target)[...] = self._theta
        self._run("step", at, *starts, rate=rate)
        return self._delivered(out, target)

    def _place(self, out: Vector, may_be: Sequence[int], apart: Sequence[int]) -> int | None:
        """Where the kernel writes: the caller's vector where it is whole, and is an input or apart from it.

        None is a new vector.  ``apart`` are vectors, the last one several, that the result may not even be.
        """
        theta = self._theta
        if is_tensor(out) is not self._is_tensor or not (self._is_tensor or isinstance(out, np.ndarray)):
            raise TypeError(f"out is a {type(out).__name__}, not like theta")
        if out.shape != theta.shape or out.dtype != theta.dtype:
            raise ValueError(f"out is not like theta: {theta.dtype}, {tuple(theta.shape)}")
        if not self._is_tensor and not out.flags.writeable:
            raise ValueError("out is read-only; give an array that can be written")
        if not (out.is_contiguous() if self._is_tensor else out.flags.c_contiguous):
            return None
        at, length = self._pointer(out), self._bytes
        for other in may_be:
            if at != other and abs(at - other) < length:
                return None
        end = max(self._count, 1) * length
        return None if any(other - length < at < other + end for other in apart) else at

    def _delivered(self, out: Vector, target: Vector) -> Vector:
        """The result where the caller wants it; who keeps a tensor for its gradient sees that it was changed."""
        if out is None:
            return target
        if out is not target:
            (out.detach() if self._is_tensor else out)[...] = target
        elif self._is_tensor and not out.is_inference():
            sys.modules["torch"].autograd.graph.increment_version(out)
        return out

    def _empty(self, shape: tuple[int, ...]) -> Vector:
        theta = self._theta
        return theta.new_empty(shape) if self._is_tensor else np.empty(shape, theta.dtype)

    def _run(self, role: str, *addresses: int, rate: float | None = None) -> None:
        function, params = self._functions[role], ctypes.byref(self._params)
        rates = () if rate is None else (rate,)
        status = function(*addresses, self._size, self._n, *rates, params)
        if status != 0:
            raise ValueError(self._kernels.symbol("message")(status).decode())
