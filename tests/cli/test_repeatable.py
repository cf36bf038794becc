"""Two processes say the same, byte for byte: no order comes from a set, whose order changes with the hash seed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from command import ENVIRONMENT
from truth import EVERY

FORMS = (
    ("derive",),
    ("derive", "--format", "json"),
    ("derive", "--minibatch", "--at-step", "3"),
    *(
        ("emit", "--target", target)
        for target in ("latex", "numpy", "torch", "jax", "octave", "triton", "coq")
    ),
)
KINDS = ("aggmo", "sgd-l2")
"""Several decays, whose conditions are many; two vectors in one product."""
WRITTEN = """
import contextlib, io, json, sys
import symmem
from symmem.cli.exits import ended
from symmem.documents.notebook import expression_latex

names, forms = json.loads(sys.argv[1])
said = {}
for name in names:
    said[name] = expression_latex(symmem.derive(symmem.load(name)).at(1).M)
    for command, *options in forms:
        stream = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        with contextlib.redirect_stdout(stream):
            assert ended([command, name, *options]) in (0, 2)
        said[f"{name} {command} {' '.join(options)}"] = stream.buffer.getvalue().decode()
print(json.dumps(said))
"""


def _said(names: list[str], seed: int) -> dict[str, str]:
    arguments = [sys.executable, "-c", WRITTEN, json.dumps([names, FORMS])]
    environment = {**ENVIRONMENT, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(arguments, env=environment, stdout=subprocess.PIPE, check=True, timeout=600)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "names",
    [pytest.param(list(KINDS), id="kinds"), pytest.param(list(EVERY), id="zoo", marks=pytest.mark.prove)],
)
def test_two_processes_say_the_same(names: list[str]) -> None:
    first, second = _said(names, 2), _said(names, 3)
    assert sum(map(bool, first.values())) > 0.8 * len(first)
    assert {key for key in first if first[key] != second[key]} == set()
