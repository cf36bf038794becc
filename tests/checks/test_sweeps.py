"""Sweeps: the same rows on every executor, and on where a stopped one was; the sign table."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from command import ENVIRONMENT, run
from sympy import Rational
from sympy.core.function import AppliedUndef
from truth import load

import symmem
from symmem.checks.rows import sign_row, verify_row
from symmem.checks.sweep_text import sign_text, verify_text
from symmem.checks.sweeps import Row, Task, Values, sweep, tasks
from symmem.documents.columns import Style
from symmem.errors import SymmemError

NAMES = ["gd", "heavyball", "adam", "lion"]
TODO = [Task(name) for name in NAMES]


class StoppedError(Exception):
    """The machine goes down."""


def test_every_executor_gives_the_same_rows(tmp_path: Path) -> None:
    alone = sweep(sign_row, TODO)
    with ThreadPoolExecutor(2) as threads:
        assert sweep(sign_row, TODO, threads) == alone
    with ProcessPoolExecutor(2) as processes:
        kept = str(tmp_path / "rows.json")
        assert sweep(sign_row, TODO, processes, results=kept) == alone
    assert list(json.loads(Path(kept).read_text())["rows"]) != []
    assert [row["sign"] for row in alone] == [0, 1, -1, 0]


def test_dask_takes_a_sweep() -> None:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
    )
    with cluster, distributed.Client(cluster) as client:
        rows = sweep(sign_row, TODO[:3], client.get_executor())
    assert [(row["name"], row["sign"]) for row in rows] == [("gd", 0), ("heavyball", 1), ("adam", -1)]


def test_a_stopped_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    kept, seen = str(tmp_path / "rows.json"), []

    def work(name: str, values: Values) -> Row:
        seen.append(name)
        if name == "adam" and seen.count("adam") == 1:
            raise StoppedError
        return {"name": name, "values": dict(values)}

    with pytest.raises(StoppedError):
        sweep(work, TODO, results=kept)
    assert list(json.loads(Path(kept).read_text())["rows"]) == ["gd", "heavyball"]
    told: list[str] = []
    rows = sweep(work, TODO, results=kept, told=told.append)
    assert [row["name"] for row in rows] == NAMES
    assert seen == ["gd", "heavyball", "adam", "adam", "lion"]
    assert told == ["adam", "lion"]
    assert sweep(work, TODO, results=kept) == rows
    assert len(seen) == 5


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "notes.json"
    for content in ("notes", "[]", '{"rows": {}}'):
        other.write_text(content)
        with pytest.raises(SymmemError, match="is no results file"):
            sweep(sign_row, TODO, results=str(other))
        assert other.read_text() == content
    sweep(sign_row, TODO[:1], results=str(tmp_path / "signs.json"))
    with pytest.raises(SymmemError, match="of another sweep"):
        sweep(verify_row, TODO[:1], results=str(tmp_path / "signs.json"))


def named_row(name: str, values: Values) -> Row:
    return {"name": name, "values": dict(values), "made": True}


@pytest.mark.parametrize(
    "planted",
    [5, None, [], {"row": 5}, {"row": {"name": "gd", "values": {}, "made": False}, "seal": "0" * 64},
     {"row": {"name": "adam", "values": {}}}, {"name": "gd", "values": {}, "made": False}],
)  # fmt: skip
def test_a_row_that_somebody_planted_is_made_anew(planted: object, tmp_path: Path) -> None:
    kept = tmp_path / "rows.json"
    rows = sweep(named_row, TODO, results=str(kept))
    whole = json.loads(kept.read_text())
    kept.write_text(json.dumps(whole | {"rows": {**whole["rows"], "gd": planted, "evil": planted}}))
    told: list[str] = []
    assert sweep(named_row, TODO, results=str(kept), told=told.append) == rows
    assert told == ["gd"]


def test_a_row_of_another_declaration_is_made_anew(tmp_path: Path) -> None:
    mine, kept = tmp_path / "mine.toml", str(tmp_path / "rows.json")
    text = 'name = "mine"\nphi = "m1"\n[[momentum]]\ng = "grad"\nbeta = 0.9\nb = 1\n'
    told: list[str] = []
    for given in (text, text, text.replace("0.9", "0.5")):
        mine.write_text(given)
        sweep(named_row, [Task(str(mine))], results=kept, told=told.append)
    assert told == [str(mine)] * 2  # the second time nothing had changed


def test_a_row_that_ran_out_of_time_is_tried_again(tmp_path: Path) -> None:
    kept = str(tmp_path / "rows.json")
    values = (("beta1", "8123/10007"),)  # of which no other test has derived anything that would be kept
    (spent,) = sweep(partial(sign_row, seconds=1e-3), [Task("adamw", values)], results=kept)
    assert spent["spent"]
    (row,) = sweep(partial(sign_row, seconds=60), [Task("adamw", values)], results=kept)
    assert row == sign_row("adamw", values)
    assert row["sign"] == -1


def test_a_results_file_that_was_cut_is_one_line(tmp_path: Path) -> None:
    kept = tmp_path / "rows.json"
    sweep(named_row, TODO, results=str(kept))
    whole = kept.read_text()
    for end in range(1, len(whole) - 2, 97):
        kept.write_text(whole[:end])
        with pytest.raises(SymmemError, match="is no results file"):
            sweep(named_row, TODO, results=str(kept))
    kept.write_text("[" * 100_000)
    with pytest.raises(SymmemError, match="is no results file"):
        sweep(named_row, TODO, results=str(kept))


@pytest.mark.parametrize(
    ("grid", "words"), [("nope=1", "no optimizer"), ("beta=x", "--grid beta: 'x' is not")]
)
def test_a_grid_that_means_nothing_is_refused(grid: str, words: str) -> None:
    done = run("compare", "--all", "--grid", grid)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert words in done.stderr.decode()


def test_the_grid_takes_the_parameters_that_are_there() -> None:
    known = lambda name: [parameter.name for parameter in load(name).parameters]  # noqa: E731
    found = tasks(["gd", "adam"], {"beta1": ["0.5", "0.9"], "beta": ["0"]}, known)
    assert [task.key for task in found] == ["gd", "adam beta1=0.5", "adam beta1=0.9"]


def test_the_sign_is_that_of_the_modified_loss() -> None:
    """Adam at beta1 > beta2 penalises, at beta1 < beta2 rewards; c is beta1/(1 - beta1) - beta2/(1 - beta2)."""
    low = sign_row("adam", (("beta1", "0.9"), ("beta2", "0.5")))
    assert (low["sign"], low["bound"]) == (1, pytest.approx(0.1))
    assert low["factor"] == pytest.approx(8)
    row = sign_row("adam", ())
    assert row["factor"] == pytest.approx(9 - 999)
    assert row["norm"]["sympy"] == "total(Abs(grad))"
    inside = sign_row("muon", ())
    assert (inside["sign"], inside["map_sign"], inside["map_factor"]) == (None, 1, pytest.approx(19))


def test_the_condition_knows_a_second_moment_that_vanishes() -> None:
    """Centred RMSprop needs h^2 << eps: at eps = 1e-8 more than h << 1 - beta."""
    # F = 1/sqrt(eps), and the lag has the variance beta/(1 - beta)^2 = 90: 90 (h F)^2 against eps.
    assert sign_row("rmsprop-centred", ())["bound"] == pytest.approx(1e-8 / 90**0.5)
    assert sign_row("rmsprop", ())["bound"] == pytest.approx(0.01)


@pytest.mark.parametrize("name", ["heavyball", "sgdw", "nesterov", "adamw", "padam", "simplified-ademamix"])
def test_a_factor_is_that_in_front_of_the_norm(name: str) -> None:
    derivation, row = symmem.derive(name), sign_row(name, ())
    at = {**derivation.method.defaults, symmem.lr: Rational(1)}
    potential = derivation.modified_loss.potential.xreplace(at).expand()
    (norm,) = (part for part in potential.atoms(AppliedUndef) if part.func == symmem.total and part.has(symmem.grad)
               and not part.has(symmem.theta))  # fmt: skip
    assert float(potential.coeff(norm)) == pytest.approx(row["factor"])


def test_what_fails_is_a_row() -> None:
    row = sign_row("adam", (("beta1", "2"),))
    assert "outside its range" in row["error"]
    assert "WRONG" in verify_text([{**row, "holds": False}], Style())


def test_the_table_has_the_condition_beside_every_number() -> None:
    lines = sign_text(sweep(sign_row, TODO), Style(width=120)).splitlines()
    assert lines[3].split()[:4] == ["adam", "rewards", "-990", "‖∇L‖₁"]
    assert all("h << " in line for line in lines[1:5])
    assert sign_text(sweep(sign_row, TODO), Style(unicode=False)).isascii()


def test_sweeps_on_the_command_line() -> None:
    for given, line in (
        (("compare",), b"name the optimizers to compare, or give --all"),
        (("compare", "gd", "--all"), b"or give --all"),
        (("compare", "--all", "--grid", "beta1"), b"write PARAMETER=NUMBER,NUMBER"),
        (("compare", "--all", "--grid", "beta=0.1", "--grid", "beta=0.2"), b"is given twice"),
        (("compare", "--all", "--format", "latex"), b"--all is text or JSON"),
        (("compare", "gd", "--results", "x.json"), b"--results belongs to --all; leave it out"),
        (("compare", "gd", "--jobs", "2"), b"--jobs belongs to --all; leave it out"),
        (("verify", "gd", "--jobs", "2"), b"--jobs belongs to --all; leave it out"),
        (
            ("verify", "--all", "--plot", "x.png"),
            b"--plot is for one optimizer, and not for --all; leave it out",
        ),
        (
            ("verify", "--all", "--set", "beta=0"),
            b"--set is for one optimizer, and not for --all; leave it out",
        ),
        (("verify",), b"name the optimizer to verify, or give --all"),
    ):
        done = run(*given)
        assert done.returncode == 2
        assert line in done.stderr


def test_the_timeout_of_a_sweep_is_that_of_each_optimizer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in other processes; without it the sweep has its own, and every row is made."""
    monkeypatch.setattr("symmem.declaration.catalogue.names", lambda *_: ("gd", "adam"))
    for jobs in ("1", "2"):
        done = run("verify", "--all", "--jobs", jobs, "--timeout", "0.001")
        assert (done.returncode, done.stderr) == (1, b"")
        assert done.stdout.count(b"0.001 s of CPU time are spent") == 2


START = """
import time
from concurrent.futures import ProcessPoolExecutor
from symmem.cli.sweeps import _watch_parent
pool = ProcessPoolExecutor(2, initializer=_watch_parent)
for work in [pool.submit(time.sleep, 0.2) for _ in range(2)]:
    work.result()
print(*pool._processes, flush=True)
time.sleep(60)
"""


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_processes_of_a_sweep_end_with_the_one_that_started_them(number: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", START], stdout=subprocess.PIPE, env=ENVIRONMENT, text=True
    )
    assert process.stdout is not None
    workers = [int(word) for word in process.stdout.readline().split()]
    assert len(workers) == 2
    assert all(map(lives, workers))
    process.send_signal(number)
    process.wait()
    until = time.monotonic() + 20
    while any(map(lives, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(lives, workers))
