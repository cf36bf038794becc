"""The breaks of ``make mutants`` apply to the code as it is: whoever moves a line takes its break along."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BREAKS = [
    each
    for table in sorted((REPOSITORY / "tools" / "breaks").glob("*.toml"))
    for each in tomllib.loads(table.read_text(encoding="utf-8"))["break"]
]


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("broken", BREAKS, ids=lambda broken: broken["name"])
def test_a_break_stands_once_in_the_code_and_its_tests_are_there(broken: dict) -> None:
    text = (REPOSITORY / broken["file"]).read_text(encoding="utf-8")
    assert text.count(broken["old"]) == 1
    assert broken["old"] != broken["new"]
    assert broken["tests"]
    for test in broken["tests"]:
        path, _, function = test.partition("::")
        assert (REPOSITORY / path).exists()
        assert not function or function.split("[", maxsplit=1)[0] in functions(REPOSITORY / path)


def test_names_are_distinct_and_every_representation_is_broken() -> None:
    assert len({broken["name"] for broken in BREAKS}) == len(BREAKS)
    for room in ("method", "algebra", "derivation", "program", "training"):
        assert sum(broken["file"].startswith(f"symmem/{room}/") for broken in BREAKS) >= 20, room
