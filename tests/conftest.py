"""Fixtures of all tests, which of them ``make quick`` leaves out, and what the programs of a run share."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
TABLE = FOLDER / "slow.txt"
"""Test functions whose first case takes longer than :data:`LONGEST`, with its CPU seconds: ``pytest -n 0 --measure
-m "not prove"`` writes it anew."""
LONGEST = 0.7
BUILDERS = (
    "training/test_torch_distributed.py",
    "targets/test_kernel_build.py",
    "targets/test_kernel_optimizer.py",
    "targets/test_kernel_package.py",
    "targets/test_kernel_sums.py",
    "targets/test_kernel_tensors.py",
    "targets/test_kernels.py",
)
"""Files whose tests share what takes long, compiled kernels or processes: whichever comes first pays for it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--measure``."""
    parser.addoption(
        "--measure", action="store_true", help=f"run first cases alone and write {TABLE.name} anew"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """``make quick`` runs the first case of every test function that is not in the table: every room is seen."""
    slow = {line.split()[0] for line in TABLE.read_text(encoding="utf-8").splitlines()}
    seen, measures = set(), config.getoption("measure")
    for item in items:
        if item.get_closest_marker("prove") is None:
            name = _function(item)
            if name in seen or name.startswith(BUILDERS) or (name in slow and not measures):
                item.add_marker(pytest.mark.slow)
            seen.add(name)
    if measures:
        config.stash[_TIMES] = {}
        items[:] = [item for item in items if item.get_closest_marker("slow") is None]


def _function(item: pytest.Item) -> str:
    return item.nodeid.removeprefix("tests/").partition("[")[0]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """The CPU time of a test, its fixtures and programs."""
    begin = sum(os.times()[:4])
    yield
    if _TIMES in item.config.stash:
        item.config.stash[_TIMES][_function(item)] = sum(os.times()[:4]) - begin


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes the table."""
    if _TIMES in session.config.stash:
        found = sorted(session.config.stash[_TIMES].items())
        lines = [f"{name} {seconds:.1f}\n" for name, seconds in found if seconds > LONGEST]
        TABLE.write_text("".join(lines), encoding="utf-8")


_TIMES = pytest.StashKey[dict[str, float]]()


COMPILED = "JAX_COMPILATION_CACHE_DIR"
"""Where JAX keeps what it compiled: one folder of a run, for the workers and for the programs that they start."""


def pytest_configure(config: pytest.Config) -> None:
    """What JAX compiles is compiled once in a run, however many modules and workers ask for it."""
    if COMPILED not in os.environ:
        config.stash[_OWN] = tempfile.mkdtemp(prefix="jax-")
        os.environ[COMPILED] = config.stash[_OWN]
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


def pytest_unconfigure(config: pytest.Config) -> None:
    """Nothing is kept for the next run: it has to find everything itself."""
    if _OWN in config.stash:
        shutil.rmtree(config.stash[_OWN], ignore_errors=True)
        del os.environ[COMPILED]


_OWN = pytest.StashKey[str]()


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
