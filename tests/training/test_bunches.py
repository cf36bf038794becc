"""Small tensors joined for a step: the same numbers as each by itself, each in its own place."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from symmem.training import Memoryless, WithMemory
from symmem.training.runtime import bunches
from symmem.training.runtime.vectors import joined

SHAPES = [(2, 3), (4,), (), (1, 5)]


def tensors(seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in SHAPES]


def test_what_is_joined_is_separated_again_in_the_same_memory() -> None:
    given = tensors(0)
    whole = joined(given)
    found = bunches.separated(whole, given)
    assert all(torch.equal(x, y) for x, y in zip(found, given, strict=True))
    found[1].zero_()
    assert whole[6:10].eq(0).all()
    assert not whole[:6].eq(0).any()


def test_what_is_written_goes_to_its_own_place() -> None:
    kept, news = tensors(0), tensors(1)
    bunches.write(kept, joined(news))
    assert all(torch.equal(x, y) for x, y in zip(kept, news, strict=True))


@pytest.mark.parametrize("make", [Memoryless, lambda *given, **more: WithMemory(*given, strength=-1, **more)])
def test_a_step_of_joined_tensors_is_that_of_each(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for small in (bunches.SMALL, 0):
        monkeypatch.setattr(bunches, "SMALL", small)
        parameters = [torch.nn.Parameter(x) for x in tensors(2)]
        optimizer = make("adamw", parameters, lr=0.01, eps=1e-3)

        def loss(parameters: list[torch.nn.Parameter] = parameters) -> torch.Tensor:
            parts = [(k + 1.0) * p.sum().sin() + p.pow(4).sum() for k, p in enumerate(parameters)]
            return torch.stack(parts).sum().exp().log1p()

        for _ in range(3):
            optimizer.step(loss)
        found.append([p.detach() for p in parameters])
    for together, alone in zip(*found, strict=True):
        torch.testing.assert_close(together, alone, rtol=1e-13, atol=1e-13)
        assert together.shape == alone.shape


def test_states_of_a_bunch_lie_in_one_memory_and_may_be_replaced() -> None:
    """Replaced, moved, copied or loaded states: the same run as with every tensor by itself."""
    found = []
    for small in (bunches.SMALL, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bunches, "SMALL", small)
            parameters = [torch.nn.Parameter(x) for x in [*tensors(3), torch.zeros(0, dtype=torch.float64)]]
            optimizer = WithMemory("adamw", parameters, lr=0.01, eps=1e-3)

            def loss(parameters: list[torch.nn.Parameter] = parameters) -> torch.Tensor:
                return torch.stack([(p - 1).pow(4).sum() for p in parameters]).sum()

            for change in (_nothing, _replaced, _moved, _swapped, _loaded, _nothing):
                optimizer.step(loss)
                optimizer.step(loss)
                if small:
                    strips = {id(optimizer.state[p]["exp_avg"]._base) for p in parameters if p.numel()}
                    assert len(strips) == 1
                change(optimizer, parameters)
            found.append([x for p in parameters for x in (p.detach(), *optimizer.state[p].values())])
    for together, alone in zip(*found, strict=True):
        torch.testing.assert_close(together, alone, rtol=1e-13, atol=1e-13)


def _nothing(optimizer: WithMemory, parameters: list[torch.nn.Parameter]) -> None:
    pass


def _replaced(optimizer: WithMemory, parameters: list[torch.nn.Parameter]) -> None:
    optimizer.state[parameters[1]]["exp_avg"] = torch.full_like(parameters[1], 0.25)


def _moved(optimizer: WithMemory, parameters: list[torch.nn.Parameter]) -> None:
    entry = optimizer.state[parameters[0]]
    entry["exp_avg_sq"].data = entry["exp_avg_sq"].data.clone().mul_(2)


def _swapped(optimizer: WithMemory, parameters: list[torch.nn.Parameter]) -> None:
    """Two states of the same size change places."""
    first, last = (optimizer.state[parameters[k]] for k in (1, 3))
    first["exp_avg"], last["exp_avg"] = last["exp_avg"][0, :4], torch.zeros_like(parameters[3])


def _loaded(optimizer: WithMemory, _: list[torch.nn.Parameter]) -> None:
    optimizer.load_state_dict(optimizer.state_dict())
