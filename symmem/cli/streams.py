"""Standard output and standard error: what they can show, and what happens when they cannot be written."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

import click

from symmem.errors import SymmemError, quote_path

if TYPE_CHECKING:
    from symmem.documents.columns import Style

EVERY_GLYPH = "∇²‖β₁ⁿ⁺¹Σₖ₌√·−½ᵀ←→∞L̃"
"""One of each kind of character that the text of a derivation may hold."""


def deliver(content: str, output: str | None, beside: Mapping[str, bytes] | None = None) -> None:
    """To the file that was asked for, else to standard output; ``beside`` are other files that were named."""
    files: dict[str, str | bytes] = {**(beside or {})}
    if output is not None:
        if output in files:
            raise SymmemError(f"-o {quote_path(output)}: another output has that name; choose another")
        files[output] = content
    if files:
        from symmem.output.files import write_named

        write_named(files)
    if output is None:
        say(content)


def say(content: str, encoding: str | None = None) -> None:
    """To standard output; what its encoding lacks is written by its number, never as a question mark."""
    if sys.stdout is None:
        return
    encoded = content.encode(encoding or sys.stdout.encoding or "ascii", "backslashreplace")
    try:
        click.echo(encoded, nl=False)
    except BrokenPipeError:  # the reader has seen enough: symmem derive adamw | head
        silence(sys.stdout)


def complain(line: str) -> None:
    """To standard error; where nobody can hear it the exit code still says it."""
    try:
        click.echo(line, err=True, nl=False)
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO | None) -> None:
    """What the stream still holds goes nowhere.

    The interpreter flushes its streams at exit; where that fails (once more, after an error that was told) it ends
    with its own code 120 instead of ours.
    """
    if stream is None:
        return
    with suppress(OSError, ValueError):  # a stream that is no file of the system needs nothing
        place, nowhere = stream.fileno(), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, place)
        os.close(nowhere)


def line_width() -> int | None:
    """How many columns a terminal has; None where standard output is read by a program."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size((80, 24)).columns


def style(output: str | None) -> Style:
    """What standard output can show; a file gets Unicode in 80 columns."""
    from symmem.documents.columns import Style

    if output is not None or sys.stdout is None:
        return Style()
    width = max(40, min(shutil.get_terminal_size((80, 24)).columns, 120))
    try:
        EVERY_GLYPH.encode(sys.stdout.encoding or "ascii")
        unicode = True
    except (UnicodeEncodeError, LookupError):
        unicode = False
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(width, unicode, colour)
