"""LaTeX -> PDF: the only caller of pdflatex.

A declaration from a stranger is typeset by it.  It runs in an empty folder of its own, with an environment of its own
and without shell escape, and opens no file but those of TeX itself and of that folder.  Three walls stand one behind
the other: kpathsea's (``openin_any``), which the primitives for PDF objects walk around; these primitives are taken
away; and where the kernel can confine a process (:mod:`symmem.output.confinement`) nothing else can be opened at all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from symmem.errors import SymmemError
from symmem.output import confinement
from symmem.output.scratch import scratch_folder
from symmem.records import record

PACKAGES = "texlive-latex-extra texlive-fonts-recommended lmodern"
RUNS = 3
"""References settle in the second run; a third where they moved by it."""
SECONDS = 120
_READERS = {
    "pdfobj": "pdfobj", "pdfximage": "pdfximage", "pdffiledump": "filedump", "pdfmdfivesum": "mdfivesum",
    "pdfmapfile": "mapfile", "pdfmapline": "mapline", "pdfprimitive": "primitive",
}  # fmt: skip
"""Primitives that read files without asking kpathsea, or that give back such a one; with their names in expl3."""
_TREES = "$TEXMFROOT:$TEXMFDIST:$TEXMFLOCAL:$TEXMFSYSVAR:$TEXMFSYSCONFIG:$TEXMFDEBIAN"
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/texmf", "/var/lib/texmf", "/nix/store")
_KEPT = ("PATH", "TEXMFCNF", "SOURCE_DATE_EPOCH")


@record(frozen=True)
class Typeset:
    """The PDF, or None where the compiler rejected the document, and its log."""

    pdf: bytes | None
    log: str


def compiler_path() -> str:
    """Where pdflatex is; an error that says what to install where it is not."""
    compiler = shutil.which("pdflatex")
    if compiler is None:
        raise SymmemError(f"pdflatex is not installed; on Debian: apt-get install {PACKAGES}")
    return compiler


def typeset_document(document: str, beside: Mapping[str, str]) -> Typeset:
    """The document as PDF; ``beside`` are further files that it may read, by name."""
    compiler = compiler_path()
    with scratch_folder() as folder:
        for name, content in {**beside, "document.tex": document}.items():
            (folder / name).write_text(content, encoding="utf-8")
        command = _command(compiler, folder)
        environment = _environment(folder)
        for _ in range(RUNS):
            try:
                done = subprocess.run(
                    command, cwd=folder, env=environment, capture_output=True, check=False,
                    stdin=subprocess.DEVNULL, timeout=SECONDS,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return Typeset(None, f"pdflatex did not end within {SECONDS} seconds\n")
            log = _log(folder)
            if done.returncode != 0:
                return Typeset(None, log or done.stdout.decode("utf-8", "replace"))
            if "Rerun to get" not in log:
                break
        printed = folder / "document.pdf"
        return Typeset(printed.read_bytes() if printed.exists() else None, log)


def _command(compiler: str, folder: Path) -> list[str]:
    """pdflatex, confined; the primitives that read files are gone before the document begins."""
    names = [name for ours, expl3 in _READERS.items() for name in (ours, f"tex_{expl3}:D")]
    gone = "".join(rf"\expandafter\let\csname {name}\endcsname\undefined" for name in names)
    options = ["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "-jobname=document"]
    script = [sys.executable, "-I", "-S", str(Path(confinement.__file__))]
    return [
        *script,
        str(folder),
        *_readable(compiler),
        "--",
        compiler,
        *options,
        rf"{gone}\input{{document.tex}}",
    ]


def _readable(compiler: str) -> list[str]:
    """Where TeX and the libraries of the system lie."""
    trees: list[str] = []
    finder = shutil.which("kpsewhich")
    if finder is not None:
        command = [finder, f"--expand-var={_TREES}"]
        found = subprocess.run(command, capture_output=True, check=False, text=True, timeout=SECONDS).stdout
        trees = [place for place in found.strip().replace("!", "").split(":") if place.startswith("/")]
    home = Path(compiler).resolve().parent.parent
    return [*_SYSTEM, *trees, *([str(home)] if len(home.parts) > 2 else [])]


def _environment(folder: Path) -> dict[str, str]:
    """No search path and no home of the user's: a name without a folder finds TeX's own files alone."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    own = dict.fromkeys(("HOME", "TMPDIR", "TEXMFHOME", "TEXMFVAR", "TEXMFCONFIG"), str(folder))
    return {
        **kept,
        **own,
        "openin_any": "p",
        "openout_any": "p",
        "max_print_line": "1000",
        "LC_ALL": "C.UTF-8",
    }


def _log(folder: Path) -> str:
    path = folder / "document.log"
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
