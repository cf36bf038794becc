"""How the benchmarks measure: two things side by side in one run, interleaved, by the median."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Target:
    """What the ratio is held against: at most, or at least, ``bound``."""

    bound: float
    at_least: bool = False

    def met(self, ratio: float) -> bool:
        return ratio >= self.bound if self.at_least else ratio <= self.bound

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.bound:g}"


@dataclass(frozen=True)
class Row:
    """One line of the table: the seconds, or gigabytes, of a subject and of its measure, and the promised ratio.

    The ratio is ``subject / measure``, or the other way round where the target is a speed-up (at least).
    """

    name: str
    subject: float
    measure: float
    target: Target | None = None
    note: str = ""
    unit: str = "s"

    @property
    def ratio(self) -> float:
        speed_up = self.target is not None and self.target.at_least
        return self.measure / self.subject if speed_up else self.subject / self.measure

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        return "ok" if self.target.met(self.ratio) else "MISSED"


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def side_by_side(
    subject: Callable[[], float], measure: Callable[[], float], rounds: int = 9, patience: float = 30.0
) -> tuple[float, float]:
    """The medians of two timings taken in turn, so that a slow moment of the machine hits both.

    No new round begins once ``patience`` seconds are spent: what is slow is measured less often.
    """
    pairs = [(subject(), measure())]
    while len(pairs) < rounds and sum(map(sum, pairs)) < patience:
        pairs.append((subject(), measure()))
    return median(first for first, _ in pairs), median(second for _, second in pairs)


def process_seconds(*arguments: str) -> float:
    """A cold Python process with these arguments, its output read from a pipe; it has to succeed."""
    return seconds(lambda: subprocess.run([sys.executable, *arguments], capture_output=True, check=True))
