"""symmem build and symmem emit --target c: what is laid out, who can link it, and how it fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import compiled
import numpy as np
import probe
import pytest
from compiled import KERNELS, built, module
from machine import needs
from truth import LR

import symmem
from symmem.targets.c.layout import c_files
from symmem.targets.c.source import OF_SUMS, RUNTIME

ROOT = Path(__file__).resolve().parents[2]
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic")
COMPILERS = ("gcc", "clang")


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "symmem", *arguments],
        check=False, capture_output=True, text=True, env={**os.environ, **environment},
    )  # fmt: skip


def run(*words: object, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def write_sources(folder: Path, names: Sequence[str]) -> list[str]:
    """Header and source of the optimizers in the folder; the names of the sources."""
    files = [c_files(probe.derivation(name, 1)) for name in names]
    for each in files:
        (folder / each.header_name).write_text(each.header)
        (folder / each.source_name).write_text(each.source)
    return [each.source_name for each in files]


def test_clang_accepts_all(tmp_path: Path) -> None:
    """Every warning is an error, as it is for gcc where the library of the zoo is built."""
    run("clang", *STRICT, "-fsyntax-only", *write_sources(tmp_path, KERNELS), folder=tmp_path)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_sanitizers(tmp_path: Path, compiler: str) -> None:
    """AddressSanitizer and UndefinedBehaviorSanitizer, with streaming stores for every length.

    The sanitizers of clang see one source that has all of the fixed code, those of gcc three.
    """
    joins = {"adamw": 0, "rmsprop": 0, "nsgd-momentum": 1} if compiler == "gcc" else {"nsgd-momentum": 1}
    names = tuple(joins)
    sources = write_sources(tmp_path, names)
    checks = []
    for name in names:
        c_name = name.replace("-", "_")
        checks.append(f"check_{c_name}.c")
        defined = f"#define JOINS {joins[name]}\n#define OPTIMIZER {c_name}\n"
        text = f'{defined}#include "symmem_{c_name}.h"\n#include "kernel_check.h"\n'
        (tmp_path / checks[-1]).write_text(text)
    shutil.copy(ROOT / "tests" / "support" / "kernel_check.h", tmp_path)
    calls = [f"check_{name.replace('-', '_')}" for name in names]
    declared = "".join(f"size_t {call}(void);\n" for call in calls)
    printed = "".join(f'    printf("{call} %zu\\n", {call}());\n' for call in calls)
    main = f"#include <stdio.h>\n\n{declared}\nint main(void)\n{{\n{printed}    return 0;\n}}\n"
    (tmp_path / "main.c").write_text(main)
    sanitize = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    run(compiler, *STRICT, *sanitize, "-DSYMMEM_STREAM_BYTES=1", *sources, *checks, "main.c", "-lm", "-o", "check",
        folder=tmp_path)  # fmt: skip
    assert run("./check", folder=tmp_path) == "".join(f"{call} 0\n" for call in calls)


def test_the_thread_sanitizer(tmp_path: Path) -> None:
    """Two threads that call kernels with threads of their own, by clang: gcc's sanitizer does not know libgomp.

    libarcher tells the sanitizer what OpenMP does. A race that is meant is seen, without wide registers: their
    stores it does not look at.
    """
    needs("clang")
    archer = Path(run("clang", "-print-resource-dir", folder=tmp_path).strip()).parents[1] / "libarcher.so"
    needs(str(archer))
    sources = write_sources(tmp_path, ("adamw", "nsgd-momentum"))
    check = ROOT / "tests" / "support" / "threads_check.c"
    flags = (*STRICT, "-DSYMMEM_PORTABLE", "-g", "-O1", "-fsanitize=thread", "-fopenmp", "-I.")
    run("clang", *flags, *sources, check, "-lm", "-o", "check", folder=tmp_path)
    settings = {
        "OMP_NUM_THREADS": "3",
        "OMP_TOOL_LIBRARIES": str(archer),
        "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",
    }
    assert run("./check", folder=tmp_path, **settings) == "equal\n"
    raced = subprocess.run(
        ["./check", "race"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | settings,
    )
    assert raced.returncode != 0
    assert "data race" in raced.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("more", [(), ("-DSYMMEM_PORTABLE",), ("-DSYMMEM_STREAM_BYTES=1",)], ids=str)
def test_the_fixed_code_by_itself(tmp_path: Path, compiler: str, more: tuple[str, ...]) -> None:
    """The headers that are copied into every source, compiled as they lie in the package, and held to what they say."""
    runtime, check = ROOT / "symmem/targets/c/runtime", ROOT / "tests/support/runtime_check.c"
    flags = ("-O2", "-fno-math-errno", "-ffp-contract=off", *more, f"-I{runtime}")
    run(compiler, *STRICT, *flags, check, "-lm", "-o", "check", folder=tmp_path)
    assert run("./check", folder=tmp_path) == "0 failures\n"
    plain, joined = (c_files(probe.derivation(name, 1)).source for name in ("gd", "ngd"))
    for name in RUNTIME:
        assert (runtime / name).read_text() in joined
        assert ((runtime / name).read_text() in plain) == (name not in OF_SUMS)


def test_the_layout(tmp_path: Path) -> None:
    done = command("build", "heavyball", "gd", "-o", str(tmp_path / "kernels"), CC="cc")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    files = {str(path.relative_to(tmp_path / "kernels")) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {
        "include/symmem_gd.h",
        "include/symmem_heavyball.h",
        "lib/libsymmem_kernels.a",
        "lib/libsymmem_kernels.so",
        "lib/libsymmem_kernels.so.0.1",
        "lib/pkgconfig/symmem-kernels.pc",
        "lib/cmake/symmem-kernels/symmem-kernels-config.cmake",
        "lib/cmake/symmem-kernels/symmem-kernels-config-version.cmake",
        "python/symmem_gd.py",
        "python/symmem_heavyball.py",
        "python/_symmem_gd.py",
        "python/_symmem_heavyball.py",
        "python/_kernels_by_ctypes.py",
        "python/_kernels_checked.py",
        "python/_kernels_at_once.py",
        "python/_kernels_in_torch.py",
    }
    names = run("nm", "-D", "--defined-only", "lib/libsymmem_kernels.so", folder=tmp_path / "kernels")
    exported = {line.split()[-1] for line in names.splitlines()}
    public = ("memoryless", "direction", "correction", "step", "straight")
    public += ("update", "corrected_update", "straight_update")
    asked = {f"symmem_gd_{name}_{suffix}" for name in public for suffix in ("f32", "f64", "bf16", "f16")}
    asked |= {
        f"symmem_gd_{name}"
        for name in (
            "params_init",
            "params_size",
            "name",
            "declaration",
            "version",
            "message",
            "directions",
            "memories",
        )
    }
    assert {name for name in exported if name.startswith("symmem_gd")} == asked
    assert all(name.startswith("symmem_") for name in exported)


@pytest.mark.parametrize("name", ["ema-momentum-debiased", "gd", "lion"])
def test_the_python_module_is_formatted(shared_folder: Path, name: str) -> None:
    folder = built(shared_folder, KERNELS, "quick") / "python"
    ruff = [sys.executable, "-m", "ruff"]
    file = f"symmem_{name.replace('-', '_')}.py"
    run(*ruff, "format", "--check", "--isolated", "--line-length", "88", file, folder=folder)
    run(*ruff, "check", "--isolated", "--select", "E,F,W,B", "--line-length", "88", file, folder=folder)


def test_emit_writes_header_and_source(tmp_path: Path) -> None:
    done = command("emit", "rmsprop-torch", "--target", "c", "-o", str(tmp_path / "new" / "c"))
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "new" / "c").iterdir()} == {
        "symmem_rmsprop_torch.h",
        "symmem_rmsprop_torch.c",
    }
    files = c_files(probe.derivation("rmsprop-torch", 1))
    assert (tmp_path / "new" / "c" / files.source_name).read_text() == files.source
    assert done.stdout.split() == [
        str(tmp_path / "new" / "c" / name) for name in (files.header_name, files.source_name)
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["emit", "adamw", "--target", "c"], "add -o DIR"),
        (["emit", "adamw", "--target", "c", "--order", "2", "-o", "x"], "order 1"),
        (["emit", "lion-k", "--target", "c", "-o", "x"], "latex, numpy, torch, jax, octave, coq and json"),
        (["build", "lion-k", "adamw", "-o", "x"], "latex, numpy, torch, jax, octave, coq and json"),
        (["build", "adamw", "adamw", "-o", "x"], "given twice"),
        (["build", "adamw", "-o", "file"], "not a directory"),
        (["build", "adamw"], "-o"),
        (["build", "-o", "x"], "NAME"),
        (["build", "nonsense", "-o", "x"], "nonsense"),
    ],
)
def test_bad_input(tmp_path: Path, arguments: list[str], words: str) -> None:
    (tmp_path / "file").write_text("mine")
    done = subprocess.run(
        [sys.executable, "-m", "symmem", *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_an_interrupted_compiler_leaves_goes_with_the_scratch_folder(tmp_path: Path) -> None:
    """Its temporary files lie there: gcc does not remove them where it is killed."""
    compiler, told = tmp_path / "compiler", tmp_path / "told"
    compiler.write_text(f'#!/bin/sh\ntouch "$TMPDIR/left.s" && echo "$TMPDIR" >> {told}\nexit 1\n')
    compiler.chmod(0o755)
    done = command("build", "gd", "-o", str(tmp_path / "x"), CC=str(compiler), TMPDIR=str(tmp_path))
    assert done.returncode == 1
    folders = {Path(line) for line in told.read_text().splitlines()}
    assert all(folder.is_relative_to(tmp_path) and folder != tmp_path for folder in folders)
    assert folders
    assert not any(folder.exists() for folder in folders)
    assert not list(tmp_path.rglob("left.s"))


def test_a_missing_compiler(tmp_path: Path) -> None:
    done = command("build", "gd", "-o", str(tmp_path / "x"), CC="no-such-compiler -O2")
    assert done.returncode == 2
    assert "no-such-compiler" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_compiler_that_rejects_the_code(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    done = command("build", "gd", "-o", str(folder), CC="cc -DSYMMEM_INLINE=nonsense -Werror")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert str(folder / "symmem-build.log") in done.stderr
    assert [path.name for path in folder.iterdir()] == ["symmem-build.log"]
    assert "error" in (folder / "symmem-build.log").read_text()
    assert command("build", "gd", "-o", str(folder)).returncode == 0
    assert not (folder / "symmem-build.log").exists()


def test_clang_builds_it_too(tmp_path: Path) -> None:
    done = command("build", "adamw", "-o", str(tmp_path / "x"), CC="clang")
    assert done.returncode == 0, done.stderr
    found = module(tmp_path / "x", "adamw")
    exact = probe.truth("adamw", 1, 5)["step"]
    value = found.step(
        probe.THETA64, *probe.calls("adamw", 1, "step"), n=5, lr=float(LR), **probe.parameters("adamw")
    )
    assert exact.error(value) < 2e-13


def example(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples" / name, folder / name))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_c_program_by_pkg_config(shared_folder: Path, tmp_path: Path, compiler: str) -> None:
    packages = built(shared_folder, ("adamw",)) / "lib" / "pkgconfig"
    folder = example("c", tmp_path)
    said = run("make", f"CC={compiler}", "run", folder=folder, PKG_CONFIG_PATH=str(packages))
    assert f"adamw by symmem {symmem.__version__}" in said
    # The archive alone: nothing has to be found when the program starts.
    flags = run(
        "pkg-config",
        "--static",
        "--cflags",
        "--libs",
        "symmem-adamw",
        folder=folder,
        PKG_CONFIG_PATH=str(packages),
    )
    library = packages.parent / "libsymmem_adamw.a"
    words = [str(library) if word == "-lsymmem_adamw" else word for word in flags.split()]
    if compiler == "gcc":
        run(compiler, "train.c", *words, "-o", "static", folder=folder)
        run("./static", folder=folder)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_cpp_program(shared_folder: Path, tmp_path: Path, compiler: str) -> None:
    prefix = built(shared_folder, ("adamw",))
    folder = example("cpp", tmp_path)
    strict = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic")
    places = (
        f"-I{prefix / 'include'}",
        f"-L{prefix / 'lib'}",
        "-lsymmem_adamw",
        f"-Wl,-rpath,{prefix / 'lib'}",
    )
    run(compiler, *strict, "correction.cpp", *places, "-o", "correction", folder=folder)
    assert "refused: adamw: out of range: beta1 in [0, 1)" in run("./correction", folder=folder)


def test_a_program_asks_for_the_version_that_it_was_linked_with(shared_folder: Path, tmp_path: Path) -> None:
    """The file of that name is enough for it, and the one of another version is not taken."""
    prefix, folder, needed = built(shared_folder, ("adamw",)), example("cpp", tmp_path), tmp_path / "needed"
    needed.mkdir()
    places = (f"-I{prefix / 'include'}", f"-L{prefix / 'lib'}", "-lsymmem_adamw", f"-Wl,-rpath,{needed}")
    run("g++", "correction.cpp", *places, "-o", "correction", folder=folder)
    shutil.copy(prefix / "lib" / "libsymmem_adamw.so.0.1", needed)
    assert "refused" in run("./correction", folder=folder)
    (needed / "libsymmem_adamw.so.0.1").rename(needed / "libsymmem_adamw.so.0.2")
    assert subprocess.run(["./correction"], cwd=folder, capture_output=True, check=False).returncode == 127


def test_a_moved_folder_still_works(shared_folder: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(built(shared_folder, ("adamw",)), tmp_path / "elsewhere"))
    compiled.module.cache_clear()
    found = module(moved, "adamw")
    assert np.isfinite(found.memoryless(np.ones(3), np.sin)).all()
    assert str(moved) in found._kernels.library._name
