"""A command is run, and what became of it is an exit code and at most one line on standard error.

Exit codes: 0 done, 1 a check failed or a compiler rejected our code, 2 bad input or a missing tool, 130 interrupted.
"""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from symmem.cli.group import commands
from symmem.cli.streams import complain, silence
from symmem.errors import CompilerError, SymmemError
from symmem.work import MEGABYTES, WAYS


def run() -> NoReturn:
    """Runs the command that the arguments name, and raises ``SystemExit`` with its exit code."""
    try:
        code = commands.main(standalone_mode=False) or 0
    except click.ClickException as error:
        code = _fail(error.format_message(), 2)
    except click.Abort:
        code = _fail("interrupted", 130)
    except SymmemError as error:
        code = _fail(str(error), 1 if isinstance(error, CompilerError) else 2)
    except MemoryError:
        code = _fail(f"the memory of {MEGABYTES:g} MB is spent; {WAYS}", 2)
    except RecursionError:
        code = _fail(f"an expression grew too deep for Python; {WAYS}", 2)
    except OSError as error:
        silence(sys.stdout)
        code = _fail(f"standard output cannot be written ({error.strerror}); write to a file with -o", 2)
    sys.exit(code)


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split()).rstrip(".")
    complain(f"symmem: {line}\n")
    return code
