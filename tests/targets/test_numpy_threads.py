"""Large arrays in the emitted NumPy module: their blocks are shared among threads, and nothing else changes."""

from __future__ import annotations

import threading
from types import ModuleType

import numpy as np
import probe
import pytest

import symmem
from symmem.targets.numpy.module import numpy_module

LR = 0.1


@pytest.fixture(scope="module")
def adamw() -> ModuleType:
    return probe.module(numpy_module(symmem.derive("adamw")))


@pytest.fixture
def few(adamw: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Shares of a few entries, so that small arrays are shared among many threads."""
    monkeypatch.setattr(adamw, "SHARE", 64)
    monkeypatch.setattr(adamw, "BLOCK", 40)
    return adamw


def large(seed: int, size: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=size)


def step(module: ModuleType, theta: np.ndarray, **more: object) -> np.ndarray:
    return module.step(theta, lambda x: x**3, lambda x, v: 3 * x**2 * v, n=3, lr=LR, **more)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("size", [1, 5, 41, 1000, 1001])
def test_threads_do_not_change_a_value(
    few: ModuleType, monkeypatch: pytest.MonkeyPatch, threads: int, size: int
) -> None:
    theta = large(1, size)
    entries = np.array([step(few, np.array([x]))[0] for x in theta])
    monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
    np.testing.assert_array_equal(step(few, theta), entries)
    assert step(few, theta, out=theta) is theta
    np.testing.assert_array_equal(theta, entries)


def test_as_many_threads_as_asked_for_and_none_is_left(
    few: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[int] = set()
    barrier = threading.Barrier(3, timeout=60)  # only three threads at once get past it
    formula = few._memoryless

    def watched(*arrays: object) -> None:
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            barrier.wait()
        formula(*arrays)

    monkeypatch.setattr(few, "_memoryless", watched)
    monkeypatch.setattr(few, "_work", lambda _, given, like: [np.empty_like(like) for _ in range(2)])
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    before = threading.active_count()
    few.memoryless(large(2, 600), lambda x: x)
    assert len(seen) == 3
    assert threading.get_ident() not in seen
    assert threading.active_count() == before


def test_a_thread_does_with_errors_what_the_caller_chose(
    few: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    theta = large(3, 400)
    theta[377] = 1e200  # its square overflows
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        few.memoryless(theta, lambda x: x)
    with np.errstate(over="ignore"):
        found = few.memoryless(theta, lambda x: x)
    assert found[377] == pytest.approx(0.01 * theta[377])  # g/sqrt(inf) is 0
    told: list[str] = []
    with np.errstate(over="call", call=lambda kind, _: told.append(kind)):
        few.memoryless(theta, lambda x: x)
    assert told == ["overflow"]
