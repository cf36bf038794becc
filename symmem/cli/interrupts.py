"""Ctrl-C, at any moment of a command, is one line and exit code 130; before everything else, so without click."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

CODE = 130
SOON = 0.01
"""Seconds until an interrupt that fell into a destructor, where Python drops it, is told again."""


class Interrupted(BaseException):
    """Ctrl-C.  Nobody on the way out takes it for his own: click and SymPy know KeyboardInterrupt."""


@contextmanager
def interruptible() -> Iterator[None]:
    """The command inside; what was begun is put away by its own ``finally`` before the line is said."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as nohup and the background of a shell have it
        signal.signal(signal.SIGINT, _interrupt)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _interrupt)
    sys.unraisablehook = _dropped
    try:
        yield
    except (Interrupted, KeyboardInterrupt):
        _deaf()
        with suppress(
            OSError, ValueError, AttributeError
        ):  # where nobody can hear it the exit code still says it
            start = "\n" if sys.stderr.isatty() else ""  # the terminal has shown ^C
            sys.stderr.write(f"{start}symmem: interrupted\n")
            sys.stderr.flush()
        sys.exit(CODE)
    finally:
        _deaf()


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise Interrupted


def _deaf() -> None:
    """From here on the process is about to end anyway, with a code that is settled."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _dropped(lost: UnraisableHookArgs) -> None:
    from symmem.errors import BudgetError  # noqa: PLC0415  # an interrupt may fall into what it imports

    if isinstance(lost.exc_value, Interrupted):
        signal.setitimer(signal.ITIMER_REAL, SOON)
    elif not isinstance(lost.exc_value, BudgetError):  # whose timer comes again by itself
        sys.__unraisablehook__(lost)
