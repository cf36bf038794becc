"""Every name that a declaration accepts works in every target.

For each target the names are those that could be in its way: all identifiers of its emitted code, of its templates, of
the files that are copied beside it, and the words of its language.
"""

from __future__ import annotations

import re
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import jax_probe
import numpy as np
import probe
import pytest
import torch
import triton_probe
from hard_names import NEAR, OPAQUE, PYTHON, RATE, assert_right, derivation_of, is_accepted, with_functions
from octave_probe import needs_octave, probe_functions, run, settings

from symmem.targets.octave.dialect import KEYWORDS as OCTAVE_WORDS
from symmem.targets.registry import TARGETS

REPOSITORY = Path(__file__).resolve().parents[2]
WORDS = {
    "numpy": PYTHON,
    "jax": PYTHON | {"learning_rate", "limit", "optax"},
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
MANY = 64
"""Names in one declaration."""


def words_of(target: str) -> set[str]:
    """Everything that looks like a name in what the target emits, and in what it is made of."""
    room = {"numpy": "python", "jax": "python"}.get(target, target)
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


@pytest.mark.parametrize("target", WORDS)
def test_the_names_are_many(target: str) -> None:
    found = {name for chosen in declared(target) for name in chosen}
    assert len(found) > 100
    assert found >= set(NEAR)


def both_steps(module: Any, contraction: Any, values: dict[str, float], n: Any) -> list[Any]:
    """The step at n and in the limit; memoryless is called too."""
    module.memoryless(probe.THETA64, contraction, n=n, **values)
    given = (probe.THETA64, contraction, contraction)
    return [module.step(*given, n=each, lr=RATE, **values) for each in (n, None)]


@pytest.mark.parametrize("target", ["numpy", "jax"])
def test_python(target: str) -> None:
    for chosen in declared(target):
        derivation = derivation_of(chosen)
        module = probe.module(TARGETS[target].source(derivation))
        values = probe.parameters_of(derivation.optimizer)
        contraction = {"numpy": probe.contraction, "jax": jax_probe.contraction}[target]
        steps = partial(both_steps, module, contraction, values)
        found = (jax.jit(steps) if target == "jax" else steps)(3)  # compiled at once, not loop by loop
        for n, value in zip((3, None), found, strict=True):
            assert_right(np.asarray(value), derivation, n)
        with pytest.raises(ValueError, match="n = -1"):
            module.step(probe.THETA64, contraction, contraction, n=-1, lr=RATE, **values)


@pytest.mark.parametrize("target", ["numpy", "jax"])
def test_opaque_functions_of_python(target: str) -> None:
    """Functions by hard names do what the same functions do by others."""
    library, contraction = {"numpy": (np, probe.contraction), "jax": (jnp, jax_probe.contraction)}[target]
    calls = [library.tanh, lambda x, v: v / library.cosh(x) ** 2] * len(OPAQUE)
    results = []
    for names in (OPAQUE, tuple(f"quantity{position}" for position, _ in enumerate(OPAQUE))):
        module = probe.module(TARGETS[target].source(with_functions(names)))
        steps = [
            module.step(probe.THETA64, contraction, contraction, *calls, n=n, lr=RATE) for n in (3, None)
        ]
        results.append(np.asarray(steps))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-13)
    assert not np.allclose(results[0][0], probe.THETA64)


LAUNCHED = (
    *(
        "num_warps",
        "num_stages",
        "grid",
        "warmup",
        "hv",
        "memory",
        "strength",
        "tl",
        "triton",
        "BLOCK",
        "KINDS",
    ),
    *(
        "table",
        "owner",
        "place",
        "mask",
        "row",
        "target",
        "a1",
        "past1",
        "rows1",
        "torch",
        "math",
        "functools",
    ),
)
"""Names that are in the way of a launch, or of Triton's language."""


def in_a_kernel(machine: str) -> list[tuple[str, ...]]:
    """The same in every run; under prove all words of the module that no other test has."""
    if machine == "stand-in":
        return [LAUNCHED]
    words = sorted(filter(is_accepted, words_of("triton") - words_of("numpy") - PYTHON))
    return [NEAR, *(tuple(words[start : start + MANY]) for start in range(0, len(words), MANY))]


@pytest.mark.parametrize("machine", triton_probe.MACHINES)
def test_triton(machine: str) -> None:
    for chosen in in_a_kernel(machine):
        derivation = derivation_of(chosen)
        module = triton_probe.interpreted(derivation, machine)
        values = probe.parameters_of(derivation.optimizer)
        for n in (3, None):
            hv = [triton_probe.tensor(each) for each in triton_probe.products(module, n, values)]
            theta, grad = map(triton_probe.tensor, (probe.THETA64, triton_probe.GRADIENT))
            assert_right(module.step(theta, grad, hv, n=n, lr=RATE, **values).numpy(), derivation, n)
        memory = module.initial_memory(theta)
        plain, corrected = (triton_probe.tensor(probe.THETA64) for _ in range(2))
        module.update(plain, grad, memory, n=0, lr=RATE, **values)
        hv = [torch.zeros_like(theta) for _ in module.direction(theta, grad, n=0, **values)]
        memory = module.initial_memory(theta)
        module.corrected_update(corrected, grad, memory, hv, n=0, lr=RATE, **values)
        np.testing.assert_allclose(plain, corrected, rtol=1e-15)  # without products there is no correction


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
