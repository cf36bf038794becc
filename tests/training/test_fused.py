"""``kernels="triton"``: the same training by Triton's kernels, on a stand-in and in Triton's own interpreter."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
import torch
from triton_probe import MACHINES, found_triton

from symmem.errors import SymmemError
from symmem.training import Memoryless, WithMemory, loading, on_triton
from symmem.training.runtime.fused import Fused

WAYS = [
    (Memoryless, {}),
    (Memoryless, {"history": "expansion", "hvp": "central-difference"}),
    (Memoryless, {"limit": True, "maximize": True}),
    (Memoryless, {"max_norm": 0.1}),
    (WithMemory, {"strength": 0}),
    (WithMemory, {"strength": -1, "every": 2}),
    (WithMemory, {"strength": -0.5, "history": "expansion", "max_norm": 0.1}),
]
IS_INTERPRETED = on_triton._is_interpreted
LAUNCHES = (12, 12, 12, 12, 6, 9, 12)
"""In six steps: a step and its directions; in a step without correction no directions."""


@pytest.fixture(params=MACHINES, scope="module")
def machine(request: pytest.FixtureRequest) -> Iterator[str]:
    """The kernels are loaded on one of them, with its interpreter on."""

    def loaded(name: str, text: str) -> ModuleType:
        with found_triton(request.param):
            return loading.loaded(name, text)

    on_triton._kernels.cache_clear()
    with pytest.MonkeyPatch.context() as changes:
        changes.setenv("TRITON_INTERPRET", "1")
        changes.setattr(on_triton, "loaded", loaded)
        changes.setattr(on_triton, "_is_interpreted", lambda: True)
        yield request.param
    on_triton._kernels.cache_clear()


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions of the kernels that were called."""
    names, call = [], Fused.call

    def noted(self: Fused, name: str, *given: Any) -> Any:
        names.append(name)
        return call(self, name, *given)

    monkeypatch.setattr(Fused, "call", noted)
    return names


def problem(kind: torch.dtype = torch.float64) -> tuple[torch.nn.Module, Callable[[], torch.Tensor]]:
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3)).to(kind)
    x, y = torch.randn(20, 5, dtype=kind), torch.randn(20, 3, dtype=kind)
    return net, lambda: (net(x) - y).square().mean()


def trained(made: Any, name: str, kind: torch.dtype = torch.float64, **more: Any) -> tuple[Any, Any]:
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


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(("way", "count"), [*zip(WAYS, LAUNCHES, strict=True)], ids=str)
@pytest.mark.parametrize("name", ["adamw", "rmsprop"])
def test_the_same_training(called: list[str], name: str, way: Any, count: int) -> None:
    made, more = way
    found = trained(made, name, kernels="triton", **more)
    assert len(called) == count
    assert_same(found, trained(made, name, **more), 1e-6 if "hvp" in more else 1e-13)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(("kind", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
def test_other_types(called: list[str], kind: torch.dtype, tolerance: float) -> None:
    found = trained(WithMemory, "adamw", kind, kernels="triton", strength=-1)
    assert called
    assert_same(found, trained(WithMemory, "adamw", kind, strength=-1), tolerance)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    "more", [{"target": {"beta2": 0.95}}, {"strength": -1, "limit": True}, {"strength": -1, "groups": True}]
)
def test_what_the_formulas_do_instead(called: list[str], more: dict[str, Any]) -> None:
    more, made = dict(more), []
    apart = more.pop("groups", False)
    for kernels in ("triton", None):
        net, closure = problem()
        groups = [{"params": [p], "lr": 1e-3 * (1 + apart * k)} for k, p in enumerate(net.parameters())]
        optimizer = WithMemory("adamw", groups, kernels=kernels, **more)
        for _ in range(3):
            optimizer.step(closure)
        made.append(torch.cat([p.detach().view(-1) for p in net.parameters()]))
    assert not called
    assert torch.equal(*made)


@pytest.mark.usefixtures("machine")
def test_groups_that_differ_share_no_launch_without_correction(called: list[str]) -> None:
    net, closure = problem()
    other, second = problem()
    for model, loss, kernels in ((net, closure, "triton"), (other, second, None)):
        groups = [{"params": model[0].parameters(), "lr": 1e-2}, {"params": model[2].parameters()}]
        optimizer = WithMemory("adamw", groups, lr=1e-3, kernels=kernels)
        for _ in range(3):
            optimizer.step(loss)
    assert called == ["update"] * 6
    for mine, plain in zip(net.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine, plain, rtol=1e-13, atol=1e-13)


@pytest.mark.usefixtures("machine")
def test_a_parameter_without_a_gradient_stays() -> None:
    net, closure = problem()
    idle = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))
    for made, more in ((Memoryless, {}), (WithMemory, {"strength": -1})):
        optimizer = made("adamw", [*net.parameters(), idle], kernels="triton", **more)
        optimizer.step(closure)
        assert torch.equal(idle, torch.ones(3, dtype=torch.float64))
        assert idle not in optimizer.state


@pytest.mark.usefixtures("machine")
def test_it_goes_on_from_the_state_of_the_other(called: list[str]) -> None:
    """A run that changes between kernels and formulas is the same run; so is a copied one."""
    net, closure = problem()
    other, second = problem()
    first = WithMemory("adamw", net.parameters(), strength=-1, kernels="triton")
    plain = WithMemory("adamw", other.parameters(), strength=-1)
    for _ in range(2):
        first.step(closure)
        plain.step(second)
    fresh = WithMemory("adamw", net.parameters(), strength=-1, kernels="triton")
    fresh.load_state_dict(copy.deepcopy(plain.state_dict()))
    assert pickle.loads(pickle.dumps(fresh)).on_triton
    assert copy.deepcopy(fresh).on_triton
    count = len(called)
    fresh.step(closure)
    plain.step(second)
    assert len(called) == count + 2
    for mine, exact in zip(net.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine, exact, rtol=1e-13, atol=1e-13)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("made", "name", "more", "words"),
    [
        (Memoryless, "heavyball", {"order": 2}, "HeavyBall has no kernels at this order"),
        (Memoryless, "adamw-linear", {}, "apply its declared schedule"),
        (Memoryless, "lamb", {}, "entrywise functions alone"),
        (WithMemory, "delayed-gd", {}, "keeps past values"),
    ],
)
def test_what_has_no_kernels(made: Any, name: str, more: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, SymmemError), match=words):
        made(name, [torch.nn.Parameter(torch.ones(2))], **{"kernels": "triton", **more})


@pytest.mark.usefixtures("machine")
def test_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    net, _ = problem()
    monkeypatch.setattr(on_triton, "_is_interpreted", lambda: False)
    with pytest.raises(
        ValueError, match="on cpu, and Triton runs on cuda, or on a CPU with TRITON_INTERPRET=1"
    ):
        WithMemory("adamw", net.parameters(), kernels="triton")


def test_without_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_triton, "_is_interpreted", IS_INTERPRETED)
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(ValueError, match=r"Triton is not here: .*pip install 'symmem"):
        Memoryless("adamw", problem()[0].parameters(), kernels="triton")
