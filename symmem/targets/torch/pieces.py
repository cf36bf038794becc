"""Definitions that emitted modules take over verbatim, and the files of the runtime: read, never imported.

They are ordinary modules of :mod:`symmem.training`, which need torch; who writes text does not.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_TRAINING = Path(__file__).resolve().parents[2] / "training"


@cache
def _definitions(piece: str) -> dict[str, str]:
    """The definitions of a file of ``training/standalone``, by name."""
    source = (_TRAINING / "standalone" / f"{piece}.py").read_text(encoding="utf-8")
    lines = source.splitlines()
    return {
        node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in ast.parse(source).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }


def definitions(piece: str, names: Sequence[str]) -> list[str]:
    """The source of the named definitions, in this order."""
    known = _definitions(piece)
    return [known[name] for name in names]


def runtime_files() -> dict[str, str]:
    """The files of the runtime, by name."""
    paths = sorted((_TRAINING / "runtime").glob("*.py"))
    return {path.name: path.read_text(encoding="utf-8") for path in paths}
