r"""A stranger's words stay words in every command: mini-batches, papers of several methods, tables, checks, wheels.

Every text field of a declaration holds a payload, and what comes out is compared with what harmless words give.
"""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from pathlib import Path

import pytest
from command import run
from machine import needs
from payloads import HARMLESS, PAYLOADS, WRITTEN, control_words, shape

DECLARATION = """
name = "probe-three"
title = TEXT
reference = TEXT
phi = "sign(m1) + eps*m1"

[parameters]
beta = { default = 0.9, range = "[0, 1)" }
eps = { default = 1e-3, range = "(0, inf)" }

[smooth]
sign = "x/sqrt(x**2 + eps)"

[citation.one]
type = "article"
title = TEXT
author = TEXT
journal = TEXT
year = TEXT
note = TEXT

[implementation]
name = "torch.optim.SGD"
arguments = { momentum = "beta" }
departures = [TEXT]

[[momentum]]
g = "grad"
beta = "beta"
b = "1 - beta"
"""


def every(shown: str) -> pytest.MarkDecorator:
    """All payloads; those that are not shown, under ``make prove``."""
    marks = {name: [] if name == shown else [pytest.mark.prove] for name in PAYLOADS}
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=marks[name], id=name) for name in PAYLOADS]
    )


@cache
def said(text: str, command: str, *options: str) -> str:
    """What a command prints for the declaration with this text."""
    given = DECLARATION.replace("TEXT", json.dumps(f"T {text}")).encode()
    done = run(command, "-", *options, given=given)
    assert (done.returncode, done.stderr) == (0, b""), (options, done.stderr)
    return done.stdout.decode()


@every("python")
@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_modules_with_noise_keep_their_shape(target: str, name: str) -> None:
    plain, found = (
        said(text, "emit", "--target", target, "--minibatch") for text in (HARMLESS, PAYLOADS[name])
    )
    assert shape(found) == shape(plain)


@every("tex end")
@pytest.mark.parametrize(
    "options",
    [
        ("emit", "gd", "--target", "latex", "--minibatch", "--standalone"),
        ("compare", "gd", "--format", "latex"),
        ("derive", "--minibatch", "--format", "latex"),
    ],
    ids=lambda options: options[0],
)
def test_papers_and_tables_have_no_new_control_words(options: tuple[str, ...], name: str) -> None:
    plain, found = (said(text, *options) for text in (HARMLESS, PAYLOADS[name]))
    assert control_words(found) - control_words(plain) <= WRITTEN
    for sign in ("$", "&", "#", "^"):
        unescaped = [each.replace(rf"\{sign}", "").count(sign) for each in (plain, found)]
        assert unescaped[0] == unescaped[1] or sign == "&", (
            sign
        )  # a long title breaks its formula over more rows


def test_a_title_at_the_head_of_a_row_is_no_argument(tmp_path: Path) -> None:
    r"""``\\`` takes a star and a length in brackets, also from the next line."""
    needs("pdflatex")
    files = []
    for number, title in enumerate(("[x] Y", "* Y", "[acm] Y]")):
        text = DECLARATION.replace("TEXT", json.dumps(title)).replace("probe-three", f"probe-{number}")
        files.append(f"{number}.toml")
        (tmp_path / files[-1]).write_text(text.replace("citation.one", f"citation.one{number}"))
    done = run("emit", "gd", *files, "--target", "latex", "--pdf", "-o", "paper/", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")


@every("html")
@pytest.mark.parametrize(
    "options",
    [("scaling", "--batch", "2"), ("same", "gd"), ("compare", "gd"), ("derive", "--minibatch", "--limit")],
    ids=lambda options: options[0],
)
def test_texts_have_as_many_lines_of_their_own(options: tuple[str, ...], name: str) -> None:
    """Printed letter by letter: no line begins that harmless words of the same length would not begin."""
    payload = PAYLOADS[name]
    found = said(payload, *options)
    assert all(line.isprintable() for line in found.splitlines())
    assert "T " in found or options[0] == "same"


@every("html")
def test_data_hold_the_words_as_they_are(name: str) -> None:
    json.loads(said(PAYLOADS[name], "scaling", "--batch", "2", "--format", "json"))
    json.loads(said(PAYLOADS[name], "compare", "gd", "--format", "json"))
    json.loads(said(PAYLOADS[name], "emit", "--target", "json", "--minibatch"))
    assert json.dumps(f"T {PAYLOADS[name]}") in said(PAYLOADS[name], "show")


@pytest.mark.prove
@pytest.mark.parametrize("name", PAYLOADS)
def test_checks_end_and_a_wheel_names_no_title(name: str, tmp_path: Path) -> None:
    needs("cc")
    picture = tmp_path / "x.svg"
    said(PAYLOADS[name], "verify", "--minibatch", "--plot", str(picture))
    assert b"<script" not in picture.read_bytes()
    said(PAYLOADS[name], "build", "--wheel", "-o", str(tmp_path / "built"))
    wheel = zipfile.ZipFile(io.BytesIO(next((tmp_path / "built").glob("*.whl")).read_bytes()))
    for entry in wheel.namelist():
        if ".dist-info/" in entry:
            assert PAYLOADS[name][:12].encode() not in wheel.read(entry), entry
