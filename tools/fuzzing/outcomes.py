"""One input through the command, and for a part of them through every target: how it ended, and what it took."""

from __future__ import annotations

import gc
import io
import random
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import symmem
from fuzzing.checks import check_printed, check_targets
from fuzzing.declarations import Input, made
from symmem.cli.exits import ended
from symmem.cli.limits import limited
from symmem.declaration.toml import read_toml
from symmem.errors import BudgetError, SymmemError
from symmem.work import in_use

SECONDS = 10.0
MOST_MEGABYTES = 900
"""That an input may take beyond what its process held before; one that has just begun holds some 80."""
SHARE_OF_TARGETS = 0.08
SPENT = ("are spent in", "beyond any budget in", "is spent;", "too deep for Python;")
"""What the line of a budget says; a budget that is kept is no failure."""


@dataclass(frozen=True)
class Outcome:
    """How one input ended: ``ending`` is "result", "refused", "spent" or "failed"."""

    seed: int
    kind: str
    ending: str
    words: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0


def question(seed: int) -> list[str]:
    """The options of ``symmem derive`` for a seed."""
    chance = random.Random(f"question {seed}")
    rare = [
        ["--limit"], ["--format", "json"], ["--format", "latex"], ["--quadratic"], ["--set", "beta=0.5"],
        ["--set", "beta=0", "--limit"], ["--set", "eps=1e-6"], ["--at-step", "0"], ["--at-step", "3"],
        ["--at-step", "1000"], ["--at-step", "10000000000"], ["--order", "2"], ["--order", "2", "--limit"],
        ["--order", "3", "--limit"], ["--order", "0"], ["--at-step", "-1"],
    ]  # fmt: skip
    return chance.choice(rare) if chance.random() < 0.2 else []


def one(seed: int, seconds: float = SECONDS) -> Outcome:
    """The outcome of one seed."""
    given = made(seed)
    begin = time.process_time()
    _forget_peak()
    before = in_use().resident
    try:
        ending, words = _asked(given, question(seed), seconds)
        if ending == "result" and random.Random(f"targets {seed}").random() < SHARE_OF_TARGETS:
            ending, words = _through_targets(given, seconds)
    except Exception:  # this is what is looked for
        ending, words = "failed", traceback.format_exc()
    taken = peak_megabytes() - before
    if taken > MOST_MEGABYTES:
        ending, words = "failed", f"{taken:.0f} MB; {words}"
    return Outcome(seed, given.kind, ending, words, round(time.process_time() - begin, 3), round(taken))


def _asked(given: Input, options: list[str], seconds: float) -> tuple[str, str]:
    """``symmem derive - OPTIONS`` with the declaration on standard input, in this process."""
    streams = {
        name: io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for name in ("stdout", "stderr")
    }
    stdin = io.TextIOWrapper(io.BytesIO(given.text.encode("utf-8", "surrogatepass")), "utf-8")
    with mock.patch.multiple(sys, stdin=stdin, **streams):
        code = ended(["derive", "-", "--timeout", str(seconds), *options])
    said, complaint = (stream.buffer.getvalue().decode() for stream in streams.values())
    if code == 0:
        assert not complaint, complaint
        check_printed(said, given.text, options[1] if "--format" in options else "text")
        return "result", ""
    assert code == 2, (code, complaint)
    assert not said, "something was printed before the refusal"
    assert complaint.count("\n") == 1, complaint
    assert complaint.startswith("symmem: "), complaint
    return "spent" if any(word in complaint for word in SPENT) else "refused", complaint.strip()


def _through_targets(given: Input, seconds: float) -> tuple[str, str]:
    try:
        with limited(seconds):
            taken = check_targets(symmem.derive(read_toml(given.text, "fuzz.toml")))
    except (BudgetError, MemoryError, RecursionError) as error:
        return "spent", f"targets: {error}"
    except SymmemError as error:
        raise AssertionError(f"derive shows it, and the targets refuse all of it: {error}") from None
    return "result", " ".join(taken)


def _forget_peak() -> None:
    gc.collect(0)
    with suppress(OSError):  # a system without /proc
        Path("/proc/self/clear_refs").write_text("5")


def peak_megabytes() -> float:
    """The most memory that this process held since the last input began."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1000
    return in_use().resident
