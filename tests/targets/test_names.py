"""Every name that a declaration accepts works in every target.

For each target the names are those that could be in its way: all identifiers of its emitted code, of its templates, of
the files that are copied beside it, and the words of its language.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import jax_probe
import numpy as np
import probe
import pytest
import torch
from octave_probe import needs_octave, probe_functions, run, settings
from truth import LR, literal_of, number_of

import symmem
from symmem.declaration.names import check_name
from symmem.derivation.derivation import Derivation
from symmem.errors import DeclarationError
from symmem.targets.octave.dialect import KEYWORDS as OCTAVE_WORDS
from symmem.targets.registry import TARGETS

REPOSITORY = Path(__file__).resolve().parents[2]
PYTHON = {
    *keyword.softkwlist,
    *(name for name in dir(builtins) if "Error" not in name and "Warning" not in name),
}
PYTHON |= {"ValueError", "TypeError", "cls", "self", "params", "closure", "state", "group"}
WORDS = {
    "numpy": PYTHON,
    "jax": PYTHON | {"learning_rate", "limit", "optax"},
    "torch": PYTHON
    | {"factor", "rates", "max_norm", "kernels", "limit", "maximize", "strength", "every", "target"},
    "octave": {
        *OCTAVE_WORDS,
        "ans",
        "NaN",
        "Inf",
        "eps",
        "sum",
        "size",
        "zeros",
        "numel",
        "nargin",
        "i",
        "j",
    },
}
NEAR = (
    "g", "v1", "h1", "k1", "c1", "x1", "r1", "q1", "t1", "p1", "hv1", "np", "jnp", "jax", "torch", "math", "float",
    "range", "value", "ValueError", "int",
)  # fmt: skip
"""Names that entrywise functions and bodies have: each stands by itself in an entrywise function."""
MANY = 64
"""Names in one declaration."""
RATE = float(LR)


def is_accepted(name: str) -> bool:
    try:
        check_name(name)
    except DeclarationError:
        return False
    return True


def words_of(target: str) -> set[str]:
    """Everything that looks like a name in what the target emits, and in what it is made of."""
    room = {"numpy": "python", "jax": "python", "torch": "python"}.get(target, target)
    files = [path for folder in {target, room} for path in REPOSITORY.glob(f"templates/{folder}/*")]
    files += [
        path for folder in {target, room} for path in REPOSITORY.glob(f"symmem/targets/{folder}/helpers.*")
    ]
    texts = [path.read_text() for path in files]
    texts += [TARGETS[target].source(probe.derivation(name, 1)) for name in ("adamw", "rmsprop")]
    return {word for text in texts for word in re.findall(r"[A-Za-z]\w*", text, re.ASCII)}


@cache
def declared(target: str) -> tuple[tuple[str, ...], ...]:
    """All accepted names, in a few declarations; the first is of those that are nearest."""
    words = sorted(filter(is_accepted, (words_of(target) | WORDS[target]).difference(NEAR)))
    chunks = (tuple(words[start : start + MANY]) for start in range(0, len(words), MANY))
    return (NEAR, *chunks)


@cache
def derivation_of(chosen: tuple[str, ...]) -> Derivation:
    """Each name stands in a number; the near ones also by themselves in an entrywise function."""
    weighted = " + ".join(f"{position % 3 + 1}*{name}" for position, name in enumerate(chosen))
    by_itself = "".join(f" + tanh({name}*m2)" for name in chosen if chosen == NEAR)
    optimizer = symmem.Optimizer(
        name="odd",
        phi=f"m1/sqrt(m1**2 + 1) + m2 + m3{by_itself}",
        momentum=[
            symmem.Momentum("grad", "1/2", "(1/2)/(1 - (1/2)**(n + 1))"),
            symmem.Momentum("grad", "0", "1"),
            symmem.Momentum("theta", "0", f"({weighted})/1000"),
        ],
        parameters={name: {"default": 0.3 + position / 500} for position, name in enumerate(chosen)},
    )
    return symmem.derive(optimizer)


def step_of(derivation: Derivation, n: int | None) -> list[float]:
    """The step, 50 digits, by the evaluation of verification."""
    update, change = (
        (derivation.F, derivation.M) if n is not None else (derivation.limit.F, derivation.limit.M)
    )
    literal = literal_of(derivation.optimizer)
    first, second = (number_of(each, literal, n=n or 0) for each in (update, change))
    return [x - RATE * float(f + m) for x, f, m in zip(probe.THETA64, first, second, strict=True)]


def assert_right(found: Iterable[float], derivation: Derivation, n: int | None) -> None:
    np.testing.assert_allclose(np.asarray(list(found)), step_of(derivation, n), rtol=1e-12)


@pytest.mark.parametrize("target", WORDS)
def test_the_names_are_many(target: str) -> None:
    found = {name for chosen in declared(target) for name in chosen}
    assert len(found) > 100
    assert found >= set(NEAR)


@pytest.mark.parametrize("target", ["numpy", "jax"])
def test_python(target: str) -> None:
    for chosen in declared(target):
        derivation = derivation_of(chosen)
        module = probe.module(TARGETS[target].source(derivation))
        values = probe.parameters_of(derivation.optimizer)
        point, contraction = {
            "numpy": (probe.THETA64, probe.contraction),
            "jax": (probe.THETA64, jax_probe.contraction),
            "torch": (torch.from_numpy(probe.THETA64), _torch_contraction),
        }[target]
        for n in (3, None):
            found = module.step(point, contraction, contraction, n=n, lr=RATE, **values)
            assert_right(np.asarray(found), derivation, n)
            module.memoryless(point, contraction, n=n, **values)
        with pytest.raises(ValueError, match="n = -1"):
            module.step(point, contraction, contraction, n=-1, lr=RATE, **values)


def _torch_contraction(*vectors: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(probe.contraction(*(vector.numpy() for vector in vectors)))


@needs_octave
def test_octave(tmp_path: Path) -> None:
    script, expected = probe_functions(), []
    for position, chosen in enumerate(declared("octave")):
        derivation = derivation_of(chosen)
        (tmp_path / f"odd{position}.m").write_text(TARGETS["octave"].source(derivation))
        script.append(f"made = odd{position}();")
        values = settings(probe.parameters_of(derivation.optimizer))
        for n in (3, None):
            step = f", 'n', {n}" if n is not None else ""
            script.append(f"printf('%.17g ', made.step(theta, grad, hvp, 'lr', {RATE!r}{step}{values}));")
            script.append("printf('\\n');")
            expected.append((derivation, n))
    for line, (derivation, n) in zip(run(script, tmp_path).splitlines(), expected, strict=True):
        assert_right(map(float, line.split()), derivation, n)
