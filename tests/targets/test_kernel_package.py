"""Built kernels in other people's programs: a prefix that was moved, with a space in its path, and a wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compiled import built, few_passes
from machine import needs

import symmem
from symmem.errors import SymmemError
from symmem.targets.c.build import build
from symmem.targets.c.toolchain import Toolchain

ROOT = Path(__file__).resolve().parents[2]
OPTIMIZERS = {"c": ("adamw",), "cpp": ("adamw",), "cmake": ("lion", "adamw")}
TOOLS = {"c": ("make", "pkg-config"), "cpp": ("c++", "pkg-config"), "cmake": ("cmake", "ctest")}
SAID = {
    "c": f"adamw by symmem {symmem.__version__}",
    "cpp": "refused: adamw: out of range",
    "cmake": "100% tests passed",
}


def commands(example: str) -> list[str]:
    """What the README of an example says to type, line by line."""
    blocks = (ROOT / "examples" / example / "README.md").read_text().split("```sh\n")[1:]
    return [line for block in blocks for line in block.partition("```")[0].splitlines()]


def typed(lines: list[str], folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e"], input="\n".join(lines), cwd=folder, check=False, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "PATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize("example", OPTIMIZERS)
def test_examples_as_they_are_written(shared_folder: Path, tmp_path: Path, example: str) -> None:
    """In a folder with a space in its name, with kernels that were built elsewhere and moved there."""
    needs("bash", *TOOLS[example])
    folder = Path(shutil.copytree(ROOT / "examples" / example, tmp_path / "my programs" / example))
    shutil.copytree(built(shared_folder, OPTIMIZERS[example]), folder / "kernels")
    lines = [line for line in commands(example) if not line.startswith("symmem build")]
    assert SAID[example] in typed(lines, folder)


@pytest.mark.prove
@pytest.mark.parametrize("example", OPTIMIZERS)
def test_examples_with_their_build(tmp_path: Path, example: str) -> None:
    folder = Path(shutil.copytree(ROOT / "examples" / example, tmp_path / "my programs" / example))
    assert SAID[example] in typed(commands(example), folder)


USED = """
import numpy as np, torch
import symmem_gd, symmem_heavyball
theta, grad = np.array([1.0, -2.0]), lambda theta: theta**3
step = symmem_heavyball.step(theta, grad, lambda theta, v: 3 * theta**2 * v, n=1, lr=0.1, beta=0.9)
# F = (1 + beta) grad, M = lr beta D2L(grad) at n = 1
np.testing.assert_allclose(step, theta - 0.1 * (1.9 * theta**3 + 0.09 * 3 * theta**5), rtol=1e-14)
np.testing.assert_allclose(symmem_gd.memoryless(theta, grad), theta**3)
assert symmem_gd.torch_operators().direction(torch.ones(2), torch.ones(2), -1, []).shape == (0, 2)
moved = torch.tensor([1.0, -2.0])
products = symmem_heavyball.torch_operators().direction(moved, moved**3, 1, [0.9]) * 3
symmem_heavyball.torch_operators().step_(moved, torch.tensor([1.0, -8.0]), products, 1, 0.1, [0.9])
print(symmem_gd._kernels.library._name)
"""


OPERATOR = """
import torch, symmem_adamw
theta, grad = torch.tensor([1.0, -2.0]), torch.tensor([0.3, 0.4])
eps, decay = 0.04, 0.5
direction = torch.compile(symmem_adamw.torch_operators().direction, backend="eager")
found = direction(theta, grad, -1, [0.9, 0.99, eps, decay])
torch.testing.assert_close(found[0], grad / (grad**2 + eps).sqrt() + decay * theta)
"""


def test_an_operator_of_pytorch_from_a_moved_prefix(shared_folder: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(built(shared_folder, ("adamw",)), tmp_path / "my kernels"))
    done = subprocess.run(
        [sys.executable, "-c", OPERATOR], cwd=tmp_path, check=False, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(moved / "python"), "CC": "no-compiler"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def installed(tmp_path: Path, threads: str) -> Path:
    """The folder into which pip put a wheel of two optimizers."""
    folder, site = tmp_path / "built", tmp_path / "my site"
    derivations = [symmem.derive(name) for name in ("gd", "heavyball")]
    build(derivations, str(folder), threads=threads, as_wheel=True)
    (made,) = folder.glob("*.whl")
    assert made.name.startswith(f"symmem_kernels-{symmem.__version__}-py3-none-manylinux_2_")
    options = ["--quiet", "--no-index", "--no-deps", "--target", site]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, made], check=True)
    shutil.rmtree(folder)
    return site


def used(site: Path) -> Path:
    """The library that a program took, where there is no compiler."""
    done = subprocess.run(
        [sys.executable, "-c", USED], cwd=site.parent, check=False, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(site), "CC": "no-compiler"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def described(option: str, library: Path) -> str:
    return subprocess.run(["objdump", option, library], check=True, capture_output=True, text=True).stdout


def test_an_old_glibc_is_enough(tmp_path: Path) -> None:
    """Sums over the past and half precision ask for nothing that came after the 2.29 of the documents."""
    needs("objdump")
    with few_passes():
        folder = build([symmem.derive("rmsprop")], str(tmp_path / "built"), threads="none")
    asked = re.findall(r"GLIBC_2\.(\d+)", described("-T", folder / "lib" / "libsymmem_rmsprop.so"))
    assert 0 < max(map(int, asked)) <= 29


def test_a_wheel(tmp_path: Path) -> None:
    """Installed by pip where there is no compiler, and used from there: arrays, and operators of PyTorch."""
    site = installed(tmp_path, "none")
    library = used(site)
    assert library.is_relative_to(site)
    assert "libgomp" not in described("-p", library)  # no threads were asked for
    (tag,) = re.findall(
        r"^Tag: py3-none-manylinux_2_(\d+)_", next(site.glob("*.dist-info/WHEEL")).read_text(), re.M
    )
    asked = re.findall(r"GLIBC_2\.(\d+)", described("-T", library))
    assert int(tag) == max(map(int, asked))


def test_a_wheel_with_threads_where_openmp_is_missing(tmp_path: Path) -> None:
    site = installed(tmp_path, "openmp")
    library = used(site)
    assert "libgomp" in described("-p", library)
    library.write_bytes(b"")  # as if it could not be loaded
    other = used(site)
    assert other.name == "libsymmem_kernels_alone.so"
    assert "libgomp" not in described("-p", other)


def test_threads_that_the_compiler_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc -DNOTHING -fno-openmp-here")
    with pytest.raises(SymmemError, match="has no OpenMP; install it, or take --threads none"):
        Toolchain.found(tmp_path, "openmp")
    assert not Toolchain.found(tmp_path, "none").openmp
