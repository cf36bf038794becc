"""The numbers of the edge of stability, and the modified loss along a trajectory, on small problems."""

from __future__ import annotations

import math
import pickle

import pytest
import torch
from torch import Tensor, nn

from symmem.training import WithMemory, probe
from symmem.training.runtime.processes import OneProcess
from symmem.training.runtime.sharpness import largest_eigenvalue

torch.set_num_threads(1)
torch.manual_seed(1)
ROOT = torch.randn(7, 7, dtype=torch.float64)
HESSIAN = ROOT @ ROOT.T + torch.diag(torch.tensor([-3.0, 0, 0, 0, 0, 0, 40.0], dtype=torch.float64))


def problem() -> tuple[nn.ParameterList, object]:
    """A quadratic of two tensors."""
    start = torch.linspace(-1, 1, 7, dtype=torch.float64)
    tensors = nn.ParameterList([nn.Parameter(start[:3].clone()), nn.Parameter(start[3:].clone())])
    return tensors, lambda: 0.5 * torch.cat(list(tensors)) @ HESSIAN @ torch.cat(list(tensors))


def stepped(optimizer: torch.optim.Optimizer, loss: object, times: int) -> None:
    for _ in range(times):
        optimizer.zero_grad()
        loss().backward()  # type: ignore[operator]
        optimizer.step()


def preconditioned(scale: Tensor, shift: float = 0.0) -> float:
    root = scale.sqrt()
    matrix = root[:, None] * (HESSIAN + shift * torch.eye(7, dtype=torch.float64)) * root
    return float(torch.linalg.eigvalsh(matrix)[-1])


@pytest.mark.parametrize("name", ["adamw-torch", "adam-torch", "adam-l2"])
def test_adam_and_its_decays(name: str) -> None:
    """D from PyTorch's state after one more step; beta1 = 0.8 and lr 0.01: (2 - lr decay) 1.8/0.2/lr."""
    decay = 0.0 if name == "adam-torch" else 0.2
    kind = torch.optim.AdamW if name == "adamw-torch" else torch.optim.Adam
    tensors, loss = problem()
    optimizer = kind(tensors.parameters(), lr=0.01, betas=(0.8, 0.95), weight_decay=decay)
    stepped(optimizer, loss, 4)
    found = probe(tensors, optimizer, loss)  # type: ignore[arg-type]
    stepped(optimizer, loss, 1)
    moments = torch.cat([optimizer.state[p]["exp_avg_sq"] for p in tensors])
    scale = 1 / ((moments / (1 - 0.95**5)).sqrt() + 1e-8)
    coupled = decay if name == "adam-l2" else 0.0
    assert found["preconditioned_sharpness"] == pytest.approx(preconditioned(scale, coupled), rel=1e-6)
    bound = (2 - 0.01 * (decay - coupled)) * 9 / 0.01
    assert found["sharpness_threshold"] == pytest.approx(bound, rel=1e-10)
    assert f"{found['sharpness_threshold']:.4g}" in found.text


def test_rates_that_differ_stand_in_the_preconditioner() -> None:
    tensors, loss = problem()
    groups = [{"params": [tensors[0]], "lr": 0.002}, {"params": [tensors[1]]}]
    optimizer = torch.optim.SGD(groups, lr=0.004, momentum=0.9)
    stepped(optimizer, loss, 2)
    found = probe(tensors, optimizer, loss)  # type: ignore[arg-type]
    scale = torch.tensor([5.0] * 3 + [10.0] * 4, dtype=torch.float64)
    assert found["preconditioned_sharpness"] == pytest.approx(preconditioned(scale), rel=1e-6)
    assert found["sharpness_threshold"] == pytest.approx(38 / 0.004, rel=1e-10)
    assert "modified_loss" not in found
    assert found.missing["modified_loss"] == "the groups are not alike"


def test_where_there_is_no_threshold_the_reason_is_said() -> None:
    tensors, loss = problem()
    optimizer = WithMemory("lion", tensors.parameters(), lr=0.01)
    for _ in range(3):
        optimizer.step(loss)  # type: ignore[arg-type]
    found = probe(tensors, optimizer, loss)  # type: ignore[arg-type]
    assert "sharpness_threshold" not in found
    assert found.missing["sharpness_threshold"] in found.text
    assert pickle.loads(pickle.dumps(found)) == dict(found)


def test_the_largest_eigenvalue_and_not_the_largest_in_size() -> None:
    for values in ([-5.0, 1.0, 2.0], [-9.0, -4.0, -1.0], [3.0, 3.0, 3.0]):
        scale = torch.tensor(values, dtype=torch.float64)
        found = largest_eigenvalue(lambda v, by=scale: [by * v[0]], [scale], OneProcess(), 20)  # type: ignore[misc]
        assert found == pytest.approx(max(values), rel=1e-9)


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_the_modified_loss_along_a_trajectory(decay: float) -> None:
    """``S_n = (1 - beta) L + B S - h beta K*``, typed for heavy ball: its gradient is the mean momentum in the end."""
    tensors, loss = problem()
    name, extra = ("sgdw", {"weight_decay": decay}) if decay else ("heavyball", {})
    optimizer = WithMemory(name, tensors.parameters(), lr=1e-3, **extra)
    found, truth, beta = None, math.nan, 0.9
    for step in range(6):
        momentum = [optimizer.state[p].get("momentum_buffer", optimizer.state[p].get("m1")) for p in tensors]
        found = probe(tensors, optimizer, loss, previous=found, iterations=0)  # type: ignore[arg-type]
        value = float(loss().detach())  # type: ignore[operator]
        if step == 0:
            truth = value
        else:
            mean = torch.cat(momentum) * (1 - beta)  # m of the mean gradient; K = |m|^2/(2 (1 - beta))
            dual = float(mean @ mean) / (2 * (1 - beta))
            truth = (1 - beta) * value + beta * (1 - 1e-3 * decay) * truth - 1e-3 * beta * dual
        assert found["modified_loss"] == pytest.approx(truth, rel=1e-12)
        optimizer.step(loss)  # type: ignore[arg-type]
    optimizer.step(loss)  # type: ignore[arg-type]
    again = probe(tensors, optimizer, loss, previous=found, iterations=0)  # type: ignore[arg-type]
    assert again["modified_loss"] == again["loss"]  # two steps later it starts anew
