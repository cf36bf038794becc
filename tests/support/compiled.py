"""Built kernels for the tests: one library of the whole zoo, made once however many workers there are."""

from __future__ import annotations

import ctypes
import fcntl
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from unittest import mock

from truth import FIRST, load

import symmem
from symmem.targets.c import toolchain
from symmem.targets.c.build import build

KERNELS = tuple(name for name in FIRST if not load(name).functions)
"""The optimizers of the zoo that have a C target."""
STRICT = "-Wall -Wextra -Werror -pedantic"
VARIANTS = {
    "plain": f"cc {STRICT}",
    "streaming": "cc -DSYMMEM_STREAM_BYTES=1 -DSYMMEM_PARALLEL_ENTRIES=1",
    "portable": "cc -DSYMMEM_PORTABLE",
    "quick": f"cc {STRICT}",
}
"""Compilers: as a user has it, but that a warning is an error; with streaming stores and threads for every length;
without wide registers; and, where values of many optimizers are compared, with fewer passes of the compiler."""

WAYS = ("plain", "streaming", "portable")
"""Those in which a kernel runs differently."""


@contextmanager
def few_passes() -> Iterator[None]:
    """Libraries are built at -O1 in place of -O3, in less than half of the time."""
    quick = tuple("-O1" if flag == "-O3" else flag for flag in toolchain.FLAGS)
    with mock.patch.object(toolchain, "FLAGS", quick):
        yield


def built(shared: Path, names: tuple[str, ...], variant: str = "plain") -> Path:
    """The folder with the library of these optimizers."""
    folder = shared / f"kernels-{variant}-{'-'.join(names) if len(names) < 5 else 'zoo'}"
    with _locked(shared / "kernels.lock"):
        if not folder.exists():
            with mock.patch.dict(os.environ, {"CC": VARIANTS[variant]}), ExitStack() as stack:
                if variant == "quick":
                    stack.enter_context(few_passes())
                build([symmem.derive(load(name)) for name in names], str(folder))
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


@cache
def module(folder: Path, name: str) -> ModuleType:
    """The Python module of a built optimizer, as somebody with its path would load it."""
    path = folder / "python" / f"symmem_{name.replace('-', '_')}.py"
    specification = importlib.util.spec_from_file_location(f"{folder.name}-{path.stem}", path)
    assert specification is not None
    assert specification.loader is not None
    found = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = found
    specification.loader.exec_module(found)
    return found


def formulas(found: ModuleType) -> ModuleType:
    """The emitted NumPy module that lies beside a built one."""
    return found._beside(f"_symmem_{found.NAME.replace('-', '_')}")


def set_threads(count: int) -> None:
    ctypes.CDLL("libgomp.so.1").omp_set_num_threads(count)
