"""Fixtures of all tests, which of them ``make quick`` leaves out, and what the programs of a run share."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

SLOW: dict[str, tuple[str, ...]] = {
    "cli/test_cli_budget.py": ("high_order", "interrupt"),
    "cli/test_cli.py": ("heavyball", "error", "readme", "full"),
    "derivation/test_cascades.py": ("finite_n", "adabelief"),
    "derivation/test_gradient_map_loss.py": ("heavy ball", "denial"),
    "derivation/test_orders.py": ("heavyball", "gd"),
    "derivation/test_orders_slopes.py": (),
    "derivation/test_orders_truth.py": ("heavyball",),
    "derivation/test_random_declarations.py": (),
    "derivation/test_slopes.py": (),
    "derivation/test_truth.py": ("heavyball", "adamw]"),
    "documents/test_notebook.py": ("adamw]", "stranger"),
    "documents/test_paper_latex.py": ("adamw-1", "grouping"),
    "documents/test_typeset.py": ("adamw", "letters", "one_line"),
    "house/test_examples.py": (),
    "house/test_fuzz.py": (),
    "house/test_wheel.py": (),
    "method/test_any_memory.py": (),
    "method/test_kernels.py": (
        "[geometric]",
        "[delay 1]",
        "[bias-corrected]",
        "[equal decays]",
        "[nesterov]",
    ),
    "output/": ("whole", "full_disk", "planted", "confined", "FILE"),
    "program/test_lowering.py": ("adamw-1", "heavyball"),
    "targets/test_c_names.py": ("gcc",),
    "targets/test_emitted_loss.py": ("adamw",),
    "targets/test_emitted_map_loss.py": ("numpy", "without"),
    "targets/test_emitted_modules.py": ("adamw", "[1-"),
    "targets/test_emitted_values.py": ("adamw-1-numpy", "adamw-1-torch", "of_jax[heavyball"),
    "targets/test_injection.py": ("bibtex", "numpy", "refused", "torch_are", "html"),
    "targets/test_jax_module.py": ("bad_values",),
    "targets/test_kernel_build.py": (),
    "targets/test_kernel_optimizer.py": (),
    "targets/test_kernel_tensors.py": (),
    "targets/test_kernels.py": (),
    "targets/test_octave.py": (),
    "targets/test_tensors.py": ("one_tensor[nsgd", "refuse"),
    "training/": ("refus", "test_step[heavyball"),
    "verification/test_verification.py": (),
}
"""Files whose tests take more than some eight seconds of CPU time together, as measured test by test, or a folder of
them; with the words in the names of those that are run by ``make quick`` all the same, so that every room is seen."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what the table leaves out of ``make quick``."""
    folder = Path(__file__).parent
    for item in items:
        place = item.path.relative_to(folder).as_posix()
        for slow, kept in SLOW.items():
            if place.startswith(slow) and not any(word in item.name for word in kept):
                item.add_marker(pytest.mark.slow)


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
