"""What the memory of AdamW does in training: more of it, less of it, and other betas.

    python experiment.py

A convolutional network on digits and a transformer on text are trained by AdamW with strength -1 (memory's effect on
the loss taken away to first order), 0 (AdamW itself) and 1 (doubled), and by Lion; then by AdamW with several beta2.
Writes digits.png, text.png and beta2.png, and prints means with standard errors over the seeds.  REPORT.md says what
came out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, stdev

import matplotlib as mpl
import torch
from tasks import Task, digits, text
from torch import nn

from symmem.training import WithMemory

mpl.use("Agg")
from matplotlib import pyplot as plt

Make = Callable[[nn.Module], torch.optim.Optimizer]
ADAMW = {"lr": 1e-3, "betas": (0.9, 0.95), "eps": 3e-2, "weight_decay": 0.01}
LION = {"lr": 3e-4, "beta1": 0.9, "beta2": 0.98, "eps": 1e-6, "weight_decay": 0.01}
BETA2 = (0.9, 0.95, 0.98, 0.99, 0.995)


@dataclass(frozen=True)
class Run:
    """One training: losses along it, and at its end the one-norm of the gradient over the training data."""

    train: list[float]
    test: list[float]
    gradient: float


def adamw(strength: float, **changes: object) -> Make:
    settings = {**ADAMW, **changes}
    return lambda model: WithMemory("adamw-torch", model.parameters(), strength=strength, **settings)


def torch_adamw(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), **ADAMW)


METHODS: dict[str, Make] = {
    "torch.optim.AdamW": torch_adamw,
    "AdamW, strength -1": adamw(-1.0),
    "AdamW, strength 0": adamw(0.0),
    "AdamW, strength 1": adamw(1.0),
    "Lion": lambda model: WithMemory("lion", model.parameters(), strength=0.0, **LION),
}


def train(task: Task, make: Make, seed: int, steps: int, every: int) -> Run:
    torch.manual_seed(seed)
    model = task.model()
    random = torch.Generator().manual_seed(seed)
    optimizer = make(model)
    with_backward = type(optimizer) is torch.optim.AdamW
    train_losses, test_losses = [], []
    for step in range(steps):
        inputs, answers = task.sample(random)

        def closure() -> torch.Tensor:
            loss = task.loss(model, inputs, answers)  # noqa: B023  # used before the loop goes on
            if with_backward:
                optimizer.zero_grad()
                loss.backward()
            return loss

        optimizer.step(closure)
        if (step + 1) % every == 0:
            train_losses.append(judged(task, model, task.train))
            test_losses.append(judged(task, model, task.test))
    whole = task.loss(model, *(part[:2000] for part in task.train))
    slopes = torch.autograd.grad(whole, list(model.parameters()))
    return Run(train_losses, test_losses, float(sum(slope.abs().sum() for slope in slopes)))


@torch.no_grad()
def judged(task: Task, model: nn.Module, data: tuple[torch.Tensor, torch.Tensor]) -> float:
    return float(task.loss(model, *(part[:1000] for part in data)))


def summary(values: list[float]) -> tuple[float, float]:
    """Mean and standard error; no error with one seed."""
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return mean(values), error


def curves(name: str, task: Task, seeds: int, steps: int) -> None:
    every = max(1, steps // 20)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for colour, (method, make) in enumerate(METHODS.items()):
        runs = [train(task, make, seed, steps, every) for seed in range(seeds)]
        for axis, part in zip(axes, ("train", "test"), strict=True):
            points = [summary(list(values)) for values in zip(*(getattr(r, part) for r in runs), strict=True)]
            x = [every * (k + 1) for k in range(len(points))]
            middle = [point[0] for point in points]
            axis.plot(x, middle, f"C{colour}", label=method, ls="--" if colour == 0 else "-")
            low, high = ([m + side * e for m, e in points] for side in (-1, 1))
            axis.fill_between(x, low, high, color=f"C{colour}", alpha=0.2)
            value, error = points[-1]
            print(f"{name}: {part} loss, {method:<20}  {value:.6f} +- {error:.6f}")
    for axis, part in zip(axes, ("training", "test"), strict=True):
        axis.set(xlabel="step", ylabel=f"{part} loss", yscale="log", title=f"{name}: {part} loss")
    axes[0].legend()
    figure.savefig(f"{name}.png", dpi=120)


def sweep(seeds: int, steps: int) -> None:
    """AdamW by beta2: the one-norm of the gradient, which its memory should raise with beta2, and the test loss."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for row, (name, task) in zip(axes, (("digits", digits()), ("text", text())), strict=True):
        points = []
        for beta2 in BETA2:
            make = adamw(0.0, betas=(0.9, beta2))
            runs = [train(task, make, seed, steps, steps) for seed in range(seeds)]
            points.append((summary([run.gradient for run in runs]), summary([run.test[-1] for run in runs])))
            print(
                f"{name}: beta2 = {beta2}: gradient, one-norm  {points[-1][0][0]:.4f} +- {points[-1][0][1]:.4f}"
            )
            print(
                f"{name}: beta2 = {beta2}: test loss           {points[-1][1][0]:.6f} +- {points[-1][1][1]:.6f}"
            )
        for place, (axis, what) in enumerate(
            zip(row, ("one-norm of the gradient", "test loss"), strict=True)
        ):
            values = [point[place] for point in points]
            axis.errorbar(
                range(len(BETA2)), [v for v, _ in values], [e for _, e in values], marker="o", capsize=3
            )
            axis.set_xticks(range(len(BETA2)), [str(beta2) for beta2 in BETA2])
            axis.set(xlabel="beta2", title=f"{name}: {what}")
    figure.savefig("beta2.png", dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=400)
    given = parser.parse_args()
    curves("digits", digits(), given.seeds, given.steps)
    curves("text", text(), given.seeds, given.steps)
    sweep(given.seeds, given.steps)


if __name__ == "__main__":
    main()
