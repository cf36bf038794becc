"""--timeout, the memory, and Ctrl-C: one line, and the exit code that says it."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import ENVIRONMENT, run, spawn

from symmem.cli.limits import limited

MOMENTUM = '[[momentum]]\ng = "grad"\nbeta = "{beta}"\nb = "1 - {beta}"\n'


def declaration(phi: str, decays: list[str]) -> str:
    parameters = "".join(f"{beta} = {{ default = 0.9 }}\n" for beta in decays)
    variables = "".join(MOMENTUM.format(beta=beta) for beta in decays)
    return f'name = "costly"\nphi = "{phi}"\n[parameters]\n{parameters}{variables}'


COSTLY = {
    "nested": ("tanh(" * 20 + "m1" + ")" * 20, 1),
    "wide": ("*".join(f"m{k}" for k in range(1, 41)), 40),
    "many": (" + ".join(f"m{k}**{k}" for k in range(1, 9)), 8),
}


@pytest.mark.parametrize("name", COSTLY)
@pytest.mark.parametrize("command", ["derive", "emit", "compare"])
def test_costly_declarations_end_in_one_line(name: str, command: str, tmp_path: Path) -> None:
    phi, count = COSTLY[name]
    path = tmp_path / f"{name}.toml"
    path.write_text(declaration(phi, [f"decay{k}" for k in range(1, count + 1)]))
    more = {"derive": ["--order", "2"], "emit": ["--order", "2", "--target", "torch"], "compare": ["adam"]}
    done = run(command, str(path), *more[command], "--timeout", "2")
    if (name, command) == ("many", "compare"):  # to first order eight decays are no trouble
        return
    assert done.returncode == 2, done
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1
    assert b"spent in" in done.stderr or b"beyond any budget in" in done.stderr
    # A comparison has neither an order nor a limit to ask for.
    assert (b"ask for a lower order" in done.stderr) == (command != "compare")
    assert (b"the limit alone" in done.stderr) == (command == "derive")


@pytest.mark.skipif(sys.platform != "linux", reason="the clock is that of Linux")
def test_the_bound_of_the_system_counts_from_its_own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """After much work on a busy machine the precise clock may be far behind that of the bound, which then kills."""
    monkeypatch.setattr("time.process_time", lambda: -1000.0)
    with limited(3):
        bound, _ = resource.getrlimit(resource.RLIMIT_CPU)
    used = resource.getrusage(resource.RUSAGE_SELF)
    assert bound > 0.8 * (used.ru_utime + used.ru_stime) + 2 * 3
    assert resource.getrlimit(resource.RLIMIT_CPU)[0] != bound


def test_a_high_order_ends_in_one_line() -> None:
    start = time.monotonic()
    done = spawn("derive", "adamw", "--order", "50", "--timeout", "2")
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"2 s of CPU time are spent in the count of the trees" in done.stderr
    assert time.monotonic() - start < 60


@pytest.mark.parametrize("timeout", ["0", "-1", "nan", "inf", "soon"])
def test_a_timeout_is_a_positive_number(timeout: str) -> None:
    done = run("derive", "gd", "--timeout", timeout)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert done.stderr.startswith(b"symmem: ")


@pytest.mark.parametrize("command", ["derive", "emit", "compare", "build"])
def test_the_help_names_the_option(command: str) -> None:
    assert b"--timeout SECONDS" in run(command, "-h").stdout


@pytest.mark.parametrize("after", [0.08, 0.2, 0.4, 0.8, 2.0])
def test_an_interrupt_at_any_moment_is_one_line(after: float) -> None:
    # From the first line of ours on: the interpreter's own start is not ours to answer for.
    code = (
        "import signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, {2}); print(flush=True);"
        "from symmem.cli.interrupts import interruptible; import symmem.cli as cli, symmem.cli.interrupts as i;"
        "signal.signal(2, i._interrupt);"
        "sys.argv = ['symmem', 'derive', 'adamw', '--order', '9', '--timeout', '30'];"
        "import threading; real = cli.interruptible;\n"
        "import contextlib\n"
        "@contextlib.contextmanager\n"
        "def ready():\n"
        "    with real():\n"
        "        signal.pthread_sigmask(signal.SIG_UNBLOCK, {2})\n"
        "        yield\n"
        "cli.interruptible = ready\n"
        "cli.main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"symmem: interrupted\n")
