"""The runtime PyTorch optimizers in training: clipping, accumulation, mixed precision, checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import pytest
import torch
from group_truth import runtime
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_
from torch.utils.checkpoint import checkpoint

from symmem.training import Memoryless

MAX_NORM = 0.1
BFLOAT16 = 2.0**-8


def network(dtype: torch.dtype = torch.float64) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)).to(dtype)


def data(dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(12, 5, generator=generator, dtype=torch.float64).to(dtype), torch.arange(12) % 3


def loss_of(model: nn.Module) -> torch.Tensor:
    x, y = data(next(model.parameters()).dtype)
    return cross_entropy(model(x), y)


def flat(model: nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()])


def adamw(model: nn.Module, **options: object) -> torch.optim.Optimizer:
    return runtime("adamw").MemorylessAdamW(model.parameters(), lr=0.02, eps=1e-3, **options)


def after(
    closure: Callable[[nn.Module], torch.Tensor], dtype: torch.dtype = torch.float64, **options: object
):
    """The parameters after a few steps with a closure."""
    model = network(dtype)
    optimizer = adamw(model, **options)
    for _ in range(4):
        optimizer.step(lambda: closure(model))
    return flat(model)


@pytest.mark.parametrize(
    ("name", "true"),
    [
        ("heavyball", lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.8)),
        (
            "adamw-torch",
            lambda p, lr: torch.optim.AdamW(p, lr=lr, betas=(0.7, 0.85), eps=0.02, weight_decay=0.3),
        ),
    ],
)
def test_clipping_beside_the_true_optimizer(name: str, true: Callable[..., torch.optim.Optimizer]) -> None:
    """The true optimizer after clip_grad_norm_, over a fixed time: the distance is O(h^2)."""
    settings = (
        {"momentum": 0.8} if name == "heavyball" else {"betas": (0.7, 0.85), "eps": 0.02, "weight_decay": 0.3}
    )
    kind = next(made for key, made in vars(runtime(name)).items() if key.startswith("Memoryless"))
    distances = []
    for rate in (1 / 400, 1 / 800):
        original, twin = network(), network()
        one = true(original.parameters(), rate)
        other = kind(twin.parameters(), lr=rate, max_norm=MAX_NORM, **settings)
        for _ in range(round(0.4 / rate)):
            one.zero_grad()
            loss_of(original).backward()
            assert float(clip_grad_norm_(original.parameters(), MAX_NORM)) > MAX_NORM
            one.step()
            other.step(lambda twin=twin: loss_of(twin))
        distances.append(float((flat(original) - flat(twin)).norm()))
    assert log2(distances[0] / distances[1]) == pytest.approx(2, abs=0.15)


def test_a_bound_that_is_not_reached() -> None:
    assert torch.equal(after(loss_of, max_norm=100.0), after(loss_of))
    with pytest.raises(ValueError, match="max_norm = 0"):
        adamw(network(), max_norm=0)


def test_accumulation() -> None:
    """The closure adds up the losses of small batches, of different sizes."""

    def in_pieces(model: nn.Module) -> torch.Tensor:
        x, y = data()
        pieces = zip(x.split([2, 7, 3]), y.split([2, 7, 3]), strict=True)
        return sum(cross_entropy(model(inputs), labels, reduction="sum") for inputs, labels in pieces) / len(
            y
        )

    assert torch.allclose(after(in_pieces), after(loss_of), rtol=0, atol=1e-14)


def autocast(model: nn.Module) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return loss_of(model)


@pytest.mark.parametrize("where", ["in the closure", "around the step"])
@pytest.mark.parametrize(
    ("method", "units"), [("double-backward", 2), ("forward-over-reverse", 2), ("central-difference", 8)]
)
def test_autocast(method: str, units: int, where: str) -> None:
    """Within the rounding of bfloat16 of the same in float32, and far from the update without memory.

    A difference of gradients has fewer digits than they have.
    """
    start, truth = flat(network(torch.float32)), after(loss_of, torch.float32)
    plain = after(loss_of, torch.float32, hvp=lambda _, directions: [0 * v for v in directions])
    if where == "in the closure":
        found = after(autocast, torch.float32, hvp=method)
    else:
        with torch.autocast("cpu", torch.bfloat16):
            found = after(loss_of, torch.float32, hvp=method)
    assert found.dtype == torch.float32
    error, memory, way = ((x - truth).norm() for x in (found, plain, start))
    assert error < units * BFLOAT16 * way
    assert memory > 20 * BFLOAT16 * way


def test_gradscaler() -> None:
    """It asks for gradients that step(closure) does not leave; both ways to call it say so."""
    model = network(torch.float32)
    optimizer, scaler = adamw(model), torch.amp.GradScaler("cpu")
    scaler.scale(loss_of(model))
    with pytest.raises(RuntimeError, match=r"GradScaler.*bfloat16 autocast inside the closure"):
        scaler.step(optimizer, lambda: loss_of(model))
    with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
        scaler.step(optimizer, closure=lambda: loss_of(model))
    off = torch.amp.GradScaler("cpu", enabled=False)
    assert float(off.step(optimizer, lambda: loss_of(model))) > 0


@pytest.mark.parametrize("method", ["double-backward", "central-difference"])
def test_checkpoints(method: str) -> None:
    """Inside a model, and the whole of it."""

    def inside(model: nn.Sequential) -> torch.Tensor:
        x, y = data()
        hidden = checkpoint(model[1], model[0](x), use_reentrant=False)
        return cross_entropy(checkpoint(model[2], hidden, use_reentrant=False), y)

    def around(model: nn.Sequential) -> torch.Tensor:
        x, y = data()
        return cross_entropy(checkpoint(model, x, use_reentrant=False), y)

    for closure in (inside, around):
        assert torch.allclose(after(closure, hvp=method), after(loss_of), rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["double-backward", "central-difference", "forward-over-reverse"])
def test_reentrant_checkpoints(method: str) -> None:
    """One clear error, in the first step and later, whether or not the checkpoint hides parameters."""

    def inside(model: nn.Sequential) -> torch.Tensor:
        x, y = data()
        return cross_entropy(model[2](checkpoint(model[1], model[0](x), use_reentrant=True)), y)

    def around(model: nn.Sequential) -> torch.Tensor:
        x, y = data()
        return cross_entropy(checkpoint(model, x.requires_grad_(), use_reentrant=True), y)

    for closure in (inside, around):
        model = network()
        optimizer = adamw(model, hvp=method)
        with pytest.raises(RuntimeError, match="use_reentrant=False"):
            optimizer.step(lambda model=model, closure=closure: closure(model))
        optimizer.step(lambda model=model: loss_of(model))
        with pytest.raises(RuntimeError, match="use_reentrant=False"):
            optimizer.step(lambda model=model, closure=closure: closure(model))


def _line(seed: int) -> tuple[torch.nn.Linear, Any]:
    torch.manual_seed(seed)
    model, inputs = torch.nn.Linear(3, 2).double(), torch.randn(8, 3, dtype=torch.float64)
    return model, lambda: model(inputs).square().mean()


def _run_torch(make: Any, steps: int) -> dict[str, Any]:
    model, loss = _line(0)
    optimizer = make(model.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    found: dict[str, Any] = optimizer.state_dict()
    return found


def test_memoryless_goes_on_from_the_state_of_pytorch() -> None:
    saved = _run_torch(lambda p: torch.optim.AdamW(p, lr=2e-3, betas=(0.8, 0.9)), 3)
    ends = []
    for load in (True, False):
        model, loss = _line(0)
        if load:
            optimizer = Memoryless("adamw-torch", model.parameters())
            optimizer.load_state_dict(saved)
            assert not optimizer.state
        else:
            optimizer = Memoryless("adamw-torch", model.parameters(), lr=2e-3, betas=(0.8, 0.9))
            optimizer.param_groups[0]["n"] = 3
        assert optimizer.param_groups[0]["n"] == 3
        optimizer.step(loss)
        ends.append(model.weight.detach())
    torch.testing.assert_close(*ends, rtol=0, atol=0)


def test_a_state_that_memoryless_cannot_go_on_from_is_refused_when_it_is_loaded() -> None:
    model, _ = _line(0)
    saved = _run_torch(torch.optim.AdamW, 2)
    saved["state"][0]["step"] = torch.tensor(5.0)
    with pytest.raises(ValueError, match="have made 2, 5 steps"):
        Memoryless("adamw-torch", model.parameters()).load_state_dict(saved)
    Memoryless("adamw-torch", model.parameters(), limit=True).load_state_dict(saved)
    plain = _run_torch(lambda p: torch.optim.SGD(p, momentum=0.9), 2)
    with pytest.raises(ValueError, match=r"momentum = 0\.9 is not that of AdamW-Torch"):
        Memoryless("adamw-torch", model.parameters()).load_state_dict(plain)
    with pytest.raises(ValueError, match="does not count its steps; use limit=True"):
        Memoryless("heavyball", model.parameters()).load_state_dict(plain)
    Memoryless("heavyball", model.parameters(), limit=True).load_state_dict(plain)
