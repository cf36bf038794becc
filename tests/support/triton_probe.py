"""Emitted Triton modules as guests of the tests: on the stand-in, or under ``prove`` in Triton's own interpreter."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import probe
import pytest
import tl_stand_in
import torch

from symmem.derivation.derivation import Derivation
from symmem.targets.triton.module import triton_module

MACHINES = ["stand-in", pytest.param("triton", marks=pytest.mark.prove)]
GRADIENT = probe.contraction(probe.THETA64)


def needs_triton() -> None:
    """Skipped at a desk without Triton, an error under CI: ``make prove`` installs it."""
    if importlib.util.find_spec("triton") is None:
        message = "triton is not installed: pip install symmem[triton]"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)


@contextmanager
def found_triton(machine: str) -> Iterator[None]:
    """While a module is imported, ``import triton`` finds what it should."""
    if machine != "stand-in":
        needs_triton()
        yield
        return
    stand_in = tl_stand_in.modules()
    kept = {name: sys.modules.get(name) for name in stand_in}
    sys.modules.update(stand_in)
    try:
        yield
    finally:
        for name, module in kept.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


@cache
def emitted(derivation: Derivation, machine: str) -> ModuleType:
    """The module, from a file: Triton reads the source of its kernels; ``machine`` is stand-in, triton or compiler."""
    os.environ["TRITON_INTERPRET"] = "0" if machine == "compiler" else "1"
    path = Path(tempfile.mkdtemp()) / "emitted.py"
    path.write_text(triton_module(derivation))
    spec = importlib.util.spec_from_file_location("emitted", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with found_triton(machine):
        spec.loader.exec_module(module)
    return module


def interpreted(derivation: Derivation, machine: str) -> ModuleType:
    """The same, with the interpreter switched on for its calls."""
    made = emitted(derivation, machine)
    os.environ["TRITON_INTERPRET"] = "1"
    return made


def tensor(values: Any, kind: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.from_numpy(np.array(values, dtype=np.float64)).to(kind)


def products(module: ModuleType, n: int | None, values: dict[str, float]) -> list[np.ndarray]:
    """The products of the directions with the Hessian of the probe loss."""
    found = module.direction(tensor(probe.THETA64), tensor(GRADIENT), n=n, **values)
    return [probe.contraction(probe.THETA64, each.numpy()) for each in found]
