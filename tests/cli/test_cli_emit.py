"""symmem emit as a user meets it: standard output, files, declarations, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import output, run


@pytest.mark.parametrize("target", ["numpy", "torch", "jax", "json"])
def test_emit_writes_to_a_file_what_it_says_on_standard_output(target: str, tmp_path: Path) -> None:
    said = output("emit", "heavyball", "--target", target)
    path = tmp_path / "emitted"
    assert output("emit", "heavyball", "--target", target, "-o", str(path)) == ""
    assert path.read_text(encoding="utf-8") == said
    if target != "json":
        scope: dict[str, object] = {"__name__": "emitted"}
        exec(said, scope)
        assert scope["MODIFIED_LOSS"] == "exact"


def test_emit_takes_a_declaration_and_an_order(tmp_path: Path) -> None:
    """A changed declaration emitted beside the original: each module keeps its own numbers."""
    text = output("show", "heavyball").replace("0.9", "0.5").replace('"heavyball"', '"slow"')
    (tmp_path / "slow.toml").write_text(text, encoding="utf-8")
    values = []
    for name in (str(tmp_path / "slow.toml"), "heavyball"):
        scope: dict[str, Any] = {"__name__": "emitted"}
        exec(output("emit", name, "--target", "numpy", "--order", "2"), scope)
        values.append(scope["memoryless"](1.0, lambda theta: theta).item())
    assert values == [2.0, pytest.approx(10.0)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("adamw", "--target", "fortran"), "fortran"),
        (("adamw",), "--target"),
        (("adamw", "--target", "numpy", "--order", "0"), "order 0"),
        (("adamv", "--target", "numpy"), "adamv"),
        (("adamw", "--target", "numpy", "-o", "/nonexistent/x.py"), "/nonexistent/x.py"),
    ],
)
def test_emit_refuses_in_one_line(arguments: tuple[str, ...], words: str) -> None:
    done = run("emit", *arguments)
    error = done.stderr.decode()
    assert done.returncode == 2
    assert words in error
    assert error.count("\n") == 1
    assert not done.stdout
