"""Built kernels: a library with its headers, package files and Python modules.

include/symmem_adamw.h   lib/libsymmem_adamw.so, .so.0.1, .a   lib/pkgconfig/symmem-adamw.pc
lib/cmake/symmem-adamw/  python/symmem_adamw.py
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from symmem import __version__
from symmem.derivation.derivation import Derivation
from symmem.errors import CompilerError, SymmemError, quote
from symmem.output.files import check_folder, make_folder, write_set
from symmem.output.rendering import render
from symmem.output.scratch import scratch_folder
from symmem.program.lowering import lower
from symmem.targets.c.layout import CFiles, c_files, c_name
from symmem.targets.c.toolchain import SHARED, Toolchain, compile_alone, compile_library
from symmem.targets.c.wheel import wheel
from symmem.targets.c.wrapper import kernel_module, runtime_modules
from symmem.targets.numpy.module import numpy_text

LOG = "symmem-build.log"


@dataclass(frozen=True)
class Package:
    """How the library is found: ``symmem-adamw`` by pkg-config and CMake, ``libsymmem_adamw`` by a linker."""

    name: str
    library: str
    target: str

    @classmethod
    def of(cls, names: Sequence[str]) -> Package:
        """One optimizer by its own name, several as ``kernels``."""
        name = names[0] if len(names) == 1 else "kernels"
        return cls(f"symmem-{name}", f"symmem_{c_name(name)}", f"symmem::{c_name(name)}")


def build(
    derivations: Sequence[Derivation], folder: str, *, threads: str | None = None, as_wheel: bool = False
) -> Path:
    """Compiles the kernels and lays them out in the folder; nothing is changed there unless all succeeds.

    ``threads`` is "openmp" or "none", where it is not left to the compiler; a wheel lies beside the rest.
    """
    names = [derivation.optimizer.name for derivation in derivations]
    for name in names:
        if names.count(name) > 1:
            raise SymmemError(f"{quote(name)} is given twice; give each optimizer once")
    sources = [c_files(derivation) for derivation in derivations]
    package, target = Package.of(names), Path(folder)
    check_folder(folder)
    with scratch_folder() as scratch:
        made = scratch / "made"
        tools = Toolchain.found(scratch, threads)
        _lay_out_texts(derivations, sources, package, made)
        written = [files.source_name for files in sources]
        try:
            compile_library(tools, written, package.library, __version__, made)
            libraries = [made / "lib" / f"lib{package.library}{SHARED}"]
            if as_wheel and tools.openmp:
                libraries.append(compile_alone(tools, written, package.library, made))
        except subprocess.CalledProcessError as error:
            raise CompilerError(_complaint(error, target)) from None
        _package_files(package, made, tools)
        if as_wheel:
            modules = [Path(files.header_name).stem for files in sources]
            name, content = wheel(made, libraries, package.library, package.name, modules)
            (made / name).write_bytes(content)
        _install(made, target)
    return target


def _lay_out_texts(
    derivations: Sequence[Derivation], sources: Sequence[CFiles], package: Package, made: Path
) -> None:
    for part in ("include", "lib", "python"):
        (made / part).mkdir(parents=True)
    for name, text in runtime_modules().items():
        (made / "python" / name).write_text(text, encoding="utf-8")
    for derivation, files in zip(derivations, sources, strict=True):
        stem, program = Path(files.header_name).stem, lower(derivation)
        texts = {
            made / "include" / files.header_name: files.header,
            made / "python" / f"{stem}.py": kernel_module(program, package.library),
            made / "python" / f"_{stem}.py": numpy_text(derivation, program),
        }
        texts[made.parent / files.source_name] = files.source
        for place, text in texts.items():
            place.write_text(text, encoding="utf-8")


def _complaint(error: subprocess.CalledProcessError, target: Path) -> str:
    """The compiler's words go to a file, whose name is in the message."""
    log = target / LOG
    words = (
        f"The words of a compiler, written by symmem {__version__}:\n\n{shlex.join(map(str, error.cmd))}\n\n"
    )
    make_folder(str(target))
    write_set({str(log): f"{words}{error.output or ''}"}, str(target))
    return f"the compiler {error.cmd[0]} rejected the code; its message is in {log}"


def _package_files(package: Package, made: Path, tools: Toolchain) -> None:
    values = {
        "name": package.name,
        "library": package.library,
        "target": package.target,
        "version": __version__,
        "threads": "".join(f" {flag}" for flag in tools.threads),
        "openmp": tools.openmp,
        "ending": SHARED,
    }
    places = {
        "package.pc": made / "lib" / "pkgconfig" / f"{package.name}.pc",
        "config.cmake": made / "lib" / "cmake" / package.name / f"{package.name}-config.cmake",
        "version.cmake": made / "lib" / "cmake" / package.name / f"{package.name}-config-version.cmake",
    }
    for template, place in places.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(render(f"kernels/{template}.jinja", values), encoding="utf-8")


def _install(made: Path, target: Path) -> None:
    """All files in their places, or none; a library that is in use stays what it was."""
    files = sorted(path for path in made.rglob("*") if path.is_file())
    contents: dict[str, str | bytes] = {
        str(target / path.relative_to(made)): path.read_bytes() for path in files
    }
    wheels = [path for path in contents if Path(path).suffix == ".whl"]
    write_set(contents, str(target), named=wheels, absent=(str(target / LOG),))
