"""Every name that a declaration accepts works in PyTorch: the emitted functions and class, and symmem.training.

Parameters stand in functions, in constructors and in parameter groups, opaque functions in functions and constructors;
the names are those that could be in the way there: all that occur in emitted modules and in the runtime.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import probe
import pytest
import torch
from group_truth import ridge_sum
from hard_names import NEAR, OPAQUE, PYTHON, RATE, assert_right, derivation_of, is_accepted, with_functions
from truth import LOSS

import symmem
import symmem.training
import symmem.training.runtime
from symmem.derivation.derivation import Derivation
from symmem.targets.registry import TARGETS
from symmem.targets.torch.arguments import OWN
from symmem.targets.torch.formulas import formulas_module
from symmem.targets.torch.with_runtime import runtime_module

TRAINING = Path(symmem.training.__file__).parent
MANY = 64
"""Names in one declaration."""
NAMED = {
    *("factor", "rates", "max_norm", "kernels", "self", "params", "closure", "group", "state", "np", "torch", "jax"),
    *("math", "p1", "c1", "theta_", "hv1", "way1", "path1", "super", "FORMULAS", "arguments", "functions", "cls"),
    *("settings", "how", "amount", "module", "optimizer", "defaults", "param_groups", "step", "MODIFIED_LOSS"),
}  # fmt: skip
"""Names that were in the way once, or look as if they could be."""


def identifiers(text: str) -> Iterator[str]:
    """The names in a module that a parameter of a function could hide."""
    for node in ast.walk(ast.parse(text)):
        for field in ("id", "arg", "name"):
            word = getattr(node, field, None)
            if isinstance(word, str):
                yield word


def keys(text: str) -> Iterator[str]:
    """Texts that could be the key of a parameter group."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            yield node.value


@cache
def declared() -> tuple[tuple[str, ...], ...]:
    """All accepted names, in a few declarations; the first is of those that are nearest."""
    runtime = [path.read_text() for path in sorted(TRAINING.rglob("*.py"))]
    doors = (symmem.training.Memoryless, symmem.training.WithMemory, symmem.training.probe)
    found = {*NAMED, *OWN, *PYTHON, *(word for text in runtime for word in keys(text))}
    found |= {name for door in doors for name in inspect.signature(door).parameters}
    for name in ("adamw", "rmsprop", "lion-k"):
        derivation = probe.derivation(name, 1)
        for text in (
            TARGETS["torch"].source(derivation),
            formulas_module(derivation),
            runtime_module(derivation),
        ):
            found |= {*identifiers(text), *keys(text)}
    words = sorted(filter(is_accepted, found.difference(NEAR)))
    return (NEAR, *(tuple(words[start : start + MANY]) for start in range(0, len(words), MANY)))


@cache
def emitted(chosen: tuple[str, ...]) -> ModuleType:
    return probe.module(TARGETS["torch"].source(derivation_of(chosen)))


def mild(chosen: Iterable[str]) -> tuple[str, ...]:
    """As many names that are in nobody's way."""
    return tuple(f"quantity{position}" for position, _ in enumerate(chosen))


