"""Two thousand inputs that nobody would write: each ends in a result or in one line (make fuzz runs more)."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from symmem import work

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import fuzz  # noqa: E402
from fuzzing import checks, outcomes, workers  # noqa: E402
from fuzzing.declarations import KINDS, made  # noqa: E402

COUNT, CHUNK = 2000, 100
SECONDS = 0.04
TICK = 0.01
"""Of each input: one that needs more is let go with the line of the budget, at the next look at the clock."""


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_every_input_ends_in_a_result_or_one_line(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "TICK", TICK)
    found = [outcomes.one(seed, SECONDS) for seed in range(first, first + CHUNK)]
    assert [outcome for outcome in found if outcome.ending == "failed"] == []
    assert sum(outcome.ending in ("result", "spent") for outcome in found) > CHUNK / 10  # not all are refused


def test_a_seed_is_one_input_and_every_kind_comes() -> None:
    assert made(4711) == made(4711)
    several = [made(seed) for seed in range(500)]
    assert len({each.text for each in several}) > 480
    assert {each.kind for each in several} == set(KINDS)
    everything = "".join(made(seed).text for seed in range(2000))
    for word in ("where(", "prod(", "min(", "pi", "delay = ", "start = 0", '"-beta"', "g = \"m1\"", "[smooth]",
                 "[implementation]", "[schedule]", "norm(", "dot(", "polar(", "matmul(", "transpose(", "inverse_root(",
                 "newton_schulz(", "rms(", "mean(", "global_norm(", "global_dot(", "clip("):  # fmt: skip
        assert word in everything, word


def _broken(*_: object, **__: object) -> None:
    raise KeyError("broken")


def test_a_traceback_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symmem.declaration.loading.read_toml", _broken)
    assert [outcomes.one(seed, SECONDS).ending for seed in range(3)] == ["failed"] * 3


@pytest.mark.parametrize("said", ["", "F = zoo*grad\n", "F = nan\n"])
def test_an_output_without_a_value_is_seen(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symmem.cli.derive._formatted", lambda *_: said)
    found = [outcomes.one(seed, SECONDS).ending for seed in range(60)]
    assert "failed" in found
    assert "result" not in found


@pytest.mark.parametrize("target", ["numpy", "c", "octave", "json", "latex"])
def test_a_text_that_is_not_of_its_language_is_seen(target: str, tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text("int f(void) { return (1; }")
    with pytest.raises((AssertionError, SyntaxError, ValueError)):
        checks._check(target, "x = [(1\nif \\begin{a} {", tmp_path)


def test_memory_is_measured_for_each_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an input takes, whatever its process held before: a worker of the tests holds a gigabyte."""
    held = bytearray(b"x") * 150_000_000
    monkeypatch.setattr(outcomes, "_asked", lambda *_: ("result", str(len(bytearray(b"x") * 80_000_000))))
    monkeypatch.setattr(outcomes, "SHARE_OF_TARGETS", 0.0)
    found = outcomes.one(0, SECONDS)
    assert found.ending == "result"
    assert 20 < found.megabytes < 140
    monkeypatch.setattr(outcomes, "MOST_MEGABYTES", 20)
    assert outcomes.one(0, SECONDS).ending == "failed"
    assert len(held)


def _dies_at_three(seed: int, _seconds: float) -> outcomes.Outcome:
    if seed == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return outcomes.Outcome(seed, "linear", "result")


def test_a_process_that_dies_is_a_failure_of_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "one", _dies_at_three)
    found = {each.seed: each.ending for each in workers.all_outcomes(list(range(8)), 1, SECONDS)}
    assert found == {seed: "failed" if seed == 3 else "result" for seed in range(8)}


def test_a_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "one", lambda seed, _: outcomes.Outcome(seed, "linear", "result"))
    path = tmp_path / "fuzz.jsonl"
    options = fuzz.parsed(["--count", "4", "--jobs", "1", "--results", str(path)])
    assert len(fuzz.run(list(range(4)), options)) == 4
    path.write_text(path.read_text() + '{"seed": 4, "ki')  # a kill in the middle of a line
    monkeypatch.setattr(workers, "one", lambda seed, _: outcomes.Outcome(seed, "linear", "failed"))
    endings = {each.seed: each.ending for each in fuzz.run(list(range(6)), options)}
    assert endings == {0: "result", 1: "result", 2: "result", 3: "result", 4: "failed", 5: "failed"}
    assert {each.seed: each.ending for each in fuzz.kept(path).values()} == endings
    assert "4        0        0        2" in fuzz.table(fuzz.kept(path).values())


def test_the_budget_of_an_input_is_kept() -> None:
    spent = [each for seed in range(40) if (each := outcomes.one(seed, 0.01)).ending == "spent"]
    assert spent
    assert max(each.seconds for each in spent) < 5
