"""What a stranger types that nobody meant: one line that says what is wrong, exit code 2, and nothing is lost."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from command import ENVIRONMENT, run

import symmem
from symmem.cli import exits
from symmem.cli.limits import limited
from symmem.errors import BudgetError, SymmemError
from symmem.output.files import write_set
from symmem.output.scratch import scratch_folder

BALL = 'name = "ball"\nphi = "m1"\n\n[[momentum]]\ng = "grad"\nbeta = "1/2"\nb = "1"\n'


def refused(*arguments: str, cwd: Path | None = None, given: bytes = b"") -> str:
    done = run(*arguments, cwd=cwd, given=given)
    message = done.stderr.decode()
    assert (done.returncode, done.stdout, message.count("\n")) == (2, b"", 1)
    return message


@pytest.mark.parametrize("place", ["device", "device.bib"])
@pytest.mark.parametrize(
    "arguments",
    [["emit", "gd", "--target", "latex"], ["emit", "gd", "--target", "torch", "--runtime"]],
    ids=["latex", "runtime"],
)
def test_a_device_is_not_replaced_by_a_set_of_files(arguments: list[str], place: str, tmp_path: Path) -> None:
    """A rename would put a file in its place: as root, ``-o /dev/null`` would end that of the machine."""
    os.mkfifo(tmp_path / place)
    if "latex" not in arguments and place == "device.bib":
        return
    message = refused(*arguments, "-o", "device", cwd=tmp_path)
    assert f"'{place}' cannot be written (not a file)" in message
    assert [path.name for path in tmp_path.iterdir()] == [place]
    assert stat.S_ISFIFO((tmp_path / place).stat().st_mode)


def test_a_link_to_a_device_without_end_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "x.bib").symlink_to("/dev/zero")
    with pytest.raises(SymmemError, match="not a file"):
        write_set({str(tmp_path / "x.bib"): "text"}, str(tmp_path))
    assert "no results file" in refused("compare", "--all", "--results", "x.bib", cwd=tmp_path)
    (tmp_path / "symmem-macros.tex").symlink_to("/dev/zero")
    assert "macros" in refused("emit", "gd", "--target", "latex", "-o", "y.tex", cwd=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["symmem-macros.tex", "x.bib"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["derive", "ball.toml"],
        ["emit", "ball.toml", "--target", "numpy"],
        ["emit", "gd", "ball.toml", "--target", "latex"],
        ["compare", "gd", "ball.toml"],
        ["same", "gd", "ball.toml"],
        ["scaling", "ball.toml", "--batch", "2"],
        ["verify", "ball.toml"],
    ],
    ids=lambda each: each[0],
)
def test_no_output_goes_over_the_declaration(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "ball.toml").write_text(BALL)
    (tmp_path / "link").symlink_to("ball.toml")
    for output in ("./ball.toml", "link"):
        assert "would be lost" in refused(*arguments, "-o", output, cwd=tmp_path)
    assert (tmp_path / "ball.toml").read_text() == BALL


def test_a_name_of_the_zoo_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "gd").write_text("old")
    assert run("derive", "gd", "--limit", "-o", "gd", cwd=tmp_path).returncode == 0
    assert (tmp_path / "gd").read_text() != "old"


@pytest.mark.parametrize(
    "arguments",
    [["emit", "gd", "--target", "latex"], ["emit", "gd", "--target", "c"], ["build", "gd"]],
    ids=["latex", "c", "build"],
)
def test_no_name_is_no_folder(arguments: list[str], tmp_path: Path) -> None:
    """``-o "$OUT"`` of a shell that has no OUT."""
    assert "'' is not a directory" in refused(*arguments, "-o", "", cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["emit", "gd", "--target", "c"], ["build", "gd"]], ids=["c", "build"])
def test_a_file_is_no_folder(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    assert "'there' is not a directory" in refused(*arguments, "-o", "there", cwd=tmp_path)
    assert (tmp_path / "there").read_text() == "mine"


def test_standard_input_is_read_once() -> None:
    assert "read once" in refused("compare", "-", "-", given=BALL.encode())
    assert "read once" in refused("same", "-", "-", given=BALL.encode())


def test_standard_input_that_is_closed() -> None:
    command = ["sh", "-c", 'exec "$0" -m symmem derive - <&-', sys.executable]
    done = subprocess.run(command, capture_output=True, check=False, env=ENVIRONMENT)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert done.stderr.startswith(b"symmem: standard input: cannot be read")


@pytest.mark.parametrize("value", ["inf", "nan", "1e400", "0", "-1", "ten", ""])
def test_a_time_that_is_none(value: str) -> None:
    assert "not a positive number of seconds" in refused("derive", "gd", "--timeout", value)


@pytest.mark.parametrize(
    "option", [["--limit"], ["--at-step", "0"], ["--quadratic"], ["--minibatch"], ["--format", "json"]]
)
def test_certify_leaves_no_option_unread(option: list[str]) -> None:
    assert option[0] in refused("derive", "gd", "--certify", *option)


@pytest.mark.parametrize("value", ["abc", "1e-400", "1e999999", "1/0"])
def test_a_wrong_number_names_its_parameter(value: str) -> None:
    assert refused("derive", "adam", "--set", f"beta2={value}").startswith("symmem: adam: beta2: ")


def test_a_family_in_capitals() -> None:
    assert "did you mean adam?" in refused("list", "--family", "Adam")


@pytest.mark.parametrize("arguments", [["-h"], ["derive", "-h"], ["--version"], ["list"]])
def test_a_reader_of_help_may_leave(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "symmem", *arguments]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False, env=ENVIRONMENT)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_what_python_itself_runs_out_of(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(exits.commands, "main", fails)
    assert exits.ended(["derive", "gd"]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "{" not in message
    assert "--timeout" in message


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_the_ways_out_are_those_of_the_command(error: type[Exception]) -> None:
    """``symmem same`` has no order that could be lower."""
    with pytest.raises(BudgetError) as told, limited(60, "ask less, "):
        raise error
    assert "; ask less, put numbers in" in str(told.value)
    assert "lower order" not in str(told.value)


def test_no_place_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is on that, and not on standard output, where nothing is wrong."""

    def nowhere() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    with pytest.raises(SymmemError, match="TMPDIR"), scratch_folder():
        pass


def test_a_file_that_the_system_refuses_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "/some/where")

    monkeypatch.setattr(exits.commands, "main", fails)
    assert exits.ended(["list"]) == 2
    message = capsys.readouterr().err
    assert "'/some/where' cannot be used (Permission denied)" in message
    assert "standard output" not in message


def test_a_number_for_a_parameter_in_python() -> None:
    with pytest.raises(SymmemError, match="beta1: "):
        symmem.load("adam").with_values(beta1="half")
