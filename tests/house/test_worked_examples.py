"""The worked examples beside the mathematics are true: every one in the docstrings of these rooms is run."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "symmem"
MODULES = sorted(
    f"symmem.{room}.{path.stem}"
    for room in ("algebra", "method", "derivation")
    for path in (PACKAGE / room).glob("[!_]*.py")
    if ">>> " in path.read_text()
)


@pytest.mark.parametrize("name", MODULES)
def test_worked_examples(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
