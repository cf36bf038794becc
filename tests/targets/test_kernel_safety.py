"""Built kernels in anyone's program: what may not be written, wrong numbers, versions of tensors, children of fork."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from compiled import KERNELS, built, module

RATE = 0.01


@pytest.fixture
def adamw(shared_folder: Path) -> object:
    return module(built(shared_folder, ("adamw",)), "adamw")


@pytest.mark.parametrize("kind", ["bytes", "flag", "map"])
def test_what_is_read_only_is_not_written(adamw: object, tmp_path: Path, kind: str) -> None:
    """An array over immutable bytes, one that says so, and a file that is mapped to be read."""
    values = np.linspace(1, 2, 5)
    values.tofile(tmp_path / "values")
    out = {
        "bytes": lambda: np.frombuffer(values.tobytes()),
        "flag": values.copy,
        "map": lambda: np.memmap(tmp_path / "values", dtype=np.float64, mode="r"),
    }[kind]()
    out.flags.writeable = False
    given = (values, np.ones(5), np.ones((1, 5)))
    for function in (adamw.correction_from, adamw.step_from, adamw.straight_from):
        with pytest.raises(ValueError, match="out is read-only"):
            function(*given, lr=RATE, out=out)
    with pytest.raises(ValueError, match="out is read-only"):
        adamw.memoryless(values, np.sin, out=out)
    assert (out == values).all()
    # It is good enough to be read, and a map that may be written is written.
    read = adamw.step_from(out, np.ones(5), np.ones((1, 5)), lr=RATE)
    assert read.tobytes() == adamw.step_from(*given, lr=RATE).tobytes()
    written = np.memmap(tmp_path / "values", dtype=np.float64, mode="r+")
    assert adamw.step_from(*given, lr=RATE, out=written) is written
    written.flush()
    assert np.fromfile(tmp_path / "values").tobytes() == read.tobytes()


@pytest.mark.parametrize("n", [2**64, 2**63, -1, 10**40, float("inf"), float("nan"), 0.5, "3", -(2**64) + 5])
def test_a_step_that_cannot_be_counted(adamw: object, n: object) -> None:
    for function in (adamw.correction_from, adamw.step_from):
        with pytest.raises(ValueError, match=r"steps count from 0, below 2\*\*63"):
            function(np.ones(3), np.ones(3), np.ones((1, 3)), n=n, lr=RATE)
    last = adamw.memoryless(np.ones(3), np.sin, n=2**63 - 1)
    np.testing.assert_allclose(last, adamw.memoryless(np.ones(3), np.sin), rtol=1e-15)


@pytest.mark.parametrize("values", [[], [0.9], [0.9, 0.999, 1e-8], [0.9, 0.999, 1e-8, 0.01, 0.5]])
def test_a_list_of_parameters_of_another_length(adamw: object, values: list[float]) -> None:
    """Not filled with zeros: with beta2 = 0 the step would be another."""
    words = rf"adamw: {len(values)} parameters, not 4 \(beta1, beta2, eps, weight_decay\)"
    operators, theta = adamw.torch_operators(), torch.ones(3)
    with pytest.raises(ValueError, match=words):
        operators.direction(theta, theta, -1, values)
    with pytest.raises(ValueError, match=words):
        operators.step_(theta, theta.clone(), torch.ones(1, 3), 4, RATE, values)
    assert (theta == 1).all()


def test_a_tensor_that_was_changed_has_a_new_version(adamw: object) -> None:
    """What autograd kept of the old values is refused, and not used."""
    for function in (adamw.step_from, adamw.correction_from, adamw.straight_from):
        theta = torch.linspace(1, 2, 4, requires_grad=True)
        before = theta._version
        squared = (theta**2).sum()
        function(theta, torch.ones(4), torch.ones(1, 4), lr=RATE, out=theta)
        assert theta._version > before
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            squared.backward()
    with torch.inference_mode():  # such a tensor has no version
        plain = torch.linspace(1, 2, 4)
        given = (torch.ones(4), torch.ones(1, 4))
        expected = adamw.step_from(plain, *given, lr=RATE)
        assert torch.equal(adamw.step_from(plain, *given, lr=RATE, out=plain), expected)


FORKING = """
import os, sys, threading
import numpy as np
sys.path.insert(0, sys.argv[1])
import symmem_{name} as kernels
random = np.random.default_rng(1)
theta, grad, hv = random.normal(size=(3, 300_000))
before = kernels.step_from(theta, grad, hv[None], lr=0.01)  # starts the threads
assert int(open("/proc/self/status").read().partition("Threads:")[2].split()[0]) > 1
child = os.fork()
if child == 0:
    os._exit(0 if kernels.step_from(theta, grad, hv[None], lr=0.01).tobytes() == before.tobytes() else 1)
