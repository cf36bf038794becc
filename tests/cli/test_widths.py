"""What is printed fits a terminal; what a program reads is whole."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from command import run

from symmem.declaration.catalogue import entries, names

pty = pytest.importorskip("pty", reason="a terminal of the system")


def on_a_terminal(columns: int, *arguments: str) -> list[str]:
    """The lines that the command prints on a terminal so wide."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "symmem", *arguments]
    environment = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"}
    with subprocess.Popen(command, stdout=theirs, stdin=theirs, env=environment) as process:
        os.close(theirs)
        read = bytearray()
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # Linux: the other end is closed
                break
            if not more:
                break
            read += more
    os.close(ours)
    assert process.returncode == 0
    return read.decode().splitlines()


@pytest.mark.parametrize("columns", [80, 100])
def test_a_list_fits_the_terminal(columns: int) -> None:
    lines = on_a_terminal(columns, "list")
    assert tuple(line.split()[0] for line in lines) == names()
    assert max(map(len, lines)) <= columns
    assert any(line.endswith("...") for line in lines)


def test_a_pipe_gets_whole_references() -> None:
    lines = run("list").stdout.decode().splitlines()
    assert all(line.endswith(row.reference) for line, row in zip(lines, entries(None), strict=True))
