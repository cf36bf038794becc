"""Built kernels with memory: the whole optimizer in one pass, against its definition and against PyTorch's."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import compiled
import numpy as np
import probe
import pytest
import torch
from compiled import KERNELS, built, module
from mpmath import mpf
from truth import EVERY, LR, THETA, literal_of, load, number_of

from symmem.algebra.results import Missing
from symmem.checks.verify import as_theory_sees
from symmem.errors import SymmemError
from symmem.targets.c.build import build

RATE, LAST = float(LR), 4
TOLERANCE = {np.float64: 1e-11, np.float32: 2e-4}
"""Of theta after five steps; the errors of float32 go through the gradients of every step."""


def assert_runs(found: ModuleType, name: str, dtype: type) -> None:
    """Steps of the optimizer as it runs, then one with a part of each correction, against their definitions."""
    derivation, values = probe.derivation(name, 1), probe.parameters(name)
    literal = literal_of(load(name))
    theta = probe.THETA64.astype(dtype)
    memory = found.initial_memory(theta)
    *trace, (last, move) = literal.trace(THETA, LR, LAST)
    for n, (exact, _) in enumerate(trace):
        np.testing.assert_allclose(theta, [float(x) for x in exact], rtol=TOLERANCE[dtype])
        gradient = probe.contraction(theta.astype(float)).astype(dtype)
        assert found.update(theta, gradient, memory, n=n, lr=RATE, **values) is theta
    np.testing.assert_allclose(theta, [float(x) for x in last], rtol=TOLERANCE[dtype])
    point = theta.astype(float)
    gradient = probe.contraction(point).astype(dtype)
    try:
        directions = found.direction(theta, gradient, n=LAST, **values)
    except ValueError as error:  # no kernel has a correction then
        assert "every past step would need" in str(error)  # noqa: PT017
        return
    products = [probe.contraction(point, each.astype(float)) for each in directions]
    hv = np.array(products, dtype=dtype).reshape(directions.shape)
    rate = mpf(LR.p) / LR.q * literal.rate(LAST)
    seen = literal_of(as_theory_sees(load(name)))
    added = {
        "corrected_update": lambda: number_of(derivation.M, literal, n=LAST, theta=last),
        "straight_update": lambda: number_of(derivation.straight - derivation.F, seen, n=LAST, theta=last),
    }
    for function, part in added.items():
        moved, kept = theta.copy(), memory.copy()
        if function == "straight_update" and isinstance(derivation.straight, Missing):
            continue
        getattr(found, function)(moved, gradient, kept, hv, n=LAST, lr=RATE, strength=-0.5, **values)
        exact = [x - rate * (f - m / 2) for x, f, m in zip(last, move, part(), strict=True)]
        np.testing.assert_allclose(moved, [float(x) for x in exact], rtol=TOLERANCE[dtype], err_msg=function)
        found.update(theta.copy(), gradient, again := memory.copy(), n=LAST, lr=RATE, **values)
        np.testing.assert_array_equal(kept, again)


@pytest.mark.parametrize("name", KERNELS)
def test_the_optimizer_with_its_memory(shared_folder: Path, name: str) -> None:
    found = module(built(shared_folder, KERNELS, "quick"), name)
    for dtype in TOLERANCE:
        assert_runs(found, name, dtype)


@pytest.mark.parametrize("variant", compiled.WAYS)
def test_every_way_in_which_a_kernel_runs(shared_folder: Path, variant: str) -> None:
    for dtype in TOLERANCE:
        assert_runs(module(built(shared_folder, ("adamw", "rmsprop"), variant), "adamw"), "adamw", dtype)


@pytest.mark.prove
@pytest.mark.parametrize("name", EVERY)
def test_every_optimizer_with_its_memory(tmp_path: Path, name: str) -> None:
    try:
        with compiled.few_passes():
            build([probe.derivation(name, 1)], str(tmp_path / "built"))
    except SymmemError as error:
        pytest.skip(str(error))
    found = module(tmp_path / "built", name)
    theta = probe.THETA64.copy()
    try:
        found.update(theta, theta, found.initial_memory(theta), n=0, lr=0.0)
    except ValueError as error:
        assert "functions of a whole tensor" in str(error) or "keeps more than" in str(error)  # noqa: PT017
        return
    assert_runs(found, name, np.float64)


def adamw(shared: Path) -> ModuleType:
    return module(built(shared, KERNELS, "quick"), "adamw-torch")


@pytest.mark.parametrize("kind", [torch.float64, torch.float32])
def test_the_same_as_pytorch(shared_folder: Path, kind: torch.dtype) -> None:
    """Forty steps of torch.optim.AdamW on tensors of several shapes, the large one with threads."""
    found = adamw(shared_folder)
    generator = torch.Generator().manual_seed(3)
    for shape in ((), (1,), (37,), (5, 13), (70_000,)):
        theta = torch.randn(shape, generator=generator, dtype=kind)
        given = torch.nn.Parameter(theta.clone())
        optimizer = torch.optim.AdamW([given], lr=1e-2, weight_decay=0.1)
        memory = found.initial_memory(theta)
        for n in range(40):
            given.grad = torch.randn(shape, generator=generator, dtype=kind)
            optimizer.step()
            found.update(theta, given.grad, memory, n=n, lr=1e-2, weight_decay=0.1)
        rtol = 1e-12 if kind == torch.float64 else 1e-4
        torch.testing.assert_close(theta, given.detach(), rtol=rtol, atol=rtol / 10)
        for kept, key in zip(memory, ("exp_avg", "exp_avg_sq"), strict=True):
            torch.testing.assert_close(kept, optimizer.state[given][key], rtol=rtol, atol=rtol / 10)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_memory_is_kept_in_float32_beside_half_precision(shared_folder: Path, kind: torch.dtype) -> None:
    """The sums take in what half precision would lose: after 40 equal gradients m is as close as float32 is."""
    found = adamw(shared_folder)
    theta, grad = torch.ones(3, dtype=kind), torch.full((3,), 0.37, dtype=kind)
    memory = found.initial_memory(theta)
    version = theta._version
    for n in range(40):
        found.update(theta, grad, memory, n=n, lr=1e-4)
    assert memory.dtype == torch.float32
    assert theta._version >= version + 40
    np.testing.assert_allclose(memory[0], [float(grad[0]) * (1 - 0.9**40)] * 3, rtol=1e-6)


def test_entries_that_are_not_finite_stay_at_their_place(shared_folder: Path) -> None:
    found = adamw(shared_folder)
    for dtype in TOLERANCE:
        theta, grad = np.ones(100, dtype), np.linspace(-1, 1, 100, dtype=dtype)
        expected, clean = theta.copy(), found.initial_memory(theta)
        found.update(expected, grad, clean, n=0, lr=0.1)
        memory = found.initial_memory(theta)
        grad[[3, 50]] = np.nan, np.inf
        found.update(theta, grad, memory, n=0, lr=0.1)
        bad = np.isin(np.arange(100), [3, 50])
        np.testing.assert_array_equal(theta[~bad], expected[~bad])
        np.testing.assert_array_equal(memory[:, ~bad], clean[:, ~bad])
        assert np.isnan(theta[3])
        assert np.isnan(memory[:, 3]).all()
        assert np.isinf(memory[:, 50]).all()


def test_vectors_that_cannot_be_changed_in_place(shared_folder: Path) -> None:
    found, theta = adamw(shared_folder), np.ones((4, 3))
    memory, grad = found.initial_memory(theta), np.full((4, 3), 0.5)
    frozen = theta.copy()
    frozen.flags.writeable = False
    given = {"n": 0, "lr": 0.1}
    for error, words, vectors in (
        (ValueError, "theta is read-only", (frozen, grad, memory)),
        (TypeError, "theta is a list", ([1.0], [1.0], memory)),
        (ValueError, r"memory is float64, \(1, 4, 3\), not like theta", (theta, grad, memory[:1])),
        (ValueError, "memory is float32", (theta, grad, memory.astype(np.float32))),
        (ValueError, "theta is int64, .* not like theta: float64", (np.ones((4, 3), int), grad, memory)),
        (ValueError, "overlap", (memory[0], grad, memory)),
        (ValueError, "a step with memory has a number", (theta, grad, memory)),
    ):
        number = given | ({"n": None} if "number" in words else {})
        with pytest.raises(error, match=words):
            found.update(*vectors, **number)
    assert (theta == 1).all()
    assert (memory == 0).all()
    # What is not contiguous is changed all the same.
    wide, kept = np.ones((4, 6))[:, ::2], np.zeros((4, 3, 2)).transpose(2, 0, 1)
    assert found.update(wide, grad, kept, **given) is wide
    found.update(theta, grad, memory, **given)
    np.testing.assert_array_equal(wide, theta)
    np.testing.assert_array_equal(kept, memory)
    with pytest.raises(ValueError, match="strength finite"):
        found.corrected_update(theta, grad, memory, grad[None], n=1, lr=0.1, strength=np.nan)
