"""Every command that writes, killed while it runs: the old set of files or the new one, and nothing beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import REPOSITORY
from machine import needs

COMMANDS = {
    "text": ["derive", "gd", "-o", "out/x.txt"],
    "runtime": ["emit", "gd", "--target", "torch", "--runtime", "-o", "out/x.py"],
    "paper": ["emit", "gd", "heavyball", "--target", "latex", "-o", "out/"],
    "sweep": ["compare", "--all", "--jobs", "1", "--results", "out/rows.json"],
    "plot": ["verify", "gd", "--plot", "out/x.png", "-o", "out/x.txt"],
    "triton": ["emit", "gd", "--target", "triton", "-o", "out/x.py"],
    "coq": ["emit", "gd", "--target", "coq", "-o", "out/x.v"],
    "scaling": ["scaling", "gd", "--batch", "2", "-o", "out/x.txt"],
    "table": ["compare", "gd", "heavyball", "--format", "latex", "-o", "out/x.tex"],
    "c": ["emit", "gd", "--target", "c", "-o", "out"],
    "pdf": ["emit", "gd", "--target", "latex", "--pdf", "-o", "out/x.tex"],
    "wheel": ["build", "gd", "--wheel", "-o", "out"],
}
FEW = ("runtime", "paper", "sweep")


def killed(names: tuple[str, ...], moments: int, folder: Path) -> dict[str, dict[str, int]]:
    path = folder / "commands.json"
    path.write_text(json.dumps({name: COMMANDS[name] for name in names}))
    base = folder / "base"
    base.mkdir()
    script = REPOSITORY / "tests" / "support" / "killed_commands.py"
    # The PDF of the new set is the same, byte for byte, where its date is.
    given = {"PYTHONPATH": str(REPOSITORY), "TMPDIR": str(folder), "SOURCE_DATE_EPOCH": "0"}
    environment = {**os.environ, **given}
    command = [sys.executable, str(script), str(base), str(path), str(moments)]
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=3000, env=environment)
    assert done.returncode == 0, done.stderr
    assert [each.name for each in base.iterdir()] == ["out"]
    return json.loads(done.stdout)


def test_a_killed_command_leaves_the_old_set_or_the_new_one(tmp_path: Path) -> None:
    seen = killed(FEW, 8, tmp_path)
    assert {name: sum(counts.values()) for name, counts in seen.items()} == dict.fromkeys(FEW, 8)


@pytest.mark.prove
@pytest.mark.parametrize("name", COMMANDS)
def test_a_kill_at_any_of_200_moments(name: str, tmp_path: Path) -> None:
    needs(*{"pdf": ["pdflatex"], "wheel": ["cc"]}.get(name, []))
    moments = 50 if name in ("pdf", "wheel") else 200
    seen = killed((name,), moments, tmp_path)[name]
    assert sum(seen.values()) == moments
    assert seen["old"] > 10
    assert seen["new"] > 0
