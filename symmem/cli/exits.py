"""A command is run, and what became of it is an exit code and at most one line on standard error.

Exit codes: 0 done, 1 a check failed or a compiler rejected our code, 2 bad input or a missing tool, 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from symmem.cli.group import commands
from symmem.cli.streams import complain, silence
from symmem.errors import CompilerError, SymmemError, quote_path
from symmem.work import MEGABYTES, ways


def run() -> NoReturn:
    """Runs the command that the arguments name, and raises ``SystemExit`` with its exit code."""
    sys.exit(ended())


def ended(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command, run in this process; what went wrong is said on standard error."""
    try:
        return commands.main(arguments, standalone_mode=False) or 0
    except click.ClickException as error:
        return _fail(f"{error.format_message().removesuffix('.')}{_help(error)}", 2)
    except click.Abort:
        return _fail("interrupted", 130)
    except SymmemError as error:
        return _fail(str(error), 1 if isinstance(error, CompilerError) else 2)
    except MemoryError:
        return _fail(f"the memory of {MEGABYTES:g} MB is spent; {ways()}", 2)
    except RecursionError:
        return _fail(f"an expression grew too deep for Python; {ways()}", 2)
    except OSError as error:
        if error.filename is not None:
            return _fail(
                f"{quote_path(str(error.filename))} cannot be used ({error.strerror}); check the path", 2
            )
        silence(sys.stdout)
        return _fail(f"standard output cannot be written ({error.strerror}); write to a file with -o", 2)


def _help(error: click.ClickException) -> str:
    """Where help is, behind what click itself says of the arguments; our own words say what to do."""
    if not isinstance(error, click.UsageError):
        return ""
    return f"; see {error.ctx.command_path if error.ctx else 'symmem'} -h"


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    line = line if line.endswith("...") else line.removesuffix(".")
    complain(f"symmem: {line}\n")
    return code
