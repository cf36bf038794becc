"""The command line in this process or in one of its own, and what it printed read back."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest
from sympy import Expr, Symbol, sympify

from symmem.cli import command

REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(REPOSITORY)}


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: bytes
    stderr: bytes


def run(*arguments: str, given: bytes = b"", cwd: Path | None = None, **environment: str) -> Done:
    """The command in this process, with streams of its own; standard output is no terminal."""
    settings = {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8", **environment}
    encoding = settings["PYTHONIOENCODING"]
    streams = {
        name: io.TextIOWrapper(io.BytesIO(), encoding, write_through=True) for name in ("stdout", "stderr")
    }
    stdin = io.TextIOWrapper(io.BytesIO(given), encoding)
    with (
        mock.patch.dict(os.environ, settings),
        mock.patch.multiple(sys, argv=["symmem", *arguments], stdin=stdin, **streams),
        contextlib.chdir(cwd or Path.cwd()),
        _process_kept(),
        pytest.raises(SystemExit) as end,
    ):
        command()
    return Done(int(end.value.code or 0), *(stream.buffer.getvalue() for stream in streams.values()))


@contextlib.contextmanager
def _process_kept() -> Iterator[None]:
    """A command takes the signals of the process that it ends; this one goes on."""
    signals, hook = (signal.SIGINT, signal.SIGALRM), sys.unraisablehook
    before = [signal.getsignal(each) for each in signals]
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)


def spawn(*arguments: str, cwd: Path | None = None) -> Done:
    """The command in a process of its own, as a shell starts it."""
    call = [sys.executable, "-m", "symmem", *arguments]
    done = subprocess.run(call, capture_output=True, check=False, cwd=cwd, env=ENVIRONMENT, timeout=120)
    return Done(done.returncode, done.stdout, done.stderr)


def output(*arguments: str, **environment: str) -> str:
    done = run(*arguments, **environment)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode(environment.get("PYTHONIOENCODING", "utf-8"))


def data(*arguments: str) -> dict:
    return json.loads(output("derive", *arguments, "--format", "json"))


def back(record: dict, entry: dict | None) -> Expr | None:
    """An expression of the record, read as the README tells it."""
    names = {name: Symbol(name) for name in record["symbols"]}
    return None if entry is None else sympify(entry["sympy"], locals=names)
