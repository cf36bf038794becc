"""The built kernels of AdamW against what the memory allows, and against what else makes loops of a formula.

Everything runs in this process on the same vectors of ten million entries, in turn, fifty times; a row holds the
medians.  The limit is a triad (two reads, one write), plain and with streaming stores, compiled in the same run.
"""

# ruff: noqa: PLC0415  # each peer is imported by the benchmark that needs it

from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from statistics import median
from types import ModuleType

import numpy as np
from measure import HERE, Row, Target, seconds

import symmem
from symmem.targets.c.build import build

COUNT = 10_000_000
ROUNDS = 50
RATE, BETA1, BETA2, EPS = 1e-3, 0.9, 0.999, 1e-8
FIRST = BETA1 / (1 - BETA1) - BETA2 / (1 - BETA2)
SECOND = BETA2 / (1 - BETA2) * EPS
"""correction = lr hv r (FIRST + SECOND r^2),  r = (grad^2 + eps)^(-1/2)"""

Action = Callable[[], object]


def medians(actions: Mapping[str, Action], rounds: int = ROUNDS) -> dict[str, float]:
    """The actions in turn, so that a slow moment of the machine hits all of them; each is warmed up first."""
    for action in actions.values():
        action()
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            times[name].append(seconds(action))
    return {name: median(found) for name, found in times.items()}


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="symmem-bench-")


