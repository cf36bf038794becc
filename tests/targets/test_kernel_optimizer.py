"""The PyTorch optimizers of the runtime with the path of built kernels: the same training, by compiled code."""

from __future__ import annotations

import copy
import importlib
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from compiled import KERNELS, built, few_passes
from sympy import Rational
from truth import load

import symmem
from symmem.targets.c.build import build
from symmem.targets.torch.with_runtime import write_with_runtime
from symmem.training import Memoryless, WithMemory
from symmem.training.runtime.kernels import Compiled

NESTED = ("lamb", "laprop")
WAYS = [
    (Memoryless, {}),
    (Memoryless, {"limit": True}),
    (Memoryless, {"maximize": True, "max_norm": 0.1}),
    (Memoryless, {"hvp": "central-difference"}),
    (Memoryless, {"history": "expansion"}),
    (WithMemory, {"strength": 0}),
    (WithMemory, {"strength": -1, "every": 2}),
    (WithMemory, {"strength": -0.5, "history": "expansion", "max_norm": 0.1}),
    (WithMemory, {"strength": 1, "maximize": True}),
]
CALLS = (12, 12, 12, 12, 12, 6, 9, 12, 12)
"""In six steps: a step and its directions; in a step without correction no directions."""


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions of the kernels that were called."""
    names, call = [], Compiled.call

    def noted(self: Compiled, name: str, *given: Any) -> Any:
        names.append(name)
        return call(self, name, *given)

    monkeypatch.setattr(Compiled, "call", noted)
    return names


def path_of(shared: Path, name: str) -> str:
    folder = built(shared, NESTED if name in NESTED else KERNELS, "quick")
    return str(folder / "python" / f"symmem_{name.replace('-', '_')}.py")


def problem(kind: torch.dtype = torch.float64) -> tuple[torch.nn.Module, Callable[[], torch.Tensor]]:
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3)).to(kind)
    x, y = torch.randn(20, 5, dtype=kind), torch.randn(20, 3, dtype=kind)
    return net, lambda: (net(x) - y).square().mean()


def trained(made: Any, name: Any, kind: torch.dtype = torch.float64, **more: Any) -> tuple[Any, Any]:
    net, closure = problem(kind)
    optimizer = made(name, net.parameters(), lr=1e-3, **more)
    for _ in range(6):
        optimizer.step(closure)
    return torch.cat([p.detach().view(-1) for p in net.parameters()]), optimizer


def assert_same(found: tuple[Any, Any], plain: tuple[Any, Any], tolerance: float) -> None:
    """The parameters, and what the optimizers keep."""
    torch.testing.assert_close(found[0], plain[0], rtol=tolerance, atol=tolerance)
    mine, others = (each[1].state_dict()["state"] for each in (found, plain))
    assert mine.keys() == others.keys()
    for key, entry in others.items():
        assert mine[key].keys() == entry.keys()
        for name, value in entry.items():
            torch.testing.assert_close(mine[key][name], value, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("way", "count"), [*zip(WAYS, CALLS, strict=True)], ids=str)
@pytest.mark.parametrize("name", ["adamw", "rmsprop", "nesterov"])
def test_the_same_training(shared_folder: Path, called: list[str], name: str, way: Any, count: int) -> None:
    made, more = way
    found = trained(made, name, kernels=path_of(shared_folder, name), **more)
    assert len(called) == count
    assert_same(found, trained(made, name, **more), 1e-6 if "hvp" in more else 1e-12)


@pytest.mark.parametrize("strength", [0, -1])
@pytest.mark.parametrize("name", KERNELS)
def test_every_memory_has_the_rows_of_the_state(
    shared_folder: Path, called: list[str], name: str, strength: int
) -> None:
    found = trained(WithMemory, name, kernels=path_of(shared_folder, name), strength=strength)
    assert set(called) == ({"direction", "straight_update"} if strength and name != "gd" else {"update"})
    assert_same(found, trained(WithMemory, name, strength=strength), 1e-12)


def test_a_cascade_runs_from_its_memory(shared_folder: Path, called: list[str]) -> None:
    found = trained(WithMemory, "laprop", kernels=path_of(shared_folder, "laprop"), limit=True)
    assert called == ["update"] * 6
    assert_same(found, trained(WithMemory, "laprop", limit=True), 1e-12)


def test_functions_of_a_tensor(shared_folder: Path, called: list[str]) -> None:
    path = path_of(shared_folder, "lamb")
    found = trained(Memoryless, "lamb", kernels=path)
    assert len(called) == 12
    assert_same(found, trained(Memoryless, "lamb"), 1e-12)
    with pytest.raises(ValueError, match="LAMB has no kernels with memory"):
        trained(WithMemory, "lamb", kernels=path)


@pytest.mark.parametrize("made", [Memoryless, WithMemory])
def test_other_types(shared_folder: Path, called: list[str], made: Any) -> None:
    path = path_of(shared_folder, "adamw")
    more = {"strength": -1} if made is WithMemory else {}
    single = trained(made, "adamw", torch.float32, kernels=path, **more)
    assert called
    assert_same(single, trained(made, "adamw", torch.float32, **more), 1e-5)
    called.clear()
    half = trained(made, "adamw", torch.bfloat16, kernels=path, **more)
    assert not called  # the formulas
    assert_same(half, trained(made, "adamw", torch.bfloat16, **more), 0.0)


@pytest.mark.parametrize(
    ("made", "more"),
    [
        (Memoryless, {"groups": True}),
        (WithMemory, {"target": {"beta2": 0.95}}),
        (WithMemory, {"strength": -1, "limit": True}),
        (WithMemory, {"strength": -1, "groups": True}),
        (WithMemory, {"strength": -1, "transposed": True}),
    ],
    ids=str,
)
def test_what_the_formulas_do_instead(
    shared_folder: Path, called: list[str], made: Any, more: dict[str, Any]
) -> None:
    more, found = dict(more), []
    apart, transposed = more.pop("groups", False), more.pop("transposed", False)
    for kernels in (path_of(shared_folder, "adamw"), None):
        net, closure = problem()
        if transposed:
            net[0].weight.data = net[0].weight.data.t().contiguous().t()
        groups = [{"params": [p], "lr": 1e-3 * (1 + apart * k)} for k, p in enumerate(net.parameters())]
        optimizer = made("adamw", groups, kernels=kernels, **more)
        for _ in range(3):
            optimizer.step(closure)
        found.append(torch.cat([p.detach().reshape(-1) for p in net.parameters()]))
    assert not called
    assert torch.equal(*found)


def test_a_state_goes_over_both_ways(shared_folder: Path, called: list[str]) -> None:
    """PyTorch's state and that of the formulas into the kernels, and theirs back: the next step is the same."""
    path = path_of(shared_folder, "adamw-torch")
    net, closure = problem()
    plain = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for _ in range(3):
        plain.zero_grad()
        closure().backward()
        plain.step()
    kept, start = copy.deepcopy(plain.state_dict()), copy.deepcopy(net.state_dict())
    ends = []
    for kernels in (path, None, "back"):
        net.load_state_dict(start)
        state = copy.deepcopy(kept)
        optimizer = WithMemory(
            "adamw-torch", net.parameters(), lr=1e-3, strength=-1, kernels=None if kernels is None else path
        )
        optimizer.load_state_dict(state)
        optimizer.step(closure)
        if kernels == "back":  # the formulas go on from what the kernels keep
            second = WithMemory("adamw-torch", net.parameters(), lr=1e-3, strength=-1)
            second.load_state_dict(optimizer.state_dict())
            optimizer = second
        optimizer.step(closure)
        ends.append(torch.cat([p.detach().view(-1) for p in net.parameters()]))
    assert len(called) == 6
    for end in ends[1:]:
        torch.testing.assert_close(end, ends[0], rtol=1e-13, atol=1e-13)


