"""Kernels whose numbers are sums over the tensor: values, the same bits everywhere, range, and what is refused."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import compiled
import numpy as np
import probe
import pytest
from compiled import built, module
from truth import LR, THETA, literal_of, load

import symmem
from symmem.errors import SymmemError
from symmem.targets.c.build import build
from symmem.targets.c.layout import c_files
from symmem.verification import bruteforce
from symmem.verification.values import settled_step

QUICK = ("nsgd-momentum", "adam-mini", "lamb")
"""A norm and its derivative; a mean, with sums over past steps of sums over the entries; four sums."""
OTHERS = ("ngd", "lars", "clipped-momentum", "stable-adamw", "scalar-rmsprop", "novograd")
TOLERANCE = {np.float64: 2e-13, np.float32: 5e-6}


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    compiled.set_threads(2)
    yield
    compiled.set_threads(2)


def held_to_truth(found: object, name: str, steps: tuple[int | None, ...]) -> None:
    for n, dtype in itertools.product(steps, TOLERANCE):
        exact = probe.truth(name, 1, n)
        for function in probe.functions(1):
            rate = {} if function == "memoryless" else {"lr": float(LR)}
            given = (probe.THETA64.astype(dtype), *probe.calls(name, 1, function))
            value = getattr(found, function)(*given, n=n, **rate, **probe.parameters(name))
            assert value.dtype == dtype
            assert exact[function].error(value) < TOLERANCE[dtype], (function, n, dtype)


@pytest.mark.parametrize("name", QUICK)
def test_values(shared_folder: Path, name: str) -> None:
    held_to_truth(module(built(shared_folder, QUICK), name), name, probe.STEPS)


@pytest.mark.prove
@pytest.mark.parametrize("name", [name for name in OTHERS if name != "novograd"])
def test_values_of_the_others(shared_folder: Path, name: str) -> None:
    held_to_truth(module(built(shared_folder, OTHERS, "portable"), name), name, (*probe.STEPS, 40))


@pytest.mark.prove
@pytest.mark.parametrize("n", [0, 1, 5, None])
def test_the_values_of_a_cascade(shared_folder: Path, n: int | None) -> None:
    """NovoGrad, which reads a momentum variable, against brute force in 50 digits; the limit at a settled step."""
    found = module(built(shared_folder, OTHERS, "portable"), "novograd")
    run, given = literal_of(load("novograd")), (probe.THETA64, probe.contraction, probe.contraction)
    step = settled_step(run.optimizer, run.numbers) if n is None else n
    update = np.array(bruteforce.memoryless(run, THETA, step, 50), dtype=float)
    change = np.array(bruteforce.correction(run, THETA, step, LR, 50), dtype=float)
    lr, parameters = float(LR), probe.parameters("novograd")
    scale = np.abs(update) + np.abs(change)
    for value, exact in (
        (found.memoryless(*given[:2], n=n, **parameters), update),
        (found.correction(*given, n=n, lr=lr, **parameters), change),
        (found.step(*given, n=n, lr=lr, **parameters), probe.THETA64 - lr * (update + change)),
    ):
        assert np.max(np.abs(value - exact) / (scale + np.abs(exact))) < TOLERANCE[np.float64]


def placed(values: np.ndarray, offset: int) -> np.ndarray:
    """A copy that starts ``offset`` elements after a line of the cache."""
    room = np.empty(values.nbytes + 256, dtype=np.uint8)
    start = -room.ctypes.data % 64 + offset * values.dtype.itemsize
    made = room[start : start + values.nbytes].view(values.dtype)
    made[...] = values
    return made


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_the_same_bits_for_any_threads_and_alignment(shared_folder: Path, dtype: type) -> None:
    random = np.random.default_rng(8)
    for variant, length in itertools.product(("plain", "streaming"), (1, 31, 257, 2049, 300_007)):
        names = QUICK if variant == "plain" else QUICK[:1]
        found = module(built(shared_folder, names, variant), "nsgd-momentum")
        vectors = [random.normal(size=length).astype(dtype) for _ in range(3)]
        made = set()
        for threads, offset in ((1, 0), (2, 1), (3, 3), (2, 5)):
            compiled.set_threads(threads)
            theta, grad, hv = (placed(each, (offset * k) % 8) for k, each in enumerate(vectors, start=1))
            made.add(found.step_from(theta, grad, hv[None], lr=0.1).tobytes())
        assert len(made) == 1, (variant, length)


def test_sums_are_rounded_once(shared_folder: Path) -> None:
    """g/norm(g) of a long vector with entries of many sizes: the norm has all its bits but the last."""
    found = module(built(shared_folder, QUICK), "nsgd-momentum")
    random = np.random.default_rng(9)
    grad = random.normal(size=200_003) * 10.0 ** random.uniform(-6, 0, size=200_003)
    exact = grad / math.sqrt(math.fsum(grad * grad))
    value = found.memoryless(grad, lambda g: g)
    np.testing.assert_allclose(value, exact, rtol=6e-16)
    # In float the terms are doubles: what is lost is the rounding of the result alone.
    single = grad.astype(np.float32)
    wide = single.astype(float)
    value = found.memoryless(single, lambda g: g)
    np.testing.assert_allclose(value, wide / math.sqrt(math.fsum(wide * wide)), rtol=2.5e-7)


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e200), (np.float64, 1e-200), (np.float32, 1e30),
                                             (np.float32, 1e-35)])  # fmt: skip
def test_squares_beyond_the_range(shared_folder: Path, dtype: type, size: float) -> None:
    """A norm is as large as the entries, its square is not: it has more range."""
    found = module(built(shared_folder, QUICK), "nsgd-momentum")
    grad, hv = np.array([3.0, -4.0, 12.0], dtype=dtype), np.array([1.0, 2.0, -1.0], dtype=dtype)
    given = {"lr": 0.5, "beta": 0.5}
    update = found.memoryless(grad, lambda _: grad * dtype(size))
    np.testing.assert_allclose(update, grad / 13, rtol=4e-7 if dtype == np.float32 else 1e-15)
    # M is of degree 0 in (grad, hv) together.
    plain = found.correction_from(grad, grad, hv[None], **given)
    scaled = found.correction_from(grad, grad * dtype(size), (hv * dtype(size))[None], **given)
    np.testing.assert_allclose(scaled, plain, rtol=1e-5 if dtype == np.float32 else 1e-14)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_entries_that_are_not_finite(shared_folder: Path, dtype: type) -> None:
    folder = built(shared_folder, QUICK)
    theta, grad = np.ones(1000, dtype=dtype), np.linspace(1, 2, 1000, dtype=dtype)
    for bad in (np.nan, np.inf, -np.inf):
        broken = grad.copy()
        broken[617] = bad
        for name in ("nsgd-momentum", "adam-mini"):
            assert np.isnan(module(folder, name).memoryless(theta, lambda _, g=broken: g)).all(), (name, bad)
    # LAMB's sum has a limit at infinity, m/(|m| + eps) = 1, and so has the update.
    lamb = module(folder, "lamb")
    broken[617] = -np.inf
    large = grad.copy()
    large[617] = -1e25
    found, near = (lamb.memoryless(theta, lambda _, g=each: g) for each in (broken, large))
    np.testing.assert_allclose(found, near, rtol=1e-6)
    assert np.isfinite(found).all()


def test_an_empty_tensor(shared_folder: Path) -> None:
    found = module(built(shared_folder, QUICK), "adam-mini")
    nothing = np.empty((0, 3))
    assert found.memoryless(nothing, lambda g: g).shape == (0, 3)
    assert found.step_from(nothing, nothing, nothing[None], lr=0.1).shape == (0, 3)
    params = found._kernels.params(*probe.parameters("adam-mini").values())
    assert found._kernels.symbol("memoryless_f64")(None, None, None, 0, -1, ctypes.byref(params)) == 0


def test_the_result_may_be_an_input(shared_folder: Path) -> None:
    """All sums are taken before the first entry is written."""
    found = module(built(shared_folder, QUICK), "lamb")
    random = np.random.default_rng(4)
    theta, grad, hv = (random.normal(size=5001) for _ in range(3))
    expected = found.correction_from(theta, grad, hv[None], lr=0.1)
    for out in (theta, grad):
        given = [each.copy() for each in (theta, grad)]
        target = given[0] if out is theta else given[1]
        assert found.correction_from(*given, hv[None], lr=0.1, out=target).tobytes() == expected.tobytes()
    step = found.step_from(theta, grad, hv[None], lr=0.1)
    assert found.step_from(theta, grad, hv[None], lr=0.1, out=theta).tobytes() == step.tobytes()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("global-clip", "whole model.*one tensor at a time"),
        ("muon", "polar needs the shape of the matrix"),
        ("muon-torch", "newton_schulz needs the shape"),
        ("shampoo-ema", "inverse_root, matmul, transpose needs the shape"),
    ],
)
def test_what_a_kernel_cannot_see_is_refused(name: str, words: str) -> None:
    with pytest.raises(SymmemError, match=words):
        c_files(symmem.derive(load(name)))


def test_a_norm_at_every_past_step_is_refused_at_finite_n(tmp_path: Path) -> None:
    """Adam by its norm, without bias correction: the past updates differ in more than a factor."""
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\nphi = "(m1/sqrt(m2 + eps))/norm(m1/sqrt(m2 + eps))"\n'
        '[parameters]\nbeta1 = 0.5\nbeta2 = 0.75\neps = { default = 0.1, range = "(0, inf)" }\n'
        '[[momentum]]\ng = "grad"\nbeta = "beta1"\nb = "1 - beta1"\n'
        '[[momentum]]\ng = "grad**2"\nbeta = "beta2"\nb = "1 - beta2"\n'
    )
    source = c_files(symmem.derive(str(path))).source
    assert "every past step would need a sum over the entries of its own" in source


def test_the_norm_of_a_constant_counts_the_entries(shared_folder: Path) -> None:
    """m2 = 1/10 + 1/30 + ... in every entry: no sum is taken, and the number of entries is known all the same."""
    momentum = [symmem.Momentum("grad", "0", "1"), symmem.Momentum("1/10", "1/3", "1")]
    constant = symmem.Optimizer("constant", "m1/(norm(m2) + 1)", momentum, {})
    folder = build([symmem.derive(constant)], str(shared_folder / "constant"))
    made, theta = module(folder, "constant"), np.linspace(-1.0, 2.0, 7)
    for n in (0, 3):
        each = sum(3.0**-k for k in range(n + 1)) / 10
        value = made.memoryless(theta, lambda x: x**3, n=n)
        np.testing.assert_allclose(value, theta**3 / (each * math.sqrt(7) + 1), rtol=1e-14)
