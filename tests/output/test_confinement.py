"""What a confined program can open, and what pdflatex can: the raw document of somebody who means harm."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from symmem.documents.paper import compilation
from symmem.documents.paper.compilation import typeset_document
from symmem.output import confinement

SECRET = "SECRETWORD"
SYSTEM = ["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache"]


def landlock() -> bool:
    code = "import sys; from symmem.output.confinement import confine; sys.exit(not confine('/tmp', []))"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


needs_landlock = pytest.mark.skipif(not landlock(), reason="the kernel has no Landlock")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    return path


def confined(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    script = [sys.executable, "-I", "-S", str(Path(confinement.__file__)), str(folder), *SYSTEM, "--"]
    found = shutil.which(command[0])
    assert found is not None
    return subprocess.run(
        [*script, found, *command[1:]], capture_output=True, check=False, text=True, timeout=60
    )


@needs_landlock
def test_a_confined_program_reads_and_writes_in_its_folder_alone(secret: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "given").write_text("given")
    assert confined(own, "cat", str(own / "given")).stdout == "given"
    assert confined(own, "touch", str(own / "made")).returncode == 0
    assert SECRET not in confined(own, "cat", str(secret)).stdout
    for command in (["cat", "/etc/passwd"], ["touch", str(tmp_path / "new")], ["ls", str(tmp_path)]):
        assert confined(own, *command).returncode != 0, command
    (own / "link").symlink_to(secret)
    assert confined(own, "cat", str(own / "link")).returncode != 0


READING = [
    r"\immediate\pdfobj stream file{FILE}", r"\pdfobj stream file{FILE}\pdfrefobj\pdflastobj",
    r"\immediate\csname tex_pdfobj:D\endcsname stream file{FILE}", r"\immediate\pdfprimitive\pdfobj stream file{FILE}",
    r"\input{FILE}", r"\includegraphics{FILE}", r"\pdfximage{FILE}\pdfrefximage\pdflastximage",
    r"\newread\f\openin\f=FILE \read\f to\x\x\typeout{\x}",
    r"\edef\x{\pdffiledump offset 0 length 9 {FILE}}\typeout{\x}x",
    r"\edef\x{\csname tex_filedump:D\endcsname offset 0 length 9 {FILE}}\typeout{\x}x", r"\write18{cat FILE}x",
    r'\input{|"cat FILE"}', r"\usepackage{verbatim}\verbatiminput{FILE}", r"\pdfmapfile{FILE}x",
]  # fmt: skip


def leaks(body: str, path: str) -> bool:
    """Whether the words of the file, plain or in hexadecimal, stand in the PDF or in the log."""
    head = r"\documentclass{article}\usepackage{graphicx}\pdfcompresslevel=0"
    source = rf"{head}\begin{{document}}x {body}\end{{document}}"
    result = typeset_document(source.replace("FILE", path), {})
    everything = (result.pdf or b"") + result.log.encode()
    return SECRET.encode() in everything or SECRET.encode().hex().upper()[:18].encode() in everything


@pytest.mark.parametrize("body", READING)
def test_a_document_reads_no_file_of_the_machine(body: str, secret: Path) -> None:
    assert not leaks(body, str(secret))


@needs_landlock
def test_each_wall_stands_by_itself(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the primitives back the kernel refuses; without it too the file is in the PDF: the test of the test."""
    monkeypatch.setattr(compilation, "_READERS", {})
    assert not leaks(READING[0], str(secret))
    monkeypatch.setattr(compilation, "_readable", lambda _: ["/"])
    assert leaks(READING[0], str(secret))


def test_the_search_path_of_the_user_is_not_used(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TEXINPUTS", "TEXMFHOME", "HOME"):
        monkeypatch.setenv(name, f"{secret.parent}//:")
    assert not leaks(r"\input{secret.txt}", "")


def test_a_document_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "SECONDS", 2)
    result = typeset_document(r"\documentclass{article}\begin{document}\loop\iftrue\repeat\end{document}", {})
    assert result.pdf is None
    assert "2 seconds" in result.log
