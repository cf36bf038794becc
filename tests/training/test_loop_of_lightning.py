"""Lightning's automatic optimization: its closure calls backward, and the products come from central differences."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from symmem.training import WithMemory

pytestmark = pytest.mark.slow
STEPS, BATCH = 4, 6
X = torch.randn(STEPS * BATCH, 4, generator=torch.Generator().manual_seed(0))


def layers() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))


def optimizer_of(net: nn.Module) -> WithMemory:
    options = {"lr": 0.01, "eps": 1e-3, "strength": -1, "hvp": "central-difference"}
    return WithMemory("adamw", net.parameters(), **options)


def loss_of(net: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return (net(x) - x.sum(1, keepdim=True)).square().mean()


def flat(net: nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in net.parameters()])


def test_automatic_optimization(tmp_path: Path) -> None:
    """As a loop by hand, whose closure does not call backward."""
    import lightning  # noqa: PLC0415  # seconds of import

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = layers()

        def training_step(self, batch: torch.Tensor) -> torch.Tensor:
            return loss_of(self.net, batch)

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return optimizer_of(self.net)

    module = Module()
    trainer = lightning.Trainer(
        max_steps=STEPS,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
    )
    trainer.fit(module, torch.utils.data.DataLoader(X, batch_size=BATCH))

    by_hand = layers()
    optimizer = optimizer_of(by_hand)
    for batch in X.split(BATCH):
        optimizer.step(lambda batch=batch: loss_of(by_hand, batch))
    assert not torch.equal(flat(by_hand), flat(layers()))
    torch.testing.assert_close(flat(module), flat(by_hand), rtol=1e-5, atol=1e-6)
