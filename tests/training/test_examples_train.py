"""The optimizers as docs/code.md shows them, at PyTorch's default eps, on mini-batches of the digits: each trains."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path

import pytest
import torch
from compiled import built
from sklearn.datasets import load_digits
from torch import nn

from symmem.errors import DerivationError
from symmem.training import Memoryless, WithMemory, probe

DOCUMENT = Path(__file__).parents[2] / "docs" / "code.md"
SHOWN = re.findall(
    r">>> optimizer = ((?:Memoryless|WithMemory)\(.*\))$", DOCUMENT.read_text(encoding="utf-8"), re.M
)
STEPS, BATCH = 120, 64
torch.set_num_threads(1)  # the network is small, and pytest has the other cores


def made(shown: str, model: nn.Module, shared: Path) -> torch.optim.Optimizer:
    """The call as it is shown, with the parameters of this model, and kernels that are built for it."""
    call = ast.parse(shown, mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    kind = {"Memoryless": Memoryless, "WithMemory": WithMemory}[call.func.id]
    settings = {each.arg: each.value for each in call.keywords if each.arg}
    path = (
        built(shared, ("adamw",), "quick") / "python" / "symmem_adamw.py" if "kernels" in settings else None
    )
    settings = {
        name: str(path) if name == "kernels" else ast.literal_eval(value) for name, value in settings.items()
    }
    return kind(ast.literal_eval(call.args[0]), model.parameters(), **settings)


def test_the_document_shows_four() -> None:
    assert len(SHOWN) == 4
    assert sum("kernels" in each for each in SHOWN) == 1


@pytest.mark.parametrize("shown", SHOWN)
def test_an_example_trains(shown: str, shared_folder: Path) -> None:
    """The loss of all digits falls below three quarters of what it was, and is never above its start by a tenth."""
    data = load_digits()
    images, labels = torch.tensor(data.data / 16.0, dtype=torch.float32), torch.tensor(data.target)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 32), nn.GELU(), nn.Linear(32, 10))
    optimizer, order = made(shown, model, shared_folder), torch.Generator().manual_seed(0)
    losses = [float(nn.functional.cross_entropy(model(images), labels).detach())]
    for step in range(STEPS):
        chosen = torch.randint(len(labels), (BATCH,), generator=order)
        optimizer.step(lambda at=chosen: nn.functional.cross_entropy(model(images[at]), labels[at]))  # type: ignore[misc]
        if step % 10 == 9:
            losses.append(float(nn.functional.cross_entropy(model(images), labels).detach()))
    assert losses[-1] < 0.75 * losses[0]
    assert max(losses) < 1.1 * losses[0]


def test_a_number_of_the_whole_model_is_refused_with_its_reason() -> None:
    model = nn.Linear(3, 2)
    with pytest.raises(DerivationError, match="whole model"):
        WithMemory("global-clip", model.parameters())
    with pytest.raises(DerivationError, match="whole model"):
        probe(model, torch.optim.SGD(model.parameters()), model.weight.sum, name="global-clip")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Memoryless("global-clip", model.parameters())