def test_a_tensor_joins_and_one_has_no_gradient(shared_folder: Path) -> None:
    ends = []
    for kernels in (path_of(shared_folder, "adamw"), None):
        net, closure = problem()
        unused = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))
        optimizer = WithMemory("adamw", [*net[0].parameters(), unused], lr=1e-3, strength=-1, kernels=kernels)
        optimizer.step(closure)
        optimizer.add_param_group({"params": list(net[2].parameters())})
        optimizer.step(closure)
        assert bool((unused == 1).all())
        ends.append(torch.cat([p.detach().view(-1) for p in net.parameters()]))
    torch.testing.assert_close(*ends, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("made", [Memoryless, WithMemory])
def test_a_closure_that_draws_a_batch_is_refused(shared_folder: Path, called: list[str], made: Any) -> None:
    net, _ = problem()
    more = {"strength": -1} if made is WithMemory else {}
    path = path_of(shared_folder, "adamw")
    optimizer = made("adamw", net.parameters(), hvp="central-difference", kernels=path, **more)
    start, batches = copy.deepcopy(net.state_dict()), iter(range(1, 9))
    with pytest.raises(RuntimeError, match="at the same point"):
        optimizer.step(
            lambda: net(torch.full((2, 5), float(next(batches)), dtype=torch.float64)).square().sum()
        )
    assert "update" not in called
    for name, value in net.state_dict().items():
        assert torch.equal(value, start[name])


@pytest.mark.parametrize("made", [Memoryless, WithMemory])
def test_it_is_copied_and_kept(shared_folder: Path, called: list[str], made: Any) -> None:
    path = path_of(shared_folder, "adamw")
    net, closure = problem()
    optimizer = made("adamw", net.parameters(), kernels=path)
    optimizer.step(closure)
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        assert other.kernels == path
        called.clear()
        place = [p.detach().clone() for p in other.param_groups[0]["params"]]
        other.step(lambda other=other: sum(p.square().sum() for p in other.param_groups[0]["params"]))
        assert called
        assert all(torch.any(p != q) for p, q in zip(other.param_groups[0]["params"], place, strict=True))


@pytest.mark.parametrize("made", [Memoryless, WithMemory])
def test_the_wrong_kernels_are_refused(shared_folder: Path, tmp_path: Path, made: Any) -> None:
    net, _ = problem()
    path = path_of(shared_folder, "rmsprop")
    with pytest.raises(ValueError, match="kernels of rmsprop, not of adamw"):
        made("adamw", net.parameters(), kernels=path)
    with pytest.raises(ValueError, match="no module of symmem build"):
        made("adamw", net.parameters(), kernels=str(Path(path).with_name("_kernels_checked.py")))
    (tmp_path / "broken.py").write_text("x = (")
    for name in ("nothing.py", "broken.py"):
        with pytest.raises(ValueError, match=f"{name}' was not loaded"):
            made("adamw", net.parameters(), kernels=str(tmp_path / name))
    for place in (tmp_path, tmp_path / "symmem_adamw.h"):
        with pytest.raises(ValueError, match="not a Python module"):
            made("adamw", net.parameters(), kernels=str(place))
    with pytest.raises(ValueError, match="keeps past values"):
        WithMemory("delayed-gd", net.parameters(), kernels=str(tmp_path / "nothing.py"))


@pytest.mark.parametrize("made", [Memoryless, WithMemory])
def test_kernels_are_those_of_the_declared_formulas(
    shared_folder: Path, called: list[str], made: Any
) -> None:
    """What was declared counts, and not what it is called: titles and defaults change no number that is given."""
    path, declared = path_of(shared_folder, "adamw"), load("adamw")
    beta, *others = declared.parameters
    same = replace(declared, title="Mine", parameters=(replace(beta, default=Rational(1, 2)), *others))
    assert_same(trained(made, same, kernels=path), trained(made, same), 1e-12)
    assert called
    for other in (
        replace(declared, phi=declared.phi * 2),
        replace(declared, momentum=(replace(declared.momentum[0], b="1 - beta1"), *declared.momentum[1:])),
    ):
        with pytest.raises(ValueError, match="another declaration of adamw"):
            trained(made, other, kernels=path)


def test_a_library_of_other_formulas_is_refused(tmp_path: Path) -> None:
    declared = load("heavyball")
    with few_passes():
        for folder, each in (("one", declared), ("two", replace(declared, phi=declared.phi * 2))):
            build([symmem.derive(each)], str(tmp_path / folder))
    two = tmp_path / "two"
    (two / "python/symmem_heavyball.py").write_text((tmp_path / "one/python/symmem_heavyball.py").read_text())
    with pytest.raises(ValueError, match="of another declaration"):
        Memoryless(declared, problem()[0].parameters(), kernels=str(two / "python/symmem_heavyball.py"))


def test_a_copied_runtime_refuses_a_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels apply a declared schedule, and the class takes the rate of the group."""
    scheduled = replace(load("heavyball"), schedule="1/(n + 1)")
    with few_passes():
        build([symmem.derive(scheduled)], str(tmp_path / "scheduled"))
    write_with_runtime(symmem.derive(scheduled), str(tmp_path / "copied.py"))
    monkeypatch.syspath_prepend(tmp_path)
    copied = importlib.import_module("copied")
    with pytest.raises(ValueError, match="or of one with a schedule"):
        copied.MemorylessHeavyBall(
            problem()[0].parameters(), kernels=str(tmp_path / "scheduled/python/symmem_heavyball.py")
        )
