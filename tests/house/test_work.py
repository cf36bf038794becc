"""The budget of work: it ends what is too much, says in what, and leaves everything else alone."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
import time
from unittest import mock

import pytest

import symmem
from symmem import work
from symmem.work import checkpoint


def endless() -> None:
    while True:
        checkpoint("an endless walk")


def deaf() -> None:
    while True:
        pass


def growing(held: list[bytearray]) -> None:
    for _ in range(100_000):
        checkpoint("a growing walk")
        held.append(bytearray(100_000))


def test_the_seconds_end_a_walk_and_the_line_names_it() -> None:
    start = time.thread_time()
    spent = r"0\.3 s of CPU time are spent in an endless walk; ask for"
    with pytest.raises(symmem.BudgetError, match=spent), symmem.budget(seconds=0.3):
        endless()
    assert 0.3 <= time.thread_time() - start < 2


def test_the_timer_ends_a_walk_without_checkpoints() -> None:
    with pytest.raises(symmem.BudgetError, match="of CPU time are spent"), symmem.budget(seconds=0.3):
        deaf()


def test_the_megabytes_end_a_walk() -> None:
    held: list[bytearray] = []
    spent = "50 MB of memory are spent in a growing walk"
    with pytest.raises(symmem.BudgetError, match=spent), symmem.budget(seconds=None, megabytes=50):
        growing(held)
    assert len(held) < 5000


def test_polynomials_that_no_call_can_hold_are_refused_before() -> None:
    with pytest.raises(symmem.BudgetError, match=f"{work.MOST_TERMS + 1} terms"), symmem.budget():
        checkpoint("arithmetic", work.MOST_TERMS + 1)
    checkpoint("arithmetic", work.MOST_TERMS + 1)  # no budget, no bound


def test_the_tighter_of_two_budgets_holds_and_the_outer_one_comes_back() -> None:
    with symmem.budget(seconds=30):
        with pytest.raises(symmem.BudgetError, match=r"0\.2 s"), symmem.budget(seconds=0.2):
            endless()
        checkpoint("the rest")
    with (
        pytest.raises(symmem.BudgetError, match=r"0\.2 s"),
        symmem.budget(seconds=0.2),
        symmem.budget(seconds=30),
    ):
        endless()


def test_nothing_stays_behind() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with symmem.budget(seconds=5):
        assert signal.getitimer(signal.ITIMER_PROF)[1] > 0
    assert signal.getsignal(signal.SIGPROF) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_no_look_is_taken_on_the_way_out() -> None:
    """There an exception would leave the timer to whoever comes next; the next tick looks again."""
    with symmem.budget(seconds=0.02):
        look, end = signal.getsignal(signal.SIGPROF), time.thread_time() + 0.03
        signal.setitimer(signal.ITIMER_PROF, 0)
        while time.thread_time() < end:
            pass
        for passage in (work, contextlib):
            look(signal.SIGPROF, mock.Mock(**{"f_code.co_filename": passage.__file__}))
        with pytest.raises(symmem.BudgetError, match=r"0\.02 s"):
            look(signal.SIGPROF, sys._getframe())
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_a_thread_has_its_own_budget() -> None:
    found: list[BaseException] = []

    def walk() -> None:
        try:
            with symmem.budget(seconds=0.2):
                endless()
        except symmem.BudgetError as error:
            found.append(error)

    with symmem.budget(seconds=None):
        thread = threading.Thread(target=walk)
        thread.start()
        thread.join(20)
    assert len(found) == 1


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_budget_is_a_positive_number(seconds: float) -> None:
    with pytest.raises(symmem.BudgetError, match="not a positive number"), symmem.budget(seconds=seconds):
        pass


def test_the_engine_is_inside() -> None:
    symmem.derive("adamw", 2).coefficients  # noqa: B018  # what is loaded on first use is not counted
    with pytest.raises(symmem.BudgetError, match="trees"), symmem.budget(seconds=1):
        symmem.derive("adamw", 50).coefficients  # noqa: B018


def test_a_destructor_that_is_interrupted_is_not_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python tells of exceptions in destructors, lines of them; of ours nothing is told, of others all."""
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda each: told.append(each.exc_type))

    class Slow:
        def __del__(self) -> None:
            end = time.thread_time() + 0.5
            while time.thread_time() < end:
                sum(range(1000))
            raise ValueError

    with symmem.budget(seconds=0.01):
        Slow()
    assert told == []
    with symmem.budget(seconds=60):
        Slow()
    assert told == [ValueError]


HAMMER = """
import hashlib, threading, symmem
from symmem import work
work.TICK = 0.0005
data, ended = b"x" * 4_000_000, threading.Event()

def busy():  # without the lock of the interpreter: signals of the process come to this thread too
    while not ended.is_set():
        hashlib.sha256(data).digest()

for _ in range(8):
    threading.Thread(target=busy, daemon=True).start()
for _ in range(4000):
    with symmem.budget(seconds=60):
        sum(x for x in range(3000))
ended.set()
"""


def test_a_signal_that_comes_late_ends_no_process() -> None:
    """Of a timer that was just stopped, where other threads run: by default SIGPROF kills."""
    done = subprocess.run(
        [sys.executable, "-c", HAMMER], capture_output=True, check=False, text=True, timeout=100
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("kind", [RuntimeError, SystemError])
def test_what_python_makes_of_the_timer_is_the_line_of_the_budget(kind: type[Exception]) -> None:
    """An exception inside the making of a class, or of a parser's, comes out as another one."""
    with pytest.raises(symmem.BudgetError, match="are spent"), work.budget(seconds=1e-9):
        raise kind
    with pytest.raises(kind), work.budget(seconds=60):
        raise kind
