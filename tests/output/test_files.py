"""Files: a set is there whole or not at all, whatever happens; nothing of the user's is written over."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import REPOSITORY, run

import symmem
from symmem.errors import SymmemError
from symmem.output import files, installation
from symmem.output.installation import Failure, OutputFile, Plan
from symmem.output.scratch import PREFIX, scratch_folder, sweep
from symmem.targets.c.layout import c_files
from symmem.targets.c.wrapper import runtime_modules
from symmem.targets.torch.pieces import runtime_files

OURS = "% Written by symmem 0.0.1 for a test.\n"


def plan(folder: Path, *names: str) -> Plan:
    entries = tuple(OutputFile(str(folder / name), f"new {name}".encode(), 0o644) for name in names)
    return Plan(entries, str(folder), "0" * 32, makes_folders=True)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "beside" / "out"
    made.mkdir(parents=True)
    (made / "a").write_text("old a")
    return made


def test_a_plan_that_is_not_whole_is_none(folder: Path) -> None:
    whole = plan(folder, "a", "b")._replace(entries=(*plan(folder, "a").entries, OutputFile("x", None, 0)))
    sent = installation.send(whole)
    assert installation.receive(io.BytesIO(sent)) == whole
    for length in range(len(sent)):
        assert installation.receive(io.BytesIO(sent[:length])) is None, length


@pytest.mark.parametrize("step", ["mkdir", "open", "fsync", "chmod", "link", "replace"])
def test_a_full_disk_changes_nothing(step: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call of the file system fails once, whichever of its kind it is."""
    before = tree(folder.parent)
    plain = getattr(os, step)
    for which in range(step == "open", 20):  # the first open is the lock, which may fail
        calls = iter(range(1000))

        def fail(
            *arguments: object, _which: int = which, _calls: object = calls, **options: object
        ) -> object:
            if next(_calls) == _which:  # type: ignore[call-overload]
                raise OSError(errno.ENOSPC, "No space left on device")
            return plain(*arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(installation.os, step, fail)
            failure = installation.install(plan(folder, "a", "b", "c/d/e"))
        if failure is None:
            break
        assert failure.reason == "No space left on device"
        assert tree(folder.parent) == before
        assert [path.name for path in folder.iterdir()] == ["a"]
    assert which > 1 or step == "link"  # a failing link is replaced by a copy
    assert tree(folder) == {name: f"new {name}".encode() for name in ("a", "b", "c/d/e")}
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


def test_an_interruption_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, seen = os.replace, []

    def interrupt(source: str, target: str) -> None:
        seen.append(target)
        if len(seen) == 2:
            raise KeyboardInterrupt
        plain(source, target)

    monkeypatch.setattr(installation.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        installation.install(plan(folder, "a", "b"))
    assert tree(folder.parent) == {"out/a": b"old a"}


def test_the_old_file_is_whole_until_the_new_one_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, seen = os.replace, []

    def watch(source: str, target: str) -> None:
        seen.append((Path(source).read_text(), Path(target).read_text()))
        plain(source, target)

    monkeypatch.setattr(installation.os, "replace", watch)
    assert installation.install(plan(folder, "a")) is None
    assert seen == [("new a", "old a")]


def test_another_file_system_is_staged_in_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a rename says that it crosses file systems, as with bind mounts, the next place is tried."""
    plain = os.replace

    def crossing(source: str, target: str) -> None:
        if Path(source).parent.parent != folder:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        plain(source, target)

    monkeypatch.setattr(installation.os, "replace", crossing)
    assert installation.install(plan(folder, "a", "b")) is None
    assert tree(folder.parent) == {"out/a": b"new a", "out/b": b"new b"}


def test_what_is_in_the_way_is_said(folder: Path) -> None:
    (folder / "dir").mkdir()
    assert installation.install(plan(folder, "a", "dir")) == Failure(str(folder / "dir"), "not a file")
    assert (folder / "a").read_text() == "old a"


def test_planted_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    for name in (".a.new", ".a", f"a.{os.getpid()}", f".a.{os.getpid()}"):
        (folder / name).symlink_to(secret)
    files.write_set({str(folder / "b"): "text"}, str(folder))
    files.write_whole(str(folder / "a"), "text")
    assert secret.read_text() == "mine"


@pytest.mark.parametrize("leads", ["to a file", "nowhere"])
def test_a_planted_link_at_the_place_of_an_output_is_refused(
    leads: str, folder: Path, tmp_path: Path
) -> None:
    """Nothing is written, and nothing is made, where a link in the output folder leads."""
    secret = tmp_path / "secret"
    if leads == "to a file":
        secret.write_text("mine")
    (folder / "x.h").symlink_to(secret)
    before = tree(tmp_path)
    with pytest.raises(SymmemError, match=r"x\.h"):
        files.write_set({str(folder / "x.h"): "text", str(folder / "x.c"): "text"}, str(folder))
    assert tree(tmp_path) == before
    files.write_whole(str(folder / "x.h"), "named")  # who names it himself means what it leads to
    assert secret.read_text() == "named"


def test_a_file_that_has_to_be_absent_goes_only_where_it_is_ours(folder: Path, tmp_path: Path) -> None:
    """The log of an older build goes; behind a link of its name a user's file stays, and so does his own log."""
    thesis, ours = tmp_path / "thesis", folder / "ours.log"
    thesis.write_text("mine")
    (folder / "link.log").symlink_to(thesis)
    (folder / "users.log").write_text("mine too")
    ours.write_text(OURS)
    absent = [str(folder / name) for name in ("link.log", "users.log", "ours.log", "none.log")]
    files.write_set({str(folder / "b"): "text"}, str(folder), absent=absent)
    assert (thesis.read_text(), (folder / "users.log").read_text()) == ("mine", "mine too")
    assert (folder / "link.log").is_symlink()
    assert not ours.exists()


def test_several_files_that_were_named_are_written_whole_or_not_at_all(folder: Path) -> None:
    files.write_named({str(folder / "a"): "new a", str(folder / "b"): b"new b", os.devnull: "x"})
    assert tree(folder) == {"a": b"new a", "b": b"new b"}
    for other in (str(folder / "nowhere" / "x"), str(folder / "."), "", str(folder / ".." / "out" / "a")):
        with pytest.raises(SymmemError):
            files.write_named({str(folder / "a"): "newer", other: "text"})
        assert tree(folder) == {"a": b"new a", "b": b"new b"}


def test_stale_folders_of_ours_are_removed_and_others_stay(folder: Path) -> None:
    stale, fresh, link = (installation.PREFIX + digit * installation.TOKEN for digit in "123")
    foreign = [".symmem-notes", ".symmemory", f".symmem-{'x' * installation.TOKEN}"]
    for name in (stale, fresh, *foreign):
        (folder.parent / name).mkdir()
        (folder.parent / name / "new-0").write_text("x")
    (folder.parent / link).symlink_to(folder.parent / foreign[0])
    past = time.time() - 10 * installation.STALE
    for name in (stale, *foreign):
        os.utime(folder.parent / name, (past, past))
    files.write_whole(str(folder / "a"), "text")
    assert {p.name for p in folder.parent.iterdir()} == {fresh, link, *foreign, "out"}
    assert all((folder.parent / name / "new-0").exists() for name in foreign)


def test_scratch_folders_of_the_dead_are_removed(tmp_path: Path) -> None:
    dead, young = tmp_path / f"{PREFIX}dead", tmp_path / f"{PREFIX}young"
    users = tmp_path / "symmem-results"
    for each in (dead, young, users):
        (each / "made").mkdir(parents=True)
    past = time.time() - 10_000
    for each in (dead, users):
        os.utime(each, (past, past))
    with scratch_folder() as alive:
        os.utime(alive, (past, past))
        sweep(alive.parent)
        assert alive.exists()
    sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {young.name, users.name}


# whose file it is


@pytest.mark.parametrize("beside", ["x.bib", "x.pdf"])
def test_latex_writes_over_no_file_of_the_user(beside: str, tmp_path: Path) -> None:
    (tmp_path / beside).write_text("@misc{mine, title = {Mine}}\n")
    (tmp_path / "x.tex").write_text("my text")
    before = tree(tmp_path)
    done = run("emit", "heavyball", "--target", "latex", "--pdf", "-o", "x.tex", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert beside in done.stderr.decode()
    assert tree(tmp_path) == before


@pytest.mark.parametrize("is_link", [True, False])
def test_the_notation_is_added_to_a_file_of_macros_alone(is_link: bool, tmp_path: Path) -> None:
    """What is behind the name symmem-macros.tex and defines none of them is somebody else's."""
    theirs = tmp_path / (".profile" if is_link else "paper/symmem-macros.tex")
    (tmp_path / "paper").mkdir()
    theirs.write_text("export A=1\n")
    if is_link:
        (tmp_path / "paper/symmem-macros.tex").symlink_to(theirs)
    before = tree(tmp_path)
    done = run("emit", "gd", "--target", "latex", "-o", "paper/x.tex", cwd=tmp_path)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"symmem-macros.tex" in done.stderr
    assert tree(tmp_path) == before


def test_what_symmem_wrote_is_written_again(tmp_path: Path) -> None:
    for _ in range(2):
        for arguments in (
            ["emit", "heavyball", "--target", "latex", "--pdf", "-o", "x.tex"],
            ["emit", "heavyball", "--target", "c", "-o", "c"],
            ["emit", "heavyball", "--target", "torch", "--runtime", "-o", "t.py"],
            ["build", "heavyball", "-o", "built"],
        ):
            done = run(*arguments, cwd=tmp_path)
            assert (done.returncode, done.stderr) == (0, b""), arguments


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["emit", "heavyball", "--target", "c", "-o", "out"], "out/symmem_heavyball.h"),
        (["emit", "heavyball", "--target", "torch", "--runtime", "-o", "out/t.py"], "out/symmem_runtime/probe.py"),
        (["build", "heavyball", "-o", "out"], "out/lib/libsymmem_heavyball.so"),
        (["build", "heavyball", "-o", "out"], "out/lib/pkgconfig/symmem-heavyball.pc"),
    ],
)  # fmt: skip
def test_no_target_writes_over_a_file_of_the_user(arguments: list[str], place: str, tmp_path: Path) -> None:
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_text("/*\n * mine\n */\n")
    before = tree(tmp_path)
    done = run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert Path(place).name in done.stderr.decode()
    assert tree(tmp_path) == before


