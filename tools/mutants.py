"""``make mutants``: breaks the code at one place at a time and runs the tests that ought to see it.

The breaks are data, in breaks/*.toml beside this file: a name, a file, a text that stands in it exactly once, what it
becomes, and the tests to run.  Each is applied in a scratch copy of the committed tree (a git worktree); the tests have
to fail, or to take longer than the limit.  A break that they let pass is a survivor: a statement nobody checks.

    python tools/mutants.py                    all of them, two at a time
    python tools/mutants.py kernel scope       those whose name or file contains one of the words
    python tools/mutants.py --jobs 1 --limit 120

Exit codes: 0 none survived, 1 a survivor, 2 a break that does not apply any more or tests that fail unbroken.
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PASSED, NO_SUCH_TEST, NOTHING_CHOSEN = 0, 4, 5
"""Exit codes of pytest."""


@dataclass(frozen=True)
class Break:
    """One change of the code that has to be noticed."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What the tests said to a break."""

    broken: Break
    word: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.word:<9} {self.seconds:5.0f} s  {self.broken.name}  ({self.broken.file})"


class Copy:
    """A scratch copy of the tree, in which one break stands at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.writes = 0

    def outcome(self, broken: Break, limit: float) -> Outcome:
        """Applies the break, runs its tests, and takes it back."""
        path, start = self.folder / broken.file, time.monotonic()
        whole = path.read_text(encoding="utf-8") if path.is_file() else ""
        if whole.count(broken.old) != 1 or broken.old == broken.new:
            return Outcome(broken, "STALE", 0.0)
        self._write(path, whole.replace(broken.old, broken.new))
        try:
            code = self.tests(broken.tests, limit)
        finally:
            self._write(path, whole)
        words = {None: "too long", PASSED: "SURVIVED", NO_SUCH_TEST: "STALE", NOTHING_CHOSEN: "STALE"}
        return Outcome(broken, words.get(code, "seen"), time.monotonic() - start)

    def tests(self, names: Sequence[str], limit: float) -> int | None:
        """The exit code of pytest; None where it took too long."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *names]
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return None

    def _write(self, path: Path, text: str) -> None:
        """Every version gets a second of its own, or Python would take the bytecode of another for it."""
        path.write_text(text, encoding="utf-8")
        self.writes += 1
        os.utime(path, (1_000_000_000 + self.writes,) * 2)


def breaks(words: Sequence[str]) -> list[Break]:
    """Those of the table whose name or file contains one of the words; all without words."""
    tables = sorted((REPOSITORY / "tools" / "breaks").glob("*.toml"))
    every = [
        Break(row["name"], row["file"], row["old"], row["new"], tuple(row["tests"]))
        for table in tables
        for row in tomllib.loads(table.read_text(encoding="utf-8"))["break"]
    ]
    return [b for b in every if not words or any(word in b.name or word in b.file for word in words)]


@contextmanager
def copies(count: int) -> Iterator[queue.Queue[Copy]]:
    """Scratch copies of the committed tree, handed out one by one."""
    base = Path(tempfile.mkdtemp(prefix="mutants-"))
    made: queue.Queue[Copy] = queue.Queue()
    try:
        for number in range(count):
            folder = base / f"copy{number}"
            _git("worktree", "add", "--quiet", "--detach", str(folder), "HEAD")
            made.put(Copy(folder))
        yield made
    finally:
        shutil.rmtree(base, ignore_errors=True)
        _git("worktree", "prune")


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(REPOSITORY), *arguments], check=True)


def _pass_unbroken(chosen: Sequence[Break], free: queue.Queue[Copy], limit: float) -> bool:
    copy = free.get()
    code = copy.tests(sorted({test for broken in chosen for test in broken.tests}), limit)
    free.put(copy)
    return code == PASSED


def main() -> int:
    """Runs the breaks and says what became of them."""
    parser = argparse.ArgumentParser(description="Breaks the code at one place at a time and runs the tests.")
    parser.add_argument(
        "words", nargs="*", help="run only the breaks whose name or file contains one of them"
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument(
        "--limit", type=float, default=300.0, help="seconds after which a break counts as seen"
    )
    parser.add_argument("--trust", action="store_true", help="do not run the tests without a break first")
    given = parser.parse_args()
    chosen = breaks(given.words)
    with copies(given.jobs) as free:

        def try_out(broken: Break) -> Outcome:
            copy = free.get()
            try:
                outcome = copy.outcome(broken, given.limit)
            finally:
                free.put(copy)
            print(outcome, flush=True)
            return outcome

        if not given.trust and not _pass_unbroken(chosen, free, 20 * given.limit):
            print("the tests of these breaks do not pass without a break", file=sys.stderr)
            return 2
        with ThreadPoolExecutor(given.jobs) as pool:
            outcomes = list(pool.map(try_out, chosen))
    survivors = [o for o in outcomes if o.word == "SURVIVED"]
    stale = [o for o in outcomes if o.word == "STALE"]
    print(f"{len(outcomes)} breaks, {len(survivors)} survived, {len(stale)} do not apply any more")
    return 1 if survivors else 2 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
