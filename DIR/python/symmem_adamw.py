"""AdamW without memory, to order 1, by a compiled library.

Made by symmem 0.1.0 from the optimizer adamw. Do not edit: build it again.

The functions are those of the NumPy module that symmem emits. Vectors are NumPy arrays
or CPU tensors of PyTorch, float32 or float64; contiguous ones are not copied. The
caller's functions get theta as it is given: grad(theta), hvp(theta, v) = D2L(theta)[v].
n counts the steps from 0; n=None is the limit n -> infinity.

`direction`, `correction_from` and `step_from` are the kernels themselves: they take the
gradient, and the products hv of the directions with the Hessian, instead of functions.
`torch_operators()` has them as custom operators of PyTorch.
"""

import ctypes
import functools
import importlib.util
import os
import sys
import types

import numpy as np

NAME = "adamw"
PARAMETERS = ["beta1", "beta2", "eps", "weight_decay"]
MODIFIED_LOSS = "eps -> 0"
_LIBRARY = "symmem_adamw"
_PREFIX = "symmem_adamw"
_SUFFIX = {"float32": "f32", "float64": "f64"}
_HERE = os.path.dirname(os.path.abspath(__file__))


def memoryless(
    theta,
    grad,
    *,
    n=None,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    weight_decay=0.01,
    out=None,
):
    """F^(n)(theta): the update on a constant history."""
    given = _Given(theta, n, beta1, beta2, eps, weight_decay)
    return given.into(out, "memoryless", given.like(grad(theta)))


def correction(
    theta,
    grad,
    hvp,
    *,
    n=None,
    lr,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    weight_decay=0.01,
    out=None,
):
    """lr F_1: what memory adds to the update."""
    given = _Given(theta, n, beta1, beta2, eps, weight_decay)
    g = given.like(grad(theta))
    hv = given.products(hvp, theta, g)
    return given.into(out, "correction", g, hv, rate=lr)


def step(
    theta,
    grad,
    hvp,
    *,
    n=None,
    lr,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    weight_decay=0.01,
    out=None,
):
    """theta - lr * (memoryless + correction)."""
    given = _Given(theta, n, beta1, beta2, eps, weight_decay)
    g = given.like(grad(theta))
    return given.step(out, g, given.products(hvp, theta, g), lr)