status = os.waitpid(child, 0)[1]
assert kernels.step_from(theta, grad, hv[None], lr=0.01).tobytes() == before.tobytes()
sys.exit(status)
"""


@pytest.mark.parametrize(
    ("name", "library"),
    [("adamw", ("adamw",)), ("nsgd_momentum", ("nsgd-momentum", "adam-mini", "lamb"))],
    ids=["adamw", "nsgd-momentum"],
)
def test_the_child_of_a_fork_works(shared_folder: Path, name: str, library: tuple[str, ...]) -> None:
    """OpenMP's threads are not in the child; the second optimizer adds up a norm with threads too."""
    folder = built(shared_folder, library) / "python"
    done = subprocess.run(
        [sys.executable, "-c", FORKING.format(name=name), str(folder)],
        check=False, capture_output=True, text=True, timeout=60, env={"OMP_NUM_THREADS": "2"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def odd_calls() -> dict[str, tuple[str, list[object], object]]:
    """A function, its vectors theta, g, hv (or memory), and ``out``: as a careless program may give them."""
    room, g, hv = np.linspace(1, 2, 8), np.linspace(-1, 1, 4), np.ones((1, 4))
    theta, fixed = room[:4], np.ones(4)
    fixed.flags.writeable = False
    memory = np.zeros((2, 4))
    return {
        "plain": ("correction_from", [theta, g, hv], None),
        "into another": ("correction_from", [theta, g, hv], np.empty(4)),
        "in place": ("step_from", [theta.copy(), g, hv], "theta"),
        "a step into another": ("step_from", [theta, g, hv], np.empty(4)),
        "onto the gradient": ("step_from", [theta, g, hv], g),
        "overlap": ("correction_from", [theta, g, hv], room[1:5]),
        "overlap of a step": ("step_from", [theta, g, hv], room[2:6]),
        "read-only inputs": ("straight_from", [fixed, fixed, hv], None),
        "read-only out": ("straight_from", [theta, g, hv], fixed),
        "strided": ("step_from", [room[::2], g[::-1], hv], None),
        "strided out": ("step_from", [theta, g, hv], np.empty(8)[::2]),
        "float32 beside float64": ("correction_from", [theta, g.astype(np.float32), hv], None),
        "out of another type": ("correction_from", [theta, g, hv], np.empty(4, np.float32)),
        "a list": ("correction_from", [list(theta), list(g), [list(g)]], None),
        "another length": ("correction_from", [theta, g[:3], hv], None),
        "too many products": ("correction_from", [theta, g, np.ones((2, 4))], None),
        "out is bytes": ("correction_from", [theta, g, hv], bytearray(32)),
        "no entries": ("step_from", [np.empty(0), np.empty(0), np.empty((1, 0))], None),
        "one number": ("correction_from", [np.array(1.0), np.array(2.0), np.array([3.0])], None),
        "not aligned": ("step_from", [np.frombuffer(bytearray(33), np.uint8)[1:].view(float), g, hv], None),
        "complex": ("correction_from", [theta + 1j, g, hv], None),
        "memory": ("update", [theta.copy(), g, memory], None),
        "memory in float32": ("update", [theta.copy(), g, memory.astype(np.float32)], None),
        "memory too short": ("update", [theta.copy(), g, memory[:1]], None),
        "memory is theta": ("update", [memory[0], g, memory], None),
    }


def forms(name: str) -> tuple[str, ...]:
    """The functions of the module that take what one of these takes, or functions that return it."""
    if name == "update":
        return (name, "straight_update", "corrected_update")
    return (name, name.removesuffix("_from"), "memoryless", "direction")


def called(found: object, name: str, vectors: list[object], out: object, calls: list[str]) -> object:
    """One call; grad and hvp return what is given, and note that they were called."""
    theta, g, last = vectors
    grad, hvp = (lambda _: calls.append("grad") or g), (lambda _, v: calls.append(str(v)) or last[0])
    if name.endswith("update"):
        more = [] if name == "update" else [np.ones((1, *np.shape(theta)))]
        return getattr(found, name)(*vectors, *more, n=3, lr=RATE)
    if name == "direction":
        return found.direction(theta, g, n=3)
    if name == "memoryless":
        return found.memoryless(theta, grad, n=3, out=out)
    given = vectors if name.endswith("_from") else (theta, grad, hvp)
    return getattr(found, name)(*given, n=3, lr=RATE, out=out)


@pytest.mark.parametrize(
    ("case", "name"), [(case, name) for case, (first, *_) in odd_calls().items() for name in forms(first)]
)
def test_a_call_at_once_is_as_a_checked_one(shared_folder: Path, case: str, name: str) -> None:
    """Where a type is known, whole arrays go to the library without a look: the same values, the same refusals."""
    found, outcomes = module(built(shared_folder, KERNELS, "quick"), "adamw"), []
    for known in (False, True):
        _, vectors, out = odd_calls()[case]
        calls: list[str] = []
        found._kernels.known_functions.clear()
        if known:
            found._kernels.functions(np.dtype(np.float64))
        try:
            value = called(found, name, vectors, vectors[0] if isinstance(out, str) else out, calls)
        except (TypeError, ValueError) as error:
            outcomes.append((type(error), str(error)))
        else:
            read = [np.asarray(each).tobytes() for each in vectors]
            outcomes.append((value.dtype, value.tobytes(), *read, *calls))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("name", ["memoryless", "correction"])
def test_an_error_in_a_function_of_the_caller_is_the_callers(adamw: object, name: str) -> None:
    """A TypeError of theirs is not taken for a sign that the call has to be looked at: one call, and their error."""
    calls = []

    def grad(theta: np.ndarray) -> np.ndarray:
        calls.append(theta)
        raise TypeError("mine")

    more = {} if name == "memoryless" else {"lr": RATE, "hvp": lambda _, v: v}
    getattr(adamw, name)(np.ones(2), np.sin, n=4, **more)
    with pytest.raises(TypeError, match="mine"):
        getattr(adamw, name)(np.ones(2), grad, n=4, **more)
    assert len(calls) == 1


@pytest.mark.parametrize("lr", [float("nan"), float("inf"), None, "fast", 1j])
def test_a_rate_that_is_no_number(shared_folder: Path, lr: object) -> None:
    found, theta = module(built(shared_folder, KERNELS, "quick"), "adamw"), np.ones(3)
    for _ in range(2):
        with pytest.raises((ValueError, TypeError, ctypes.ArgumentError)):
            found.step_from(theta, np.ones(3), np.ones((1, 3)), lr=lr, out=theta)
    assert (theta == 1).all()


def test_a_view_that_is_to_be_negated_is_read_as_it_is(adamw: object) -> None:
    """The imaginary part of a conjugate has its memory with the other sign."""
    plain = torch.tensor([2.0, -1.0, 0.5], dtype=torch.float64)
    view = torch.complex(torch.zeros_like(plain), -plain).conj().imag
    assert view.is_neg()
    wanted = (plain, plain**3, plain[None] / 7)
    expected = adamw.step_from(*wanted, lr=RATE)
    assert torch.equal(adamw.step_from(view, wanted[1], wanted[2], lr=RATE), expected)
    assert torch.equal(adamw.memoryless(plain, lambda _: view), adamw.memoryless(plain, lambda x: x))
    with pytest.raises(ValueError, match="to be negated"):
        adamw.step_from(*wanted, lr=RATE, out=view)


@pytest.mark.parametrize("make", [np.asarray, torch.as_tensor])
def test_what_is_no_real_number_is_refused(adamw: object, make: object) -> None:
    values = make(np.linspace(1, 2, 5))
    with pytest.raises(TypeError, match=r"complex128: give real numbers"):
        adamw.memoryless(values, lambda x: x * 1j)
    for rate in ("0.1", 1j, np.ones(2)):
        with pytest.raises(TypeError, match="as numbers"):
            adamw.correction(values, lambda x: x, lambda _, v: v, lr=rate)


def test_a_sparse_tensor_is_refused(adamw: object) -> None:
    with pytest.raises(TypeError, match="not a dense tensor"):
        adamw.memoryless(torch.eye(3).to_sparse(), lambda x: x)


def odd_tensors() -> dict[str, tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """theta, gradient and memory of a step in place, as a careless program may give them."""
    theta = torch.linspace(1, 2, 4, dtype=torch.float64)
    g, memory, room = (
        -theta.flip(0),
        torch.rand(2, 4, dtype=torch.float64),
        torch.zeros(12, dtype=torch.float64),
    )
    view = torch.complex(torch.zeros_like(theta), -theta).conj().imag
    with torch.inference_mode():
        inference = theta.clone()
    wide = torch.rand(4, 2, dtype=torch.float64)
    return {
        "plain": (theta, g, memory),
        "parameter": (torch.nn.Parameter(theta), g, memory),
        "gradient with a graph": (theta, (g.clone().requires_grad_() * 2), memory),
        "strided": (wide[:, 0], wide[:, 1], wide.mT),
        "expanded": (theta, g[:1].expand(4), memory),
        "to be negated": (theta, view, memory),
        "theta to be negated": (view, g, memory),
        "inference": (inference, g, memory),
        "another type": (theta, g.float(), memory),
        "memory of another type": (theta, g, memory.float()),
        "half": (theta.bfloat16(), g.bfloat16(), memory.float()),
        "another shape": (theta, g[None], memory),
        "no memory": (theta, g, memory[:1]),
        "sparse": (theta, g.to_sparse(), memory),
        "elsewhere": (theta, g.to("meta"), memory),
        "overlap": (room[2:6], g, room[:8].view(2, 4)),
        "an array": (theta, g.numpy(), memory),
        "no entries": (theta[:0], g[:0], memory[:, :0]),
        "complex": (theta, g + 1j, memory),
    }


@pytest.mark.parametrize("role", ["update", "straight_update", "corrected_update"])
@pytest.mark.parametrize("case", odd_tensors())
def test_a_step_of_a_tensor_at_once_is_as_a_checked_one(shared_folder: Path, case: str, role: str) -> None:
    """The same values, the same refusals, and theta and memory count that they were changed."""
    found, outcomes = module(built(shared_folder, KERNELS, "quick"), "adamw"), []
    for known in (False, True):
        torch.manual_seed(0)
        vectors = odd_tensors()[case]
        found._kernels.known_functions.clear()
        if known:
            found._kernels.functions(torch.float64)
        more = [] if role == "update" else [torch.ones(1, *vectors[0].shape, dtype=vectors[0].dtype)]
        counted = [x for x in vectors[::2] if not x.is_inference()]
        before = [x._version for x in counted]
        try:
            getattr(found, role)(*vectors, *more, n=3, lr=RATE)
        except (TypeError, ValueError, RuntimeError) as error:
            outcomes.append((type(error), str(error)))
        else:
            changed = [x.detach().float().numpy().tobytes() for x in vectors[::2]]
            outcomes.append((changed, [x._version > old for x, old in zip(counted, before, strict=True)]))
    assert outcomes[0] == outcomes[1]
