"""Two thousand inputs that nobody would write: each ends in a result or in one line (make fuzz runs more)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "fuzz.py"
COUNT, CHUNK = 2000, 100
SECONDS = 0.2
"""Of each input: one that needs more is let go with the line of the budget."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    specification = importlib.util.spec_from_file_location("fuzz", TOOL)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["fuzz"] = module
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_every_input_ends_in_a_result_or_one_line(fuzz: ModuleType, first: int) -> None:
    found = fuzz.outcomes(range(first, first + CHUNK), SECONDS)
    assert [outcome for outcome in found if outcome.kind == "failed"] == []
    assert sum(outcome.kind in ("result", "spent") for outcome in found) > CHUNK / 10  # not all are refused


def test_a_seed_is_one_input(fuzz: ModuleType) -> None:
    assert fuzz.declaration(4711) == fuzz.declaration(4711)
    assert len({fuzz.declaration(seed) for seed in range(100)}) > 95


def test_a_failure_is_seen(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("broken")

    monkeypatch.setattr(fuzz, "read_toml", broken)
    assert [outcome.kind for outcome in fuzz.outcomes(range(3), SECONDS)] == ["failed"] * 3
