"""The command itself, killed while it works: the output folder has the old set of files or the new one."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

KILLS = 10

pytestmark = pytest.mark.slow


def started(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "symmem", "emit", "heavyball", "--target", "c", "-o", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def texts(folder: Path) -> dict[str, str]:
    """What is there now; a file that goes while it is read is not there."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                found[str(path.relative_to(folder))] = path.read_text(encoding="utf-8")
            except FileNotFoundError:
                continue
    return found


def test_a_killed_command_leaves_the_old_set_or_the_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    begin = time.monotonic()
    assert started(folder).wait() == 0
    lasted, new = time.monotonic() - begin, texts(folder)
    assert new
    old = {name: f"old {name}\n" for name in new}
    chance = random.Random(12)
    for _ in range(KILLS):
        for name, text in old.items():
            (folder / name).write_text(text, encoding="utf-8")
        process = started(folder)
        time.sleep(lasted * chance.uniform(0.5, 1.1))  # the files are written at the end
        process.kill()
        process.wait()
        until = time.monotonic() + 10  # who installs the set may outlive the command
        while (left := texts(folder)) not in (old, new) and time.monotonic() < until:
            time.sleep(0.05)
        assert left in (old, new), set(left) ^ set(new)