def contraction(theta: torch.Tensor, *vectors: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(probe.contraction(theta.numpy(), *(vector.numpy() for vector in vectors)))


def taken(constructor: type, derivation: Derivation) -> dict[str, float]:
    """The values by the names that the constructor has for the parameters: they stand behind lr."""
    values = probe.parameters_of(derivation.optimizer)
    names = list(inspect.signature(constructor).parameters)[2 : 2 + len(values)]
    assert [name.rstrip("_") for name in names] == [name.rstrip("_") for name in values]
    return dict(zip(names, values.values(), strict=True))


def point() -> list[torch.nn.Parameter]:
    return [torch.nn.Parameter(torch.from_numpy(probe.THETA64.copy()))]


def loss_of(tensors: list[torch.nn.Parameter]) -> Any:
    return lambda: ridge_sum(LOSS.ridges, tensors[0])


def moved(optimizer: torch.optim.Optimizer, tensors: list[torch.nn.Parameter], n: int | None) -> np.ndarray:
    """The parameters after the update n."""
    for group in optimizer.param_groups:
        group["n"] = n or 0
    optimizer.step(loss_of(tensors))
    return tensors[0].detach().numpy()


def check_functions(module: ModuleType, derivation: Derivation) -> None:
    values = probe.parameters_of(derivation.optimizer)
    theta = torch.from_numpy(probe.THETA64)
    for n in (3, None):
        found = module.step(theta, contraction, contraction, n=n, lr=RATE, **values)
        assert_right(found.tolist(), derivation, n)
        module.memoryless(theta, contraction, n=n, **values)
    with pytest.raises(ValueError, match="n = -1"):
        module.step(theta, contraction, contraction, n=-1, lr=RATE, **values)


def test_the_names_are_many() -> None:
    found = {name for chosen in declared() for name in chosen}
    assert len(found) > 250
    assert found >= set(filter(is_accepted, NAMED))


def test_the_emitted_module() -> None:
    for chosen in declared():
        derivation = derivation_of(chosen)
        module = emitted(chosen)
        check_functions(module, derivation)
        for n in (3, None):
            tensors = point()
            given = {**taken(module.Memorylessodd, derivation), "limit": n is None}
            made = module.Memorylessodd(tensors, RATE, history="expansion", **given)
            assert_right(moved(made, tensors, n), derivation, n)


def test_the_module_beside_the_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its functions are those of the other module; its constructors have more arguments, and call more."""
    monkeypatch.setitem(sys.modules, "symmem_runtime", symmem.training.runtime)
    chosen = tuple(sorted(filter(is_accepted, {*NAMED, *OWN})))[:MANY]
    derivation = derivation_of(chosen)
    module = probe.module(runtime_module(derivation))
    check_functions(module, derivation)
    given = taken(module.Memorylessodd, derivation)
    tensors = point()
    made = module.Memorylessodd(tensors, RATE, history="expansion", **given)
    assert_right(moved(made, tensors, 3), derivation, 3)
    tensors = point()
    moved(module.oddWithMemory(tensors, RATE, **given), tensors, 0)
    assert not np.allclose(tensors[0].detach(), probe.THETA64)


def test_the_installed_optimizers() -> None:
    """Without memory against the theory; with memory, and the probe, as with names that are in nobody's way."""
    for chosen in declared():
        derivation = derivation_of(chosen)
        given = taken(emitted(chosen).Memorylessodd, derivation)
        for n in (3, None):
            tensors = point()
            made = symmem.training.Memoryless(
                derivation.optimizer, tensors, RATE, limit=n is None, history="expansion", **given
            )
            assert_right(moved(made, tensors, n), derivation, n)
        results = [
            with_memory(derivation, given),
            with_memory(
                derivation_of(mild(chosen), near=chosen == NEAR),
                dict(zip(mild(chosen), given.values(), strict=True)),
            ),
        ]
        np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


def with_memory(derivation: Derivation, given: dict[str, float]) -> list[float]:
    """Some steps with memory and a part of it taken away, and what the probe says."""
    tensors = point()
    made = symmem.training.WithMemory(derivation.optimizer, tensors, RATE, strength=-0.5, **given)
    for _ in range(3):
        made.step(loss_of(tensors))
    model = torch.nn.ParameterList(tensors)
    seen = symmem.training.probe(model, made, loss_of(tensors))
    return [*tensors[0].detach().tolist(), *seen.values()]


def test_opaque_functions() -> None:
    """Functions by hard names do what the same functions do by others: in functions, and in every optimizer."""
    results = []
    for names in (OPAQUE, mild(OPAQUE)):
        derivation = with_functions(names)
        module = probe.module(TARGETS["torch"].source(derivation))
        calls = [each for _ in names for each in (torch.tanh, _slope)]
        theta = torch.from_numpy(probe.THETA64)
        found = [module.step(theta, contraction, contraction, *calls, n=3, lr=RATE)]
        given = [
            name for name in inspect.signature(module.Memorylessopen).parameters if _is_function(name, names)
        ]
        functions = dict.fromkeys(given, torch.tanh)
        assert len(functions) == len(names)
        optimizer = derivation.optimizer
        for make in (
            module.Memorylessopen,
            partial(symmem.training.Memoryless, optimizer),
            partial(symmem.training.WithMemory, optimizer, strength=-0.5),
        ):
            tensors = point()
            moved(make(tensors, lr=RATE, history="expansion", **functions), tensors, 3)
            found.append(tensors[0].detach())
        results.append(torch.cat(found).numpy())
        np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
        np.testing.assert_allclose(found[1], found[2], rtol=1e-12)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


def _slope(x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return v / torch.cosh(x) ** 2


def _is_function(name: str, names: tuple[str, ...]) -> bool:
    return name.rstrip("_") in names and name != "params"
