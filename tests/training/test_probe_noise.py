"""``probe`` with several batches: what their noise adds to the mean update of a running optimizer."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

import symmem
from symmem.targets.torch.with_runtime import write_with_runtime
from symmem.training import WithMemory, probe

BATCHES = 4
DATA = torch.linspace(-1, 1, 12 * BATCHES, dtype=torch.float64).reshape(-1, 3)
AIMS = torch.sin(5 * DATA.sum(dim=1)) + 0.3


def problem() -> tuple[torch.nn.Linear, Callable[[], Tensor], list[Callable[[], Tensor]]]:
    torch.manual_seed(1)
    model = torch.nn.Linear(3, 1).double()

    def loss(rows: slice = slice(None)) -> Tensor:
        return ((torch.tanh(model(DATA[rows])[:, 0]) - AIMS[rows]) ** 2).mean()

    size = len(DATA) // BATCHES
    return model, loss, [lambda k=k: loss(slice(k * size, (k + 1) * size)) for k in range(BATCHES)]


def rows_of(model: torch.nn.Linear, batches: list[Callable[[], Tensor]]) -> Tensor:
    found = []
    for batch in batches:
        gradient = torch.autograd.grad(batch(), list(model.parameters()), create_graph=True)
        found.append(torch.cat([each.reshape(-1) for each in gradient]))
    return torch.stack(found)


@pytest.mark.parametrize("epoch", [None, BATCHES, 9])
def test_heavy_ball_feels_the_gradient_of_the_variance(epoch: int | None) -> None:
    """``lr M_xi = lr^2 (C_eq + rho C_neq) grad sum_i V_i / 2``: the sums over the past added up, V differentiated."""
    model, loss, batches = problem()
    optimizer, beta, lr = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.6), 0.6, 0.1
    found = probe(model, optimizer, loss, batches=batches, epoch=epoch, iterations=0)
    rows = rows_of(model, batches)
    variance = ((rows - rows.mean(dim=0)) ** 2).mean(dim=0).sum()
    slope = torch.cat([each.reshape(-1) for each in torch.autograd.grad(variance, list(model.parameters()))])
    reach = range(1, 200)
    equal = sum(beta**k * sum(beta ** (k - i) for i in range(1, k + 1)) for k in reach)
    every = sum(beta**k * k for k in reach) / (1 - beta)
    rho = 0.0 if epoch is None else -1 / (epoch - 1)
    # Four batches of nine, or of very many, show 3/4 of the variance, but for what is left out of the population.
    more = BATCHES / (BATCHES - 1) * (1 if epoch is None else (epoch - 1) / epoch)
    expected = more * lr**2 / 2 * abs(equal + rho * (every - equal)) * float(slope.norm())
    assert found["noise_correction_norm"] == pytest.approx(expected, rel=1e-10)
    assert found["noise_norm"] == 0
    assert "through memory" in str(found)
    assert "second order" not in str(found)


def test_adam_in_the_mean() -> None:
    """``F_xi = V/2 (d_2 Phi 2 + Phi_11 K_11 + 4 g Phi_12 K_12 + 4 g^2 Phi_22 K_22)``, Phi = m1/(sqrt(m2) + eps)."""
    model, loss, batches = problem()
    b1, b2, eps, lr = 0.5, 0.7, 0.3, 1e-2
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, betas=(b1, b2), eps=eps)
    found = probe(model, optimizer, loss, batches=batches, iterations=0)
    rows = rows_of(model, batches).detach()
    g, variance = rows.mean(dim=0), rows.var(dim=0, unbiased=True)
    q = g.abs() + eps
    once, twice = -1 / (2 * g.abs() * q**2), 1 / (4 * g.abs() ** 3 * q**2) + 1 / (2 * g**2 * q**3)
    pairs = [(1 - b1) * (1 - b2) / (1 - b1 * b2), (1 - b2) / (1 + b2)]
    expected = variance / 2 * (2 * g * once + 4 * g * once * pairs[0] + 4 * g**3 * twice * pairs[1])
    assert found["noise_norm"] == pytest.approx(lr * float(expected.norm()), rel=1e-10)
    share = float((variance > g**2).double().mean())
    assert found["share_noisy"] == share
    assert ("second order" in str(found)) == (share > 0)


def test_a_training_is_left_as_it_was_and_goes_by_its_name() -> None:
    model, loss, batches = problem()
    optimizer = WithMemory("signum", model.parameters(), lr=1e-2, strength=-1, eps=0.1)
    before = [p.detach().clone() for p in model.parameters()]
    found = probe(model, optimizer, loss, batches=batches)
    assert found["noise_correction_norm"] > 0
    assert all(
        torch.equal(p, old) and p.grad is None for p, old in zip(model.parameters(), before, strict=True)
    )


def test_why_there_is_none() -> None:
    model, loss, batches = problem()
    weight, bias = model.parameters()
    groups = [{"params": [weight]}, {"params": [bias], "lr": 0.2}]
    several = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
    one = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    joined = WithMemory("lamb", model.parameters(), lr=0.1, limit=True)
    for optimizer, given, epoch, words in [
        (several, batches, None, "not alike"),
        (one, batches[:1], None, "two batches"),
        (one, batches, 3, "an epoch of 3"),
        (joined, batches, None, "joins entries"),
    ]:
        found = probe(model, optimizer, loss, batches=given, epoch=epoch, iterations=0)
        assert words in found.missing["noise"]
        assert "noise_norm" not in found
        assert words in str(found)


def test_the_copied_runtime_has_the_noise_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``emit --target torch --runtime --minibatch``: the numbers of the installed probe."""
    write_with_runtime(symmem.derive("heavyball"), str(tmp_path / "copied_noise.py"), minibatch=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    copied = importlib.import_module("copied_noise")
    model, loss, batches = problem()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    given = {"batches": batches, "epoch": len(batches), "iterations": 0}
    found, known = copied.probe(model, optimizer, loss, **given), probe(model, optimizer, loss, **given)
    names = [name for name in known if "noi" in name]
    assert len(names) >= 5
    assert {name: found[name] for name in names} == {name: known[name] for name in names}
    assert "noise" in str(found)
    assert "noise" in copied.probe(model, optimizer, loss, batches=batches[:1], iterations=0).missing
