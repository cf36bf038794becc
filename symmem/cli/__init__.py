"""The command line: parsing and exit codes only.  Every room is imported when its command runs."""

# ruff: noqa: PLC0415  # an interrupt may also fall into the import of click

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn

from symmem.cli.interrupts import interruptible


def main() -> NoReturn:
    """Runs the command that the arguments name, and ends the process with its exit code.

    At once: the interpreter would take thousands of objects of SymPy apart first, a tenth of the time of a command.
    """
    gc.disable()  # a short process: collecting the garbage of imports costs more than it frees
    try:
        command()
    except SystemExit as end:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, full or not there: that was told
                stream.flush()
        os._exit(int(end.code or 0))
    raise AssertionError  # a command ends with SystemExit


def command() -> NoReturn:
    """Runs the command that the arguments name, and raises ``SystemExit`` with its exit code."""
    with interruptible():
        from symmem.cli.exits import run

        run()
    raise AssertionError  # run ends with SystemExit
