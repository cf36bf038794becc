"""What came out, read by a parser of its language: a text that is not of it is a failure."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tempfile
from pathlib import Path

import symmem
from symmem.errors import BudgetError, SymmemError
from symmem.targets.registry import TARGETS

NOT_A_VALUE = re.compile(r"\b(zoo|nan|NaN|ComplexInfinity|AccumBounds|Piecewise)\b")
"""What SymPy has where there is no number: never shown to anybody."""


def check_printed(output: str, given: str, form: str) -> None:
    """What ``symmem derive`` said: data where data was asked for, and no value that is none."""
    assert output.strip(), "nothing was printed"
    found = NOT_A_VALUE.search(output)
    assert found is None or found[0] in given, f"{found[0]} stands in the output"
    if form == "json":
        json.loads(output)


def check_targets(derivation: symmem.Derivation) -> list[str]:
    """The targets that took it, each checked; a refusal is one line."""
    taken = []
    for name in TARGETS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                text = symmem.emit(derivation, name, folder if name == "c" else None)
            except BudgetError:
                raise
            except SymmemError as error:
                if len(str(error).splitlines()) != 1:
                    raise AssertionError(f"{name}: several lines: {error}") from None
                continue
            _check(name, text, Path(folder))
            taken.append(name)
    return taken


def _check(target: str, text: str, folder: Path) -> None:
    if target in ("numpy", "torch", "jax", "triton"):
        ast.parse(text)
    elif target == "c":
        _check_c(folder)
    elif target == "octave":
        _check_octave(text)
    elif target == "json":
        json.loads(text)
    else:
        _check_tex(text)


def _check_octave(text: str) -> None:
    """Octave starts too slowly to read every file: brackets are closed in every line, and every block has its end."""
    depth = 0
    for line in text.splitlines():
        code = re.sub(r"'(?:[^']|'')*'", "''", line)
        code = re.sub(r"[%#].*", "", code)
        for opening, closing in ("()", "[]", "{}"):
            assert code.count(opening) == code.count(closing), line
        words = code.split()
        depth += bool(words) and words[0] in ("function", "if", "for", "while", "switch", "try")
        depth -= bool(words) and words[0].rstrip(";") == "end"
        assert depth >= 0, line
    assert depth == 0, "a block without its end"


def _check_c(folder: Path) -> None:
    for source in sorted(folder.glob("*.c")):
        command = [
            "cc",
            "-std=c11",
            "-fsyntax-only",
            "-Werror=implicit-function-declaration",
            "-I",
            folder,
            source,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stderr


def _check_tex(text: str) -> None:
    """Braces and environments are closed; a TeX run of every document would take days."""
    code = re.sub(r"\\[\\{}%]", "", text)
    code = re.sub(r"%.*", "", code)
    assert code.count("{") == code.count("}"), "braces that are not closed"
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{([^}]*)\}", code):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened, name
            assert opened.pop() == name, name
    assert not opened, opened
