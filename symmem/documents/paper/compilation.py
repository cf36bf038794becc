"""LaTeX -> PDF: the only caller of pdflatex.

The compiler runs in a folder of its own, without shell escape, and may read and write there alone: a declaration from a
stranger is typeset by it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from symmem.errors import SymmemError
from symmem.records import record

PACKAGES = "texlive-latex-extra texlive-fonts-recommended lmodern"
RUNS = 3
"""References settle in the second run; a third where they moved by it."""
SECONDS = 120


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
    with tempfile.TemporaryDirectory(prefix="symmem-") as folder:
        for name, content in {**beside, "document.tex": document}.items():
            (Path(folder) / name).write_text(content, encoding="utf-8")
        command = [compiler, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "document.tex"]
        limits = {"openin_any": "p", "openout_any": "p", "max_print_line": "1000"}
        for _ in range(RUNS):
            try:
                done = subprocess.run(
                    command, cwd=folder, env={**os.environ, **limits}, capture_output=True, check=False,
                    stdin=subprocess.DEVNULL, timeout=SECONDS,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return Typeset(None, f"pdflatex did not end within {SECONDS} seconds\n")
            log = _log(Path(folder))
            if done.returncode != 0:
                return Typeset(None, log or done.stdout.decode("utf-8", "replace"))
            if "Rerun to get" not in log:
                break
        printed = Path(folder) / "document.pdf"
        return Typeset(printed.read_bytes() if printed.exists() else None, log)


def _log(folder: Path) -> str:
    path = folder / "document.log"
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
