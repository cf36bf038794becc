"""Every kernel of the Triton target compiled ahead of time to PTX, for two architectures and without a GPU."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

import probe
import pytest
from triton_probe import emitted

SHOWN = ("adamw", "rmsprop", "lion")
ARCHITECTURES = (80, 90)
TYPES = {"float64": ("v2.b64", "f64"), "float32": ("v4.b32", "f32"), "bfloat16": ("v4.b32", "f32")}
"""How 16 bytes are read at a time, and the type of the arithmetic."""
pytestmark = pytest.mark.prove


def kernels(module: ModuleType) -> list[Any]:
    """Those that are launched: they have a table."""
    found = [each for each in vars(module).values() if "table" in getattr(each, "arg_names", ())]
    assert found
    return found


def compiled(module: ModuleType, kernel: Any, kind: str, architecture: int) -> str:
    """The PTX, as a launch on aligned tensors of one type would have it."""
    from triton.backends.compiler import GPUTarget  # noqa: PLC0415
    from triton.compiler import ASTSource  # noqa: PLC0415

    tl, names = module.tl, kernel.arg_names
    real = tl.float64 if kind == "float64" else tl.float32
    settings = {"BLOCK": 1024, "REAL": real, "KINDS": (getattr(tl, kind),) * 12, "ALIGNED": True}
    pointers = {"table": "*i64", "owner": "*i64"}
    types = {name: pointers.get(name, "*fp64" if "rows" in name else "fp64") for name in names}
    source = ASTSource(
        fn=kernel,
        signature=types | dict.fromkeys(settings, "constexpr"),
        constexprs={(names.index(name),): value for name, value in settings.items()},
    )
    made = module.triton.compile(source, target=GPUTarget("cuda", architecture, 32), options={"num_warps": 4})
    return str(made.asm["ptx"])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", SHOWN)
def test_every_kernel_compiles(
    name: str, architecture: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    module = emitted(probe.derivation(name, 1), "compiler")
    width, real = TYPES[kind]
    for kernel in kernels(module):
        numbers = [each for each in kernel.params if re.fullmatch(r"a\d+", each.name)]
        assert all(each.annotation_type == "fp64" for each in numbers), "a launch would round them to float32"
        ptx = compiled(module, kernel, kind, architecture)
        assert f".target sm_{architecture}" in ptx
        assert re.search(rf"ld\.global\.{re.escape(width)}", ptx), "entries are read one by one"
        assert real == "f64" or not re.search(r"\b(mul|fma|add|sub|div|sqrt)\S*\.f64\b", ptx)
