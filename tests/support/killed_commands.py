"""Commands that are killed while they run, each at many moments, and what is left; a script, for a process of its own.

``killed_commands.py FOLDER COMMANDS MOMENTS``: COMMANDS is a JSON file of ``{name: [argument, ...]}``, whose output
goes to ``out``.  Each runs whole over nothing and over an older set, which gives the new sets; then a forked process
runs it over an older set, or over none, and dies: before some call of the file system, or a moment after it has begun
to install the set.  Then the folder has the old set or the new one.  ``sweep`` is no set: its results file has some
rows.
"""

from __future__ import annotations

import io
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import kills

import symmem.declaration.catalogue
from symmem.cli.exits import ended

SLOWER = 1.5
"""How much later than an undisturbed one has installed its set a command dies at the latest."""
ROWS = ["adam", "gd", "heavyball", "signum"]


def run(arguments: list[str]) -> None:
    """The command in this process; it has to succeed."""
    said = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(said), redirect_stderr(io.StringIO()) as complaint:
        code = ended(arguments)
    assert code == 0, complaint.getvalue()


def installs(event: str, details: tuple[object, ...]) -> bool:
    """Whether this is the start of the process that installs a set of files."""
    return event == "subprocess.Popen" and "installation.py" in str(details[1])


def measured(arguments: list[str]) -> tuple[int, float]:
    """How many calls of the file system the command makes, and the seconds from the first set of files to its end."""
    said, told = os.pipe()

    def work() -> None:
        seen, begin = 0, 0.0

        def watch(event: str, details: tuple[object, ...]) -> None:
            nonlocal seen, begin
            seen += event.startswith(kills.NOTICED)
            if not begin and installs(event, details):
                begin = time.monotonic()

        sys.addaudithook(watch)
        run(arguments)
        os.write(told, json.dumps([seen, time.monotonic() - begin]).encode())

    assert kills.forked(work)
    calls, seconds = json.loads(os.read(said, 100))
    os.close(said)
    os.close(told)
    return calls, seconds


def dying(arguments: list[str], moment: int | float) -> Callable[[], None]:
    """The command, which dies before a call with this number, or seconds after it has begun to install."""

    def work() -> None:
        if isinstance(moment, int):
            kills.die_at(moment)
        else:
            die_after_start(moment)
        run(arguments)

    return work


def die_after_start(seconds: float) -> None:
    """SIGALRM, which nobody here hears, ends the process without a word."""

    def watch(event: str, details: tuple[object, ...]) -> None:
        if installs(event, details):
            signal.setitimer(signal.ITIMER_REAL, seconds)

    sys.addaudithook(watch)


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


def _remark(path: str) -> str:
    """What opens a remark in such a file: older macros stay, and TeX reads them."""
    return "%" if path.endswith(".tex") else "#"


def killed(name: str, arguments: list[str], folder: Path, moments: int) -> Counter[str]:
    kills.laid_out(folder, {})
    run(arguments)
    new = kills.found(folder)
    assert new, name
    old = {path: f"{text}\n{_remark(path)} older\n" for path, text in new.items()} if name != "sweep" else {}
    kills.laid_out(folder, old)
    (calls, longest), seen = measured(arguments), Counter[str]()
    over = kills.found(folder)  # macros that an older paper has stay, so that this may be another set
    for number in range(moments):
        before, after = (old, over) if number % 4 else ({}, new)
        kills.laid_out(folder, before)
        late = random.uniform(1e-4, SLOWER * longest)
        kills.forked(dying(arguments, late if number % 2 else random.randint(1, calls)))
        seen[rows_are_whole(folder) if name == "sweep" else kills.judged(folder, before, after)] += 1
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
