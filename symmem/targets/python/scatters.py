"""The numbers of an epoch in an emitted function: the memories at a step, and what their weights scatter by."""

from __future__ import annotations

from collections.abc import Sequence

from symmem.program.memories import MemoryRecursion
from symmem.program.noise import scatter
from symmem.targets.python.layout import INDENT, WIDTH
from symmem.targets.python.writer import PythonWriter


def scatter_lines(memories: Sequence[MemoryRecursion], writer: PythonWriter) -> list[str]:
    """``memories(n)``, and the assignment of all scatters, those of q <= r in order."""
    lines = ["", "def memories(n):", f"{INDENT}return ["]
    for memory in memories:
        links = [f"({row}, {column}, {writer.number(value)})" for row, column, value in memory.links]
        rows = (memory.fed, memory.read, memory.first)
        parts = [links, *([writer.number(entry) for entry in entries] for entries in rows)]
        lines += _entry(parts)
    count = len(memories)
    names = [writer.scope.name(scatter(q, r)) for q in range(count) for r in range(q, count)]
    return [*lines, f"{INDENT}]", "", *_listed(names, " = _scatters(batches, memories)", 1)]


def _entry(parts: list[list[str]]) -> list[str]:
    """A memory: on one line, else a line for each part."""
    lists = [f"[{', '.join(part)}]" for part in parts]
    line = f"({', '.join(lists)}),"
    if len(line) + 3 * len(INDENT) <= WIDTH:
        return [f"{INDENT * 2}{line}"]
    inner = [line for part in parts for line in _listed(part, ",", 4)]
    return [f"{INDENT * 2}(", *(f"{INDENT * 3}{line}" for line in inner), f"{INDENT * 2}),"]


def _listed(entries: list[str], end: str, depth: int) -> list[str]:
    """A list: on one line, else an entry a line; it stands ``depth`` levels deep."""
    line = f"[{', '.join(entries)}]{end}"
    if len(line) + depth * len(INDENT) <= WIDTH:
        return [line]
    return ["[", *(f"{INDENT}{entry}," for entry in entries), f"]{end}"]