def test_the_line_at_the_head_is_found_in_every_comment(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text in (
        "% written by symmem 1.0\n",
        "/*\n * Adam. Made by\n * symmem 0.1.0 from\n */",
        '"""x\n\nMade by symmem 2',
    ):
        path.write_text(text)
        assert files.is_ours(str(path), b"new")
    for text in ("made by hand\n", "about symmem\n", "% inspired by symmem\n", ""):
        path.write_text(text)
        assert not files.is_ours(str(path), b"new")


# kills


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is emitted and built, as texts: two files, three files, a package."""
    derivation = symmem.derive("heavyball")
    made = c_files(derivation)
    found = {
        "c": {made.header_name: made.header, made.source_name: made.source},
        "latex": {"x.tex": symmem.emit(derivation, "latex"), "x.bib": f"{OURS}x", "symmem-macros.tex": f"{OURS}y"},
        "runtime": {
            "x.py": symmem.emit(derivation, "torch"),
            **{f"symmem_runtime/{name}": text for name, text in list(runtime_files().items())[:6]},
        },
        "build": {
            f"{place}/x": f"# Made by symmem 0.1.0\n{place}\n"
            for place in ("include", "lib/pkgconfig", "lib", "python")
        },
    }  # fmt: skip
    path = tmp_path_factory.mktemp("sets") / "sets.json"
    path.write_text(json.dumps(found))
    return path


@pytest.mark.parametrize("mode", ["calls", "times", "installer"])
def test_a_kill_leaves_the_old_set_or_the_new_one(mode: str, sets: Path, tmp_path: Path) -> None:
    """At every call of the file system, at 200 times, and of the process that installs: 200 moments and more."""
    script = REPOSITORY / "tests" / "support" / "kills.py"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, str(script), str(tmp_path), str(sets), mode]
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=150, env=environment)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["new"] > 0
    # How many of the times fall before the new set stands is the machine's matter; that some do is not.
    assert seen.get("old", 0) > {"calls": 10, "times": 0, "installer": -1}[mode]
    assert sum(seen.values()) >= {"calls": 30, "times": 200, "installer": 60}[mode]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_unwritable_place_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SymmemError, match="cannot be written"):
        files.write_whole(str(tmp_path / "nowhere" / "x"), "text")
    assert list(tmp_path.iterdir()) == []


def test_modules_that_are_copied_are_known_to_every_later_version(tmp_path: Path) -> None:
    """Whatever their first lines become: ``build`` and ``emit --runtime`` write over what an older symmem wrote."""
    for name, text in {**runtime_modules(), **runtime_files()}.items():
        (tmp_path / name).write_text(text)
        assert files.is_ours(str(tmp_path / name), b"something else\n")
        (tmp_path / name).write_text(text.split("\n", 1)[1])  # without that line it is anybody's
        assert not files.is_ours(str(tmp_path / name), b"something else\n")
