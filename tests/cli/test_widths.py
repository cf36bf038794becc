"""What is printed fits a terminal; what a program reads is whole."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from command import run

from symmem.checks.rows import sign_row
from symmem.checks.sweep_text import sign_text
from symmem.declaration.catalogue import entries, names
from symmem.documents.columns import Style, columns
from symmem.documents.fitted import fitted_table

pty = pytest.importorskip("pty", reason="a terminal of the system")


def on_a_terminal(size: int, *arguments: str) -> list[str]:
    """The lines that the command prints on a terminal so wide."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "symmem", *arguments]
    environment = {**os.environ, "COLUMNS": str(size), "NO_COLOR": "1"}
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


@pytest.mark.parametrize("size", [80, 100])
def test_a_list_fits_the_terminal(size: int) -> None:
    lines = on_a_terminal(size, "list")
    assert tuple(line.split()[0] for line in lines) == names()
    assert max(map(len, lines)) <= size
    assert any(line.endswith("...") for line in lines)


def test_a_pipe_gets_whole_references() -> None:
    lines = run("list").stdout.decode().splitlines()
    assert all(line.endswith(row.reference) for line, row in zip(lines, entries(None), strict=True))


@pytest.mark.parametrize("unicode", [True, False])
def test_the_sign_table_fits_eighty_columns(unicode: bool) -> None:
    """Long cells are wrapped, no name is cut, and nothing is lost."""
    chosen = (
        "ema-momentum-debiased",
        "padam",
        "adabelief",
        "clipped-momentum",
        "muon",
        "tiger",
        "adamw-cosine",
    )
    rows = [sign_row(name, ()) for name in chosen]
    lines = sign_text(rows, Style(unicode=unicode)).splitlines()
    assert max(map(columns, lines)) <= 80
    assert [line.split()[0] for line in lines if line.split()[:1] and line.split()[0] in chosen] == list(
        chosen
    )
    assert any("rewards*" in line for line in lines)
    assert "per unit of it" in " ".join(lines)


def test_a_table_is_narrowed_where_it_costs_the_fewest_lines() -> None:
    rows = [["name", "a", "b"], ["first", "1 2 3 4 5 6", "x"], ["second", "1", "long words here"]]
    assert fitted_table(rows, 80)[1] == "first   1 2 3 4 5 6  x"
    for width in (30, 25, 20):
        lines = fitted_table(rows, width)
        assert max(map(len, lines)) <= width
        assert sorted(" ".join(lines).split()) == sorted(" ".join(map(" ".join, rows)).split())
