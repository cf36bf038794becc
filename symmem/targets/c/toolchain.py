"""The compiler and the archiver, and how sources become a library.  The only caller of a compiler."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from symmem.errors import SymmemError, quote

FLAGS = ("-std=c11", "-O3", "-fno-math-errno", "-ffp-contract=off", "-fPIC")
"""A shipped library is built for every processor of its kind: nothing here names the builder's own."""
OPENMP = "-fopenmp"
SHARED = ".dylib" if sys.platform == "darwin" else ".so"


@dataclass(frozen=True)
class Toolchain:
    """The compiler ``CC``, then ``cc``; the archiver ``AR``, then ``ar``; and whether there are threads."""

    compiler: tuple[str, ...]
    archiver: tuple[str, ...]
    openmp: bool

    @classmethod
    def found(cls, scratch: Path, threads: str | None = None) -> Toolchain:
        """What CC and AR name, else cc and ar; an error says what is missing.

        ``threads`` is "none", "openmp", or None: openmp where the compiler has it.
        """
        compiler, archiver = _tool("CC", "cc", "C compiler"), _tool("AR", "ar", "archiver")
        openmp = threads != "none" and _accepts_openmp(compiler, scratch)
        if threads == "openmp" and not openmp:
            raise SymmemError(
                f"the compiler {quote(compiler[0])} has no OpenMP; install it, or take --threads none"
            )
        return cls(compiler, archiver, openmp)

    @property
    def threads(self) -> tuple[str, ...]:
        """The option that lets the compiler use threads."""
        return (OPENMP,) if self.openmp else ()


def _tool(variable: str, name: str, what: str) -> tuple[str, ...]:
    chosen = shlex.split(os.environ.get(variable, "")) or [name]
    if shutil.which(chosen[0]) is None:
        raise SymmemError(f"there is no {what} {quote(chosen[0])}; install one, or name it in {variable}")
    return tuple(chosen)


def _run(command: Sequence[str], folder: Path) -> None:
    """In the scratch folder, with the tool's own temporary files there too: one that is interrupted leaves them."""
    subprocess.run(
        command, cwd=folder, env={**os.environ, "TMPDIR": str(folder)}, check=True, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def _accepts_openmp(compiler: Sequence[str], scratch: Path) -> bool:
    """Whether a program with threads can be compiled and linked."""
    text = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
    (scratch / "probe.c").write_text(text, encoding="utf-8")
    try:
        _run([*compiler, OPENMP, "probe.c", "-o", "probe"], scratch)
    except subprocess.CalledProcessError:
        return False
    return True


def versioned(name: str, version: str) -> str:
    """``libNAME.so.0.1``: programs ask for it; a version before 1.0 may change its functions with the second number."""
    major, minor, *_ = version.split(".")
    number = major if int(major) else f"{major}.{minor}"
    return f"lib{name}.{number}.dylib" if sys.platform == "darwin" else f"lib{name}.so.{number}"


def compile_library(tools: Toolchain, sources: Sequence[str], name: str, version: str, made: Path) -> None:
    """``lib/lib<name>``, shared and as an archive, in the folder ``made``; the sources lie beside that folder."""
    place, shared = made / "lib", versioned(name, version)
    objects = _objects(tools, sources, made)
    _link(tools, objects, place / shared)
    # What a linker looks for: a copy and no link, since archives and file systems lose links.
    shutil.copyfile(place / shared, place / f"lib{name}{SHARED}")
    _run([*tools.archiver, "rcs", str(place / f"lib{name}.a"), *objects], made.parent)


def compile_alone(tools: Toolchain, sources: Sequence[str], name: str, made: Path) -> Path:
    """The same without threads, as a shared library beside the folder ``made``."""
    alone, library = replace(tools, openmp=False), made.parent / f"lib{name}_alone{SHARED}"
    _link(alone, _objects(alone, sources, made), library)
    return library


def _objects(tools: Toolchain, sources: Sequence[str], made: Path) -> list[str]:
    objects = []
    for source in sources:
        objects.append(str(made.parent / Path(source).with_suffix(".o" if tools.openmp else ".alone.o")))
        places = (f"-I{made / 'include'}", "-c", source, "-o", objects[-1])
        _run([*tools.compiler, *FLAGS, *tools.threads, *places], made.parent)
    return objects


def _link(tools: Toolchain, objects: Sequence[str], library: Path) -> None:
    """A shared library that has its file's name, by which programs find it again, wherever the folder is moved."""
    shared = library.name
    own_name = f"-install_name,@rpath/{shared}" if sys.platform == "darwin" else f"-soname,{shared}"
    scratch, places = Path(objects[0]).parent, ("-lm", "-o", str(library))
    command = [*tools.compiler, "-shared", f"-Wl,{own_name}", *objects, *tools.threads, *places]
    _run(command, scratch)
