"""Code that does not vary with the optimizer: named parts of a Python file, copied word for word."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from symmem.program.needs import Need


@dataclass(frozen=True)
class Helpers:
    """A file of small functions: those that every module has, and those that it has where it needs them."""

    file: Path
    always: tuple[str, ...]
    needed: Mapping[Need, tuple[str, ...]] = field(default_factory=dict)

    def chosen(self, needs: Collection[Need]) -> list[str]:
        """The source of each function, in the order of the file."""
        names = {*self.always, *(name for need in needs for name in self.needed.get(need, ()))}
        return copied(self.file, names)


def copied(file: Path, names: Collection[str]) -> list[str]:
    """The source of the named functions, classes and values at the top level of a file, in its order.

    Whole lines are copied: a comment behind a value comes along.
    """
    source = file.read_text(encoding="utf-8")
    lines = source.splitlines()
    found = {_name(node): lines[_start(node) - 1 : node.end_lineno] for node in ast.parse(source).body}
    missing = set(names) - set(found)
    assert not missing, f"{file.name} has no {missing}"
    return ["\n".join(text) for name, text in found.items() if name in names]


def _start(node: ast.stmt) -> int:
    """The first line of a statement, with its decorators."""
    decorators = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []
    return min([node.lineno, *(each.lineno for each in decorators)])


def _name(node: ast.stmt) -> str | None:
    """What a statement at the top level gives a name to."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return next((target.id for target in targets if isinstance(target, ast.Name)), None)
