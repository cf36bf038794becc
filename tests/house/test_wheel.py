"""The wheel, in an environment of its own and away from the repository: templates and zoo come with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from shared import once
from sympy import Symbol, simplify, sympify

import symmem
from symmem.derivation.derivation import derive
from symmem.documents.account import account_of
from symmem.documents.paper.fragment import latex_fragment

REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRONMENT = {
    key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))
}


def call(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        check=False,
        cwd=cwd,
        env={**ENVIRONMENT, "PYTHONIOENCODING": "utf-8"},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.fixture(scope="session")
def wheel(shared_folder: Path) -> Path:
    def build(folder: Path) -> None:
        call(sys.executable, "-m", "build", "--wheel", "--outdir", folder, REPOSITORY, cwd=folder)

    (built,) = once(shared_folder / "wheel", build).glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, shared_folder: Path) -> Path:
    """A new environment with the wheel and what it depends on; the folder of its programs."""
    inside = Path("environment") / ("Scripts" if os.name == "nt" else "bin")

    def install(folder: Path) -> None:
        call(sys.executable, "-m", "venv", folder / "environment", cwd=folder)
        pip = (folder / inside / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        call(*pip, "--no-compile", wheel, cwd=folder)

    return once(shared_folder / "fresh", install) / inside


def test_the_wheel_carries_templates_zoo_and_types(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "symmem/py.typed" in names
    for folder, inside in (
        ("templates", "symmem/templates"),
        ("symmem/declaration/zoo", "symmem/declaration/zoo"),
        ("symmem/targets/c/runtime", "symmem/targets/c/runtime"),
    ):
        files = [
            path
            for path in (REPOSITORY / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        ]
        assert files
        for path in files:
            assert f"{inside}/{path.relative_to(REPOSITORY / folder).as_posix()}" in names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"symmem", f"symmem-{symmem.__version__}.dist-info"}


def test_what_is_installed_is_the_wheel(installed: Path, tmp_path: Path) -> None:
    where = call(installed / "python", "-c", "import symmem; print(symmem.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)


def test_a_template_is_rendered_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    rendered = call(installed / "symmem", "derive", "heavyball", "--format", "latex", cwd=tmp_path)
    assert rendered == latex_fragment(account_of(derive(symmem.load("heavyball"))))
    assert r"\begin{align*}" in rendered


def test_the_values_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    record = json.loads(call(installed / "symmem", "derive", "adamw", "--format", "json", cwd=tmp_path))
    names = {name: Symbol(name) for name in record["symbols"]}
    derivation = derive(symmem.load("adamw"))
    for entry, expected in (
        (record["memoryless"], derivation.F),
        (record["correction"], derivation.M),
        (record["limit"]["correction"], derivation.limit.M),
        (record["modified_loss"]["potential"], derivation.modified_loss.potential),
    ):
        assert simplify(sympify(entry["sympy"], locals=names) - expected) == 0
