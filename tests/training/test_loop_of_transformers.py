"""The Trainer of transformers, which steps without a closure: the watched model's last pass is evaluated again."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from symmem.training import WithMemory

pytestmark = pytest.mark.slow
STEPS, BATCH = 3, 4


def model() -> torch.nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel  # noqa: PLC0415  # seconds of import

    torch.manual_seed(0)
    size = {"vocab_size": 11, "n_positions": 8, "n_embd": 8, "n_layer": 1, "n_head": 2}
    return GPT2LMHeadModel(GPT2Config(**size, bos_token_id=0, eos_token_id=0, attn_implementation="eager"))


def rows() -> list[dict[str, torch.Tensor]]:
    tokens = torch.randint(11, (STEPS * BATCH, 8), generator=torch.Generator().manual_seed(1))
    return [{"input_ids": row, "labels": row} for row in tokens]


def optimizer_of(net: torch.nn.Module) -> WithMemory:
    return WithMemory("adamw", net.parameters(), lr=1e-3, strength=-1)


def flat(net: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in net.parameters()])


def test_the_trainer(tmp_path: Path) -> None:
    """As a loop by hand with a closure over the same batches; dropout is off, so that only the batches matter."""
    from transformers import Trainer, TrainingArguments  # noqa: PLC0415  # the same

    by_trainer = model().eval()
    by_trainer.train = lambda mode=True: by_trainer  # type: ignore[method-assign]  # no dropout
    optimizer = optimizer_of(by_trainer)
    optimizer.watch(by_trainer, loss=lambda output: output.loss)
    arguments = TrainingArguments(
        output_dir=str(tmp_path),
        max_steps=STEPS,
        per_device_train_batch_size=BATCH,
        max_grad_norm=0.0,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        dataloader_pin_memory=False,
    )
    constant = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)
    seen: list[dict[str, torch.Tensor]] = []
    by_trainer.register_forward_pre_hook(lambda _, __, named: seen.append(named), with_kwargs=True)
    Trainer(by_trainer, arguments, train_dataset=rows(), optimizers=(optimizer, constant)).train()
    assert len(seen) == 2 * STEPS  # the pass of the Trainer, and the same once more

    by_hand = model().eval()
    optimizer = optimizer_of(by_hand)
    for named in seen[::2]:
        optimizer.step(lambda named=named: by_hand(**named).loss)
    assert not torch.equal(flat(by_hand), flat(model()))
    torch.testing.assert_close(flat(by_trainer), flat(by_hand), rtol=1e-5, atol=1e-6)
