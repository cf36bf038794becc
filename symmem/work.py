"""The budget of a piece of work: seconds of CPU time and megabytes of memory, checked while the engine walks.

Every room may import this module; it imports nothing of the package but errors and records.  Without a budget nothing
is checked.  Where one is set, two things look after it: ``checkpoint`` in the inner walks of the engine, which also
says what is being done and how large the next step of it is (a call into FLINT cannot be interrupted, so it is refused
before); and, in the main thread, a timer of CPU time, which also interrupts a long call into SymPy.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from mmap import PAGESIZE
from pathlib import Path
from types import FrameType

from symmem.errors import BudgetError
from symmem.records import record

SECONDS = 60.0
MEGABYTES = 2000.0
"""The budget of a command."""
MOST_TERMS = 400_000
"""Of the polynomials of one call into FLINT: a greatest common divisor of this size takes some seconds."""
MOST_WORDS = 30_000_000
"""Of 64 bits, of one polynomial: where memory lacks FLINT ends the process, so this holds without a budget too."""
TICK = 0.2
"""Seconds of CPU time between two looks at the clock."""
LOOK_EVERY = 128
"""Checkpoints between two looks at the clock."""
_STATUS = Path("/proc/self/statm")
ASK_LESS = "ask for a lower order or for the limit alone, "
"""What derivations can be asked instead; a command that has no such options says something else."""
WAYS = (
    "{less}put numbers in the place of parameters, declare less, "
    "or allow more (--timeout; in Python symmem.budget)"
)
_LESS: ContextVar[str] = ContextVar("_LESS", default=ASK_LESS)


@record(frozen=True)
class Budget:
    """What may be spent: seconds of CPU time of this thread, and megabytes beyond what was there at the start."""

    seconds: float | None
    megabytes: float | None


class _Account:
    """What of a budget is spent; the one thing here that changes, since work goes on."""

    def __init__(
        self, budget: Budget, deadline: float, ceiling: float, stage: str = "the first steps"
    ) -> None:
        self.budget = budget
        self.deadline = deadline
        self.ceiling = ceiling
        self.stage = stage
        self.quiet = LOOK_EVERY

    def look(self) -> None:
        """BudgetError where the budget is spent."""
        self.quiet = LOOK_EVERY
        if time.thread_time() > self.deadline:
            raise self.spent(f"{self.budget.seconds:g} s of CPU time are spent")
        if self.ceiling < float("inf") and in_use().resident > self.ceiling:
            raise self.spent(f"{self.budget.megabytes:g} MB of memory are spent")

    def spent(self, what: str) -> BudgetError:
        return BudgetError(f"{what} in {self.stage}; {ways()}")


_CURRENT: ContextVar[_Account | None] = ContextVar("_CURRENT", default=None)


def checkpoint(stage: str, terms: int = 0) -> None:
    """Said where the engine is about to do one more piece of work, of polynomials with this many terms."""
    account = _CURRENT.get()
    if account is None:
        return
    account.stage = stage
    if terms > MOST_TERMS:
        raise account.spent(f"polynomials of {terms} terms are beyond any budget")
    account.quiet -= 1
    if account.quiet <= 0:
        account.look()


def affordable(stage: str, words: int) -> None:
    """Said before a result of this many words is made; with a budget or without, one can be too large."""
    if words > MOST_WORDS:
        raise BudgetError(f"a polynomial is beyond any budget in {stage}; {ways()}")


def ways() -> str:
    """What can be asked instead, in the words of the command that runs."""
    return WAYS.format(less=_LESS.get())


@contextmanager
def asking(less: str) -> Iterator[None]:
    """Inside it a spent budget names this in the place of ``ASK_LESS``."""
    token = _LESS.set(less)
    try:
        yield
    finally:
        _LESS.reset(token)


@contextmanager
def budget(seconds: float | None = SECONDS, megabytes: float | None = MEGABYTES) -> Iterator[Budget]:
    """The work inside ends with a BudgetError once it has taken more; None is no bound.

    ``with symmem.budget(seconds=10): print(symmem.derive("adamw", 4))``.  Inside another budget the tighter one holds.
    """
    for name, value in (("seconds", seconds), ("megabytes", megabytes)):
        if value is not None and not 0 < value < float("inf"):
            raise BudgetError(f"{name}: {value!r} is not a positive number; give one, or None for no bound")
    outer = _CURRENT.get()
    deadline = float("inf") if seconds is None else time.thread_time() + seconds
    ceiling = float("inf") if megabytes is None else in_use().resident + megabytes
    given = Budget(seconds, megabytes)
    account = _Account(given, deadline, ceiling)
    if outer is not None:
        account = _tighter(account, outer)
    token = _CURRENT.set(account)
    try:
        with _timer(account):
            yield given
    except (RuntimeError, SystemError):
        # What CPython makes of the timer's exception where it passes through the making of a class, or its parser.
        account.look()
        raise
    finally:
        _CURRENT.reset(token)


def _tighter(inner: _Account, outer: _Account) -> _Account:
    """Each bound from the account in which it is reached first."""
    first = inner if inner.deadline <= outer.deadline else outer
    least = inner if inner.ceiling <= outer.ceiling else outer
    bounds = Budget(first.budget.seconds, least.budget.megabytes)
    return _Account(bounds, first.deadline, least.ceiling, outer.stage)


_PASSAGES = (__file__, contextlib.__file__)
"""Code that a budget is left through.  An exception there would leave the timer running, for whoever comes next."""


@contextmanager
def _timer(account: _Account) -> Iterator[None]:
    """Looks at the clock in every fraction of a second of CPU time: also while SymPy works.

    Only the main thread gets signals.  A profiler's own use of this one is left alone, and so is an outer budget's,
    which comes back at the end; where nobody had it, it is dropped from then on.
    """
    alone = threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGPROF")
    before = signal.getsignal(signal.SIGPROF) if alone else None
    if not alone or not (before == signal.SIG_DFL or getattr(before, "__module__", "") == __name__):
        yield
        return

    def look(_signal: int, frame: FrameType | None) -> None:
        if frame is None or frame.f_code.co_filename not in _PASSAGES:
            account.look()

    # Raised inside a destructor it is swallowed, and Python would tell of it: the next look raises again.
    told = sys.unraisablehook
    sys.unraisablehook = lambda each: None if isinstance(each.exc_value, BudgetError) else told(each)
    signal.signal(signal.SIGPROF, look)
    period = signal.setitimer(signal.ITIMER_PROF, TICK, TICK)
    try:
        yield
    finally:
        sys.unraisablehook = told
        try:
            signal.setitimer(signal.ITIMER_PROF, *period)
        finally:  # a last look may raise above
            signal.signal(signal.SIGPROF, _drop if before == signal.SIG_DFL else before)


def _drop(_signal: int, _frame: FrameType | None) -> None:
    """A signal of the timer that is still on its way when the budget ends: by default it would end the process."""


@record(frozen=True)
class InUse:
    """Megabytes of this process: in memory, and its own pages, also those never touched; 0 where nobody says."""

    resident: float = 0.0
    data: float = 0.0


def in_use() -> InUse:
    """What the process holds now."""
    try:
        pages = [int(count) * PAGESIZE / 1e6 for count in _STATUS.read_bytes().split()]
    except OSError:  # a system without /proc
        return InUse()
    return InUse(pages[1], pages[5])
