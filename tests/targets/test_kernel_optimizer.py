"""The PyTorch optimizer of the runtime with the path of built kernels: the same steps, by compiled code."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch
from compiled import KERNELS, built

from symmem.training import Memoryless
from symmem.training.runtime.kernels import operators_of

CLASSES = {"adamw": "MemorylessAdamW", "rmsprop": "MemorylessRMSprop", "nesterov": "MemorylessNesterov"}


def emitted(name: str) -> ModuleType:
    """Our optimizer by the name that an emitted module has for it, and the operators of kernels."""
    kind = partial(Memoryless, name)
    return SimpleNamespace(**{CLASSES[name]: kind}, _operators=lambda path: operators_of(path, name))


def path_of(shared: Path, name: str) -> str:
    return str(built(shared, KERNELS, "quick") / "python" / f"symmem_{name}.py")


def problem(dtype: torch.dtype) -> tuple[torch.nn.Module, Callable[[], torch.Tensor]]:
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3)).to(dtype)
    x, y = torch.randn(20, 5, dtype=dtype), torch.randn(20, 3, dtype=dtype)
    return net, lambda: (net(x) - y).square().mean()


def trained(module: ModuleType, name: str, dtype: torch.dtype, **more: object) -> torch.Tensor:
    net, closure = problem(dtype)
    optimizer = getattr(module, CLASSES[name])(net.parameters(), lr=1e-4, **more)
    for _ in range(6):
        optimizer.step(closure)
    return torch.cat([p.detach().view(-1) for p in net.parameters()])


@pytest.mark.parametrize(
    "change",
    [{}, {"limit": True}, {"maximize": True}, {"hvp": "central-difference"}, {"history": "expansion"}],
    ids=str,
)
@pytest.mark.parametrize("name", CLASSES)
def test_the_same_steps(shared_folder: Path, name: str, change: dict[str, object]) -> None:
    module, path = emitted(name), path_of(shared_folder, name)
    used = []
    operators = module._operators(path)
    operator = "step_" if change.get("history") == "expansion" else "straight"
    step = getattr(operators, operator)

    def counted(*arguments: object) -> object:
        used.append(len(arguments))
        return step(*arguments)

    setattr(operators, operator, counted)
    compiled = trained(module, name, torch.float64, kernels=path, **change)
    assert len(used) == 6 * 4  # six steps of four tensors
    plain = trained(module, name, torch.float64, **change)
    assert (compiled - plain).abs().max() < (1e-6 if "hvp" in change else 1e-11)


def test_float32_and_what_falls_back(shared_folder: Path) -> None:
    module, path = emitted("adamw"), path_of(shared_folder, "adamw")
    single = trained(module, "adamw", torch.float32, kernels=path)
    assert (single - trained(module, "adamw", torch.float32)).abs().max() < 1e-4
    half = trained(module, "adamw", torch.bfloat16, kernels=path)
    assert torch.equal(half, trained(module, "adamw", torch.bfloat16))
    net, closure = problem(torch.float64)
    other, second = problem(torch.float64)
    made = []
    for model, loss, more in ((net, closure, {"kernels": path}), (other, second, {})):
        groups = [
            {"params": list(model[0].parameters()), "lr": 1e-3},
            {"params": list(model[2].parameters())},
        ]
        optimizer = module.MemorylessAdamW(groups, lr=1e-2, **more)
        for _ in range(3):
            optimizer.step(loss)
        made.append(torch.cat([p.detach().view(-1) for p in model.parameters()]))
    assert torch.equal(*made)  # different rates: the formulas of the module


def test_it_is_copied_and_kept(shared_folder: Path) -> None:
    module, path = emitted("adamw"), path_of(shared_folder, "adamw")
    net, closure = problem(torch.float64)
    optimizer = module.MemorylessAdamW(net.parameters(), kernels=path)
    optimizer.step(closure)
    assert copy.deepcopy(optimizer).kernels == path
    assert pickle.loads(pickle.dumps(optimizer)).kernels == path


def test_the_wrong_kernels_are_refused(shared_folder: Path, tmp_path: Path) -> None:
    module = emitted("adamw")
    net, _ = problem(torch.float64)
    with pytest.raises(ValueError, match="kernels of rmsprop, not of adamw"):
        module.MemorylessAdamW(net.parameters(), kernels=path_of(shared_folder, "rmsprop"))
    with pytest.raises((ValueError, OSError)):
        module.MemorylessAdamW(net.parameters(), kernels=str(tmp_path / "nothing.py"))
