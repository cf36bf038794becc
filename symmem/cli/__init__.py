"""The command line: parsing and exit codes only.  Every room is imported when its command runs."""

# ruff: noqa: PLC0415  # an interrupt may also fall into the import of click

from __future__ import annotations

from typing import NoReturn

from symmem.cli.interrupts import interruptible


def main() -> NoReturn:
    """Runs the command that the arguments name, and ends the process with its exit code."""
    with interruptible():
        from symmem.cli.exits import run

        run()
    raise AssertionError  # run ends the process
