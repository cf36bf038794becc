"""Commands that are killed while they run, each at many moments, and what is left; a script, for a process of its own.

``killed_commands.py FOLDER COMMANDS MOMENTS``: COMMANDS is a JSON file of ``{name: [argument, ...]}``, whose output goes
to ``out``.  Each runs once whole, which gives the new set; then a forked process runs it over an older set, or over
none, and dies before a call of the file system: half of the moments lie among the last calls, where files are written,
half anywhere.  Then the folder has the old set or the new one.  ``sweep`` is no set: its results file has some rows.
"""

from __future__ import annotations

import io
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import kills

import symmem.declaration.catalogue
from symmem.cli.exits import ended

LAST = 60
"""Calls at the end of a command among which half of the moments lie."""
ROWS = ["adam", "gd", "heavyball", "signum"]


def run(arguments: list[str]) -> None:
    """The command in this process; it has to succeed."""
    said = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(said), redirect_stderr(io.StringIO()) as complaint:
        code = ended(arguments)
    assert code == 0, complaint.getvalue()


def counted(arguments: list[str]) -> int:
    """How many calls of the file system the command makes."""
    said, told = os.pipe()

    def work() -> None:
        seen = 0

        def watch(event: str, _: object) -> None:
            nonlocal seen
            seen += event.startswith(kills.NOTICED)

        sys.addaudithook(watch)
        run(arguments)
        os.write(told, str(seen).encode())

    assert kills.forked(work)
    count = int(os.read(said, 100))
    os.close(said), os.close(told)
    return count


def dying(arguments: list[str], moment: int) -> Callable[[], None]:
    def work() -> None:
        kills.die_at(moment)
        run(arguments)

    return work


def rows_are_whole(folder: Path) -> str:
    """A results file has whole rows, of those that were asked for; where there is none yet, nothing is there."""
    left = kills.found(folder)
    assert set(left) <= {"rows.json"}, sorted(left)
    if not left:
        return "old"
    rows = json.loads(left["rows.json"])["rows"]
    assert set(rows) <= {*ROWS}
    assert all(entry["row"]["name"] == name for name, entry in rows.items())
    return "new" if len(rows) == len(ROWS) else "old"


def killed(name: str, arguments: list[str], folder: Path, moments: int) -> Counter[str]:
    kills.laid_out(folder, {})
    run(arguments)
    new = kills.found(folder)
    assert new, name
    old = {path: f"{text}\n# older\n" for path, text in new.items()} if name != "sweep" else {}
    kills.laid_out(folder, old)
    calls, seen = counted(arguments), Counter[str]()
    for number in range(moments):
        before = old if number % 4 else {}
        kills.laid_out(folder, before)
        first = max(1, calls - LAST) if number % 2 else 1
        kills.forked(dying(arguments, random.randint(first, calls)))
        seen[rows_are_whole(folder) if name == "sweep" else kills.judged(folder, before, new)] += 1
    return seen


def main() -> None:
    """Prints how often the old set was left, and how often the new one, for each command."""
    base, commands, moments = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()), int(sys.argv[3])
    kills.adopt_orphans()
    random.seed(11)
    symmem.declaration.catalogue.names = lambda *_: tuple(ROWS)  # type: ignore[assignment]
    os.chdir(base)
    print(json.dumps({name: killed(name, each, base / "out", moments) for name, each in commands.items()}))


if __name__ == "__main__":
    main()