def direction(theta, g, *, n=None, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    """The vectors whose products with the Hessian are needed, on a new first axis."""
    given = _Given(theta, n, beta1, beta2, eps, weight_decay)
    return given.directions(given.like(g))


def correction_from(
    theta,
    g,
    hv,
    *,
    n=None,
    lr,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    weight_decay=0.01,
    out=None,
):
    """The correction, from the products hv of the directions with the Hessian."""
    given = _Given(theta, n, beta1, beta2, eps, weight_decay)
    return given.into(out, "correction", given.like(g), given.stack(hv), rate=lr)


def step_from(
    theta,
    g,
    hv,
    *,
    n=None,
    lr,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    weight_decay=0.01,
    out=None,
):
    """The step, from the products hv; out=theta changes theta in place."""
    given = _Given(theta, n, beta1, beta2, eps, weight_decay)
    return given.step(out, given.like(g), given.stack(hv), lr)


def modified_loss(
    theta,
    loss,
    grad,
    *,
    lr,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    weight_decay=0.01,
):
    """The loss whose preconditioned gradient step this is."""
    return _formulas().modified_loss(
        _array(theta),
        lambda _: float(loss(theta)),
        lambda _: _array(grad(theta)),
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        weight_decay=weight_decay,
    )


def preconditioner(theta, grad, *, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    """P of the preconditioned gradient step, as a NumPy array."""
    return _formulas().preconditioner(
        _array(theta),
        lambda _: _array(grad(theta)),
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        weight_decay=weight_decay,
    )


def decay(*, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    """The decay beside the preconditioned gradient."""
    return _formulas().decay(
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        weight_decay=weight_decay,
    )


def version():
    """The version of symmem that wrote the library."""
    return _symbol("version")().decode()


class _Params(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in PARAMETERS or ["unused"]]


@functools.cache
def _library():
    ending = ".dylib" if sys.platform == "darwin" else ".so"
    path = os.path.join(_HERE, os.pardir, "lib", f"lib{_LIBRARY}{ending}")
    library = ctypes.CDLL(os.path.abspath(path))
    vector, count, step = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64
    tail = (count, step, ctypes.POINTER(_Params))
    late = (count, step, ctypes.c_double, ctypes.POINTER(_Params))
    for suffix in _SUFFIX.values():
        for name, types_ in (
            ("memoryless", (vector,) * 3 + tail),
            ("direction", (vector,) * 3 + tail),
            ("correction", (vector,) * 4 + late),
            ("step", (vector,) * 3 + late),
        ):
            function = getattr(library, f"{_PREFIX}_{name}_{suffix}")
            function.argtypes, function.restype = types_, ctypes.c_int
    directions = getattr(library, f"{_PREFIX}_directions")
    directions.argtypes, directions.restype = (step,), count
    for name, types_ in (("name", ()), ("version", ()), ("message", (ctypes.c_int,))):
        function = getattr(library, f"{_PREFIX}_{name}")
        function.argtypes, function.restype = types_, ctypes.c_char_p
    return library


def _symbol(name):
    return getattr(_library(), f"{_PREFIX}_{name}")


@functools.cache
def _formulas():
    """The emitted NumPy module beside this one."""
    name = f"_{_PREFIX}"
    path = os.path.join(_HERE, f"{name}.py")
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def _is_tensor(values):
    return hasattr(values, "data_ptr")


def _array(values):
    return values.detach().numpy() if _is_tensor(values) else np.asarray(values)


class _Given:
    """theta and the parameters of a call, checked, and vectors that are like theta."""

    def __init__(self, theta, n, *parameters):
        if n is not None and (n != int(n) or n < 0):
            raise ValueError(f"n = {n!r}: steps count from 0; n=None is the limit")
        self._n = -1 if n is None else int(n)
        self._params = _Params(*parameters)
        if _is_tensor(theta):
            if theta.device.type != "cpu":
                raise TypeError(f"theta is on {theta.device}, not on the CPU")
            self._theta = theta.detach().contiguous()
        else:
            theta = np.asarray(theta)
            kind = float if theta.dtype.kind in "biu" else theta.dtype
            self._theta = np.asarray(theta, dtype=kind, order="C")
        self._suffix = _SUFFIX.get(str(self._theta.dtype).rpartition(".")[2])
        if self._suffix is None:
            raise TypeError(f"theta has the type {theta.dtype}, not float32 or float64")

    def like(self, values, shape=None):
        """What a function of the caller's returned, as a vector like theta."""
        theta = self._theta
        shape = tuple(theta.shape) if shape is None else shape
        if _is_tensor(theta):
            values = values.detach().to(theta).contiguous()
        else:
            values = np.asarray(_array(values), dtype=theta.dtype, order="C")
        if tuple(values.shape) != shape:
            raise ValueError(f"a function returned {tuple(values.shape)}, not {shape}")
        return values

    def stack(self, products):
        return self.like(products, (self._count(), *self._theta.shape))

    def directions(self, g):
        found = self._empty((self._count(), *self._theta.shape))
        self._run("direction", self._theta, g, found)
        return found

    def products(self, hvp, theta, g):
        """The products of the directions with the Hessian, one after another."""
        directions = self.directions(g)
        if len(directions) == 1:
            return self.like(hvp(theta, directions[0]))
        found = self._empty(directions.shape)
        for place, vector in zip(found, directions, strict=True):
            place[...] = self.like(hvp(theta, vector))
        return found

    def into(self, out, function, *vectors, rate=None):
        target = self._target(out)
        self._run(function, self._theta, *vectors, target, rate=rate)
        return self._given(out, target)

    def step(self, out, g, products, rate):
        target = self._target(out)
        if any(_overlap(target, vector) for vector in (g, products)):
            target = self._empty(self._theta.shape)
        if _pointer(target) != _pointer(self._theta):
            target[...] = self._theta
        self._run("step", target, g, products, rate=rate)
        return self._given(out, target)

    def _target(self, out):
        """Where the kernel writes: the caller's vector if whole, else a new one."""
        theta = self._theta
        if out is None:
            return self._empty(theta.shape)
        if type(out).__name__ != "Parameter" and type(out) is not type(theta):
            raise TypeError(f"out is a {type(out).__name__}, not like theta")
        if out.shape != theta.shape or out.dtype != theta.dtype:
            raise ValueError(f"out is not like theta: {theta.dtype}, {theta.shape}")
        out = out.detach() if _is_tensor(out) else out
        whole = out.is_contiguous() if _is_tensor(out) else out.flags.c_contiguous
        shifted = _overlap(out, theta) and _pointer(out) != _pointer(theta)
        return out if whole and not shifted else self._empty(theta.shape)

    def _given(self, out, target):
        if out is None:
            return target
        if _pointer(out) != _pointer(target):
            (out.detach() if _is_tensor(out) else out)[...] = target
        return out

    def _empty(self, shape):
        theta = self._theta
        if _is_tensor(theta):
            return theta.new_empty(shape)
        return np.empty(shape, dtype=theta.dtype)

    def _count(self):
        return _symbol("directions")(self._n)

    def _run(self, function, *vectors, rate=None):
        rates = () if rate is None else (rate,)
        kernel = _symbol(f"{function}_{self._suffix}")
        size = int(np.prod(self._theta.shape))
        pointers, params = map(_pointer, vectors), ctypes.byref(self._params)
        status = kernel(*pointers, size, self._n, *rates, params)
        if status != 0:
            raise ValueError(f"{NAME}: {_symbol('message')(status).decode()}")


def _pointer(values):
    return values.data_ptr() if _is_tensor(values) else values.ctypes.data


def _overlap(first, second):
    if _is_tensor(first):
        first, second = first.detach().numpy(), second.detach().numpy()
    return bool(np.may_share_memory(first, second))


@functools.cache
def torch_operators():
    """The kernels as custom operators, registered when they are first asked for.

    direction(theta, g, n, parameters), correction(theta, g, hv, n, lr, parameters) and
    step_(theta, g, hv, n, lr, parameters), which changes theta in place. n < 0 is the
    limit; parameters is a list of numbers in the order of PARAMETERS.
    """
    import torch  # noqa: PLC0415  # only who has tensors needs it
    from torch import Tensor  # noqa: PLC0415

    def operator(name, mutated):
        return torch.library.custom_op(
            f"{_PREFIX}::{name}", mutates_args=mutated, device_types="cpu"
        )

    def given(theta, n, parameters):
        return _Given(theta, None if n < 0 else n, *parameters)

    @operator("direction", ())
    def direction_(theta: Tensor, g: Tensor, n: int, parameters: list[float]) -> Tensor:
        call = given(theta, n, parameters)
        return call.directions(call.like(g))

    @operator("correction", ())
    def correction_(
        theta: Tensor, g: Tensor, hv: Tensor, n: int, lr: float, parameters: list[float]
    ) -> Tensor:
        call = given(theta, n, parameters)
        return call.into(None, "correction", call.like(g), call.stack(hv), rate=lr)

    @operator("step_", ("theta",))
    def step_(
        theta: Tensor, g: Tensor, hv: Tensor, n: int, lr: float, parameters: list[float]
    ) -> None:
        call = given(theta, n, parameters)
        call.step(theta, call.like(g), call.stack(hv), lr)

    @direction_.register_fake
    def _(theta, g, n, parameters):
        return theta.new_empty((_symbol("directions")(n), *theta.shape))

    @correction_.register_fake
    def _(theta, g, hv, n, lr, parameters):
        return torch.empty_like(theta, memory_format=torch.contiguous_format)

    @step_.register_fake
    def _(theta, g, hv, n, lr, parameters):
        return None

    found = {"direction": direction_, "correction": correction_, "step_": step_}
    return types.SimpleNamespace(**found)
