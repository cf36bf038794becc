"""The budget of a command: seconds of CPU time and memory, in the engine and, as a last resort, by the system."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

from symmem.errors import BudgetError
from symmem.work import MEGABYTES, asking, budget, in_use, ways

try:
    import resource
except ImportError:  # not on every system
    resource = None  # type: ignore[assignment]

GRACE = 10
"""Seconds after which the system ends a process that was deaf: twice its time, and these."""


@contextmanager
def limited(seconds: float, less: str = "") -> Iterator[None]:
    """The work of a command inside its budget; afterwards the bounds of the system are as they were.

    ``less``: which options of the command ask for less, as the message of a spent budget says it.
    """
    with asking(less), _told(), budget(seconds, MEGABYTES):
        if resource is None:
            yield
            return
        memory = int((in_use().data + MEGABYTES) * 1e6)
        patience = int(_counted() + 2 * seconds) + GRACE
        data = _lowered(resource.RLIMIT_DATA, memory) if in_use().data else nullcontext()
        with data, _lowered(resource.RLIMIT_CPU, patience):
            yield


TICKS = ~0 << 3
"""Linux' own clock of this process that counts ticks (CPUCLOCK_PROF); Python has no name for it."""


def _counted() -> float:
    """CPU time as the system holds it against a bound.

    Linux counts ticks there, which on a busy machine differ from ``process_time`` by a tenth: after some minutes of
    work by more than the grace.
    """
    try:
        return time.clock_gettime(TICKS)
    except OSError:  # another system
        return time.process_time()


@contextmanager
def _told() -> Iterator[None]:
    """What Python itself runs out of is a spent budget, with the ways that this command has."""
    try:
        yield
    except MemoryError:
        words = f"the memory of {MEGABYTES:g} MB is spent"
    except RecursionError:
        words = "an expression grew too deep for Python"
    else:
        return
    raise BudgetError(f"{words}; {ways()}")


@contextmanager
def _lowered(kind: int, bound: int) -> Iterator[None]:
    before = resource.getrlimit(kind)
    held = [value for value in (*before, bound) if value != resource.RLIM_INFINITY]
    with suppress(OSError, ValueError):  # a system that does not let itself be asked
        resource.setrlimit(kind, (min(held), before[1]))
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, before)
