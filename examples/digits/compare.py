"""AdamW beside its memoryless twin on the digits of scikit-learn: two loss curves, and how far the weights part.

    symmem emit adamw-torch --target torch -o memoryless_adamw.py
    python compare.py

Writes compare.png.  The data set is bundled with scikit-learn; nothing is downloaded.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from copy import deepcopy

import matplotlib as mpl
import torch
from memoryless_adamw import MemorylessAdamWTorch
from sklearn.datasets import load_digits
from torch import Tensor, nn

mpl.use("Agg")
from matplotlib import pyplot as plt

SETTINGS = {"lr": 5e-4, "betas": (0.9, 0.95), "eps": 1e-2, "weight_decay": 0.01}


def data() -> tuple[Tensor, Tensor]:
    digits = load_digits()
    return torch.tensor(digits.data[:500] / 16.0), torch.tensor(digits.target[:500])


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10)).double()


def flat(model: nn.Module) -> Tensor:
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()])


def train(
    model: nn.Module, optimizer: torch.optim.Optimizer, backward: bool, steps: int
) -> tuple[list[float], list[Tensor]]:
    """Losses and weights along a run on all the data at once: no noise of batches.

    ``backward``: torch's own optimizers want a closure that calls backward; the emitted one does that itself.
    """
    inputs, labels = data()

    def closure() -> Tensor:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        if backward:
            optimizer.zero_grad()
            loss.backward()
        return loss

    losses, weights = [], [flat(model)]
    for _ in range(steps):
        losses.append(float(optimizer.step(closure).detach()))
        weights.append(flat(model))
    return losses, weights


class WithoutCorrection(torch.optim.Optimizer):
    """AdamW with its averages replaced by the present gradient: the memoryless update alone."""

    def __init__(self, params: object, lr: float, betas: object, eps: float, weight_decay: float) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Tensor]) -> Tensor:
        with torch.enable_grad():
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(group["lr"] * (p.grad / (p.grad.abs() + group["eps"]) + group["weight_decay"] * p))
        return loss


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=600)
    steps = parser.parse_args().steps
    start = network()
    runs = {}
    for name, kind, backward in (
        ("AdamW", torch.optim.AdamW, True),
        ("memoryless, corrected", MemorylessAdamWTorch, False),
        ("memoryless, not corrected", WithoutCorrection, True),
    ):
        model = deepcopy(start)
        runs[name] = train(model, kind(model.parameters(), **SETTINGS), backward, steps)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    reference = runs["AdamW"][1]
    for style, (name, (losses, weights)) in zip(("C0-", "C1--", "C2:"), runs.items(), strict=True):
        left.plot(losses, style, label=name)
        if name != "AdamW":
            apart = [float((a - b).norm()) for a, b in zip(weights, reference, strict=True)]
            right.plot(apart, style, label=name)
            print(f"distance after {steps} steps, {name:<25}  {apart[-1]:.3e}")
    left.set(xlabel="step", ylabel="training loss", title="Loss")
    right.set(xlabel="step", ylabel="distance to AdamW", title="Weights", yscale="log", ylim=(1e-4, None))
    left.legend()
    right.legend()
    figure.savefig("compare.png", dpi=120)
    for name, (losses, _) in runs.items():
        print(f"loss after {steps} steps, {name:<25}      {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
