"""Definitions that emitted modules take over verbatim, and the files of the runtime: read, never imported.

They are ordinary modules of :mod:`symmem.training`, which need torch; who writes text does not.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from symmem.program.program import Need

_TRAINING = Path(__file__).resolve().parents[2] / "training"


@cache
def _definitions(piece: str) -> dict[str, str]:
    """The functions, classes and names of a file of ``training/standalone``, by name."""
    source = (_TRAINING / "standalone" / f"{piece}.py").read_text(encoding="utf-8")
    lines, found = source.splitlines(), {}
    for node in ast.parse(source).body:
        text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = text
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = text
    return found


def definitions(piece: str, names: Sequence[str]) -> list[str]:
    """The source of the named definitions, in this order."""
    known = _definitions(piece)
    return [known[name] for name in names]


def renamed(piece: str, name: str, new: str) -> str:
    """The source of a function under another name."""
    (source,) = definitions(piece, [name])
    return source.replace(f"def {name}(", f"def {new}(", 1)


_HELPERS = {
    Need.LIKE: ("_like",),
    Need.ZEROS: ("_zeros",),
    Need.STEPS: ("_steps", "_added"),
    Need.OLDEST: ("_oldest",),
}


def helpers(needs: Collection[Need], always: Sequence[str] = ()) -> list[str]:
    """The small functions that formulas with these needs call, and those that are always called."""
    names = [name for need, own in _HELPERS.items() if need in needs for name in own]
    return definitions("helpers", list(dict.fromkeys([*always, *names])))


def runtime_files() -> dict[str, str]:
    """The files of the runtime, by name."""
    paths = sorted((_TRAINING / "runtime").glob("*.py"))
    return {path.name: path.read_text(encoding="utf-8") for path in paths}
