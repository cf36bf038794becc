"""Cold processes: what a person at a terminal waits for."""

from __future__ import annotations

import subprocess
import sys

from measure import HERE, Row, Target, process_seconds, side_by_side


def derive_adamw() -> Row:
    """``symmem derive adamw`` against ``import sympy``, which it cannot do without."""
    # An installation writes the bytecode; a checkout under PYTHONDONTWRITEBYTECODE has none.
    process_seconds("-m", "compileall", "-q", str(HERE.parent / "symmem"))
    found = side_by_side(
        lambda: process_seconds("-m", "symmem", "derive", "adamw"),
        lambda: process_seconds("-c", "import sympy"),
    )
    return Row("symmem derive adamw / import sympy", *found, Target(1.35))


def list_zoo() -> Row:
    return _without_sympy("list")


def help_text() -> Row:
    return _without_sympy("-h")


def _without_sympy(argument: str) -> Row:
    """A command that needs no formulas, against a bare interpreter; the note says whether it loads SymPy."""
    found = side_by_side(
        lambda: process_seconds("-m", "symmem", argument), lambda: process_seconds("-c", "pass")
    )
    traced = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "symmem", argument],
        capture_output=True,
        text=True,
        check=True,
    )
    loads = any(line.split("|")[-1].strip() == "sympy" for line in traced.stderr.splitlines())
    return Row(f"symmem {argument} / bare python", *found, note="IMPORTS SYMPY" if loads else "no sympy")