@cache
def _kernels() -> ModuleType:
    """What `symmem build adamw` makes, loaded."""
    folder = build([symmem.derive(symmem.load("adamw"))], str(Path(_scratch().name) / "kernels"))
    path = folder / "python" / "symmem_adamw.py"
    specification = importlib.util.spec_from_file_location("symmem_adamw", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@cache
def _limits() -> ctypes.CDLL:
    library = Path(_scratch().name) / "limits.so"
    flags = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
    subprocess.run([os.environ.get("CC", "cc"), *flags, HERE / "limits.c", "-o", library], check=True)
    return ctypes.CDLL(str(library))


@cache
def _vectors(dtype: type) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    names = ("theta", "grad", "hv", "out")
    return {name: _aligned(random.standard_normal(COUNT, dtype=np.float32).astype(dtype)) for name in names}


def _aligned(values: np.ndarray) -> np.ndarray:
    room = np.empty(values.nbytes + 64, dtype=np.uint8)
    start = -room.ctypes.data % 64
    made = room[start : start + values.nbytes].view(values.dtype)
    made[...] = values
    return made


def _loop(name: str, dtype: type, *vectors: str) -> Action:
    suffix = "f64" if dtype is np.float64 else "f32"
    pointers = [ctypes.c_void_p(_vectors(dtype)[vector].ctypes.data) for vector in vectors]
    return partial(getattr(_limits(), f"{name}_{suffix}"), *pointers, ctypes.c_size_t(COUNT))


def _correction(dtype: type) -> Action:
    v = _vectors(dtype)
    return partial(_kernels().correction_from, v["theta"], v["grad"], v["hv"][None], lr=RATE, out=v["out"])


def _step(dtype: type) -> Action:
    v = _vectors(dtype)
    return partial(_kernels().step_from, v["theta"], v["grad"], v["hv"][None], lr=0.0, out=v["theta"])


def _against_triads(dtype: type) -> Row:
    triads = {name: _loop(name, dtype, "grad", "hv", "out") for name in ("triad", "streaming")}
    found = medians({"kernel": _correction(dtype), **triads})
    faster = min(("triad", "streaming"), key=lambda name: found[name])
    note = f"the faster triad ({faster}); plain {found['triad'] * 1e3:.2f} ms"
    return Row(f"kernel: correction, {dtype.__name__}", found["kernel"], found[faster], Target(1.10), note)


def _against_copy(dtype: type) -> Row:
    found = medians({"kernel": _step(dtype), "copy": _loop("copy", dtype, "theta", "grad", "hv")})
    return Row(f"kernel: step, {dtype.__name__}", found["kernel"], found["copy"], Target(1.15), "a copy loop")


def _update(dtype: type) -> Action:
    """AdamW with its memory, in one pass."""
    v = _vectors(dtype)
    memory = _kernels().initial_memory(v["out"])
    return partial(_kernels().update, v["out"], v["grad"], memory, n=3, lr=0.0)


def _fused(dtype: type) -> Action:
    import torch

    v = _vectors(dtype)
    theta = torch.nn.Parameter(torch.from_numpy(v["out"]))
    theta.grad = torch.from_numpy(v["grad"])
    return torch.optim.AdamW([theta], lr=0.0, fused=True).step


def _against_moments(dtype: type) -> Row:
    loop = _loop("moments", dtype, "out", "grad", "theta", "hv")
    found = medians({"kernel": _update(dtype), "loop": loop}, rounds=20)
    note = "a loop with the same traffic"
    return Row(f"kernel: update, {dtype.__name__}", found["kernel"], found["loop"], Target(1.15), note)


def _ahead_of_fused(dtype: type) -> Row:
    found = medians({"kernel": _update(dtype), "peer": _fused(dtype)}, rounds=20)
    note = "torch's fused AdamW"
    return Row(f"kernel: update, {dtype.__name__}", found["kernel"], found["peer"], Target(1.0), note)


def update_float64() -> Row:
    return _against_moments(np.float64)


def update_float32() -> Row:
    return _against_moments(np.float32)


def update_ahead_of_torch_float64() -> Row:
    return _ahead_of_fused(np.float64)


def update_ahead_of_torch_float32() -> Row:
    return _ahead_of_fused(np.float32)


def correction_float64() -> Row:
    return _against_triads(np.float64)


def correction_float32() -> Row:
    return _against_triads(np.float32)


def step_float64() -> Row:
    return _against_copy(np.float64)


def step_float32() -> Row:
    return _against_copy(np.float32)


def _numba(v: dict[str, np.ndarray]) -> Action:
    import numba

    @numba.njit(parallel=True)
    def correction(grad, hv, out, numbers):  # type: ignore[no-untyped-def]
        rate, first, second, eps = numbers
        for i in numba.prange(grad.size):
            r = 1 / np.sqrt(grad[i] * grad[i] + eps)
            out[i] = rate * hv[i] * r * (first + second * r * r)

    kind = v["grad"].dtype.type
    return partial(correction, v["grad"], v["hv"], v["out"], tuple(map(kind, (RATE, FIRST, SECOND, EPS))))


def _numexpr(v: dict[str, np.ndarray]) -> Action:
    import numexpr

    kind = v["grad"].dtype.type
    given = {
        "g": v["grad"],
        "h": v["hv"],
        "lr": kind(RATE),
        "a": kind(FIRST),
        "b": kind(SECOND),
        "eps": kind(EPS),
    }
    text = "lr * h * (a + b / (g * g + eps)) / sqrt(g * g + eps)"
    return lambda: numexpr.evaluate(text, local_dict=given, out=v["out"])


def _torch(v: dict[str, np.ndarray]) -> Action:
    import torch

    def correction(grad: torch.Tensor, hv: torch.Tensor, out: torch.Tensor) -> None:
        r = torch.rsqrt(grad * grad + EPS)
        out.copy_(RATE * hv * r * (FIRST + SECOND * r * r))

    return partial(torch.compile(correction), *(torch.from_numpy(v[name]) for name in ("grad", "hv", "out")))


def _jax(v: dict[str, np.ndarray]) -> Action:
    import jax

    jax.config.update("jax_enable_x64", True)

    def correction(grad: jax.Array, hv: jax.Array) -> jax.Array:
        r = jax.lax.rsqrt(grad * grad + EPS)
        return RATE * hv * r * (FIRST + SECOND * r * r)

    compiled, given = jax.jit(correction), [jax.numpy.asarray(v[name]) for name in ("grad", "hv")]
    return lambda: compiled(*given).block_until_ready()


PEERS = {"numba": _numba, "numexpr": _numexpr, "torch.compile": _torch, "jax.jit": _jax}


def _ahead(peer: str, dtype: type) -> Row:
    found = medians({"kernel": _correction(dtype), "peer": PEERS[peer](_vectors(dtype))})
    return Row(f"kernel: correction, {dtype.__name__}", found["kernel"], found["peer"], Target(1.0), peer)


def ahead_of_numba_float64() -> Row:
    return _ahead("numba", np.float64)


def ahead_of_numba_float32() -> Row:
    return _ahead("numba", np.float32)


def ahead_of_numexpr_float64() -> Row:
    return _ahead("numexpr", np.float64)


def ahead_of_numexpr_float32() -> Row:
    return _ahead("numexpr", np.float32)


def ahead_of_torch_float64() -> Row:
    return _ahead("torch.compile", np.float64)


def ahead_of_torch_float32() -> Row:
    return _ahead("torch.compile", np.float32)


def ahead_of_jax_float64() -> Row:
    return _ahead("jax.jit", np.float64)


def ahead_of_jax_float32() -> Row:
    return _ahead("jax.jit", np.float32)


BENCHMARKS: tuple[Callable[[], Row], ...] = (
    correction_float64,
    correction_float32,
    step_float64,
    step_float32,
    update_float64,
    update_float32,
    update_ahead_of_torch_float64,
    update_ahead_of_torch_float32,
    ahead_of_numba_float64,
    ahead_of_numba_float32,
    ahead_of_numexpr_float64,
    ahead_of_numexpr_float32,
    ahead_of_torch_float64,
    ahead_of_torch_float32,
    ahead_of_jax_float64,
    ahead_of_jax_float32,
)
