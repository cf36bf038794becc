"""The edge of stability of AdamW: sharpness, and preconditioned sharpness beside its threshold, over a full-batch run.

    python sharpness.py

Memory in the first moment moves the threshold: a quadratic with preconditioned curvature a is stable under Adam with a
frozen second moment for ``a < (2 + 2 beta1)/((1 - beta1) lr)`` (Cohen et al. 2022).  A network learns scikit-learn's
digits by torch.optim.AdamW with beta1 = 0.9 and 0.99; every few steps the largest eigenvalues of the Hessian H and of
``D^(-1/2) H D^(-1/2)``, D = sqrt(v) + eps with PyTorch's debiased v, are found by power iteration.  Writes
sharpness.png; about three minutes on two cores.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib as mpl
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

mpl.use("Agg")
from matplotlib import pyplot as plt

LR, BETA2, EPS = 1e-2, 0.99, 1e-8
BETA1 = (0.9, 0.99)
EVERY, ITERATIONS = 10, 12
ARRIVED = 0.9
"""The share of the threshold from which on a run is at its edge."""
Product = Callable[[Sequence[Tensor]], list[Tensor]]


@dataclass
class Curve:
    """What was seen along one run."""

    beta1: float
    steps: list[int] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    preconditioned: list[float] = field(default_factory=list)

    @property
    def threshold(self) -> float:
        """``(2 + 2 beta1)/((1 - beta1) lr)``."""
        return (2 + 2 * self.beta1) / ((1 - self.beta1) * LR)


class PowerIteration:
    """The largest eigenvalue in absolute value of a symmetric product; each call goes on from the last vector."""

    def __init__(self, like: Sequence[Tensor]) -> None:
        random = torch.Generator().manual_seed(0)
        self._vector = [torch.randn(part.shape, generator=random) for part in like]

    def __call__(self, product: Product) -> float:
        value = 0.0
        for _ in range(ITERATIONS):
            length = float(sum(part.square().sum() for part in self._vector)) ** 0.5
            unit = [part / length for part in self._vector]
            self._vector = product(unit)
            value = float(sum((a * b).sum() for a, b in zip(unit, self._vector, strict=True)))
        return value


def error(said: Tensor, labels: Tensor) -> Tensor:
    """The squared distance to the one-hot labels: its curvature does not fade as that of cross entropy does."""
    return (said - nn.functional.one_hot(labels, 10)).square().sum(1).mean()


def hessian_product(loss: Tensor, parameters: list[Tensor]) -> Product:
    """``v -> H v`` at the present point."""
    gradients = torch.autograd.grad(loss, parameters, create_graph=True)
    return lambda vector: list(torch.autograd.grad(gradients, parameters, vector, retain_graph=True))


def roots(optimizer: torch.optim.Optimizer, parameters: list[Tensor]) -> list[Tensor]:
    """``(sqrt(v) + eps)^(-1/2)`` of AdamW's state, v debiased."""
    found = []
    for parameter in parameters:
        state = optimizer.state[parameter]
        debiased = state["exp_avg_sq"] / (1 - BETA2 ** state["step"])
        found.append((debiased.sqrt() + EPS).rsqrt())
    return found


def run(beta1: float, steps: int) -> Curve:
    """One training, watched every few steps."""
    torch.manual_seed(0)
    data = load_digits()
    images, labels = torch.tensor(data.data / 16.0, dtype=torch.float32), torch.tensor(data.target)
    network = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 10))
    parameters: list[Tensor] = list(network.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=LR, betas=(beta1, BETA2), eps=EPS, weight_decay=0.0)
    curve, plain, scaled = Curve(beta1), PowerIteration(parameters), PowerIteration(parameters)
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        loss = error(network(images), labels)
        loss.backward()
        optimizer.step()
        if step % EVERY == 0:
            loss = error(network(images), labels)
            product = hessian_product(loss, parameters)
            curve.steps.append(step)
            curve.loss.append(loss.item())
            curve.plain.append(plain(product))
            curve.preconditioned.append(scaled(between(product, roots(optimizer, parameters))))
            if sys.stderr.isatty():
                print(f"\rbeta1 = {beta1}: step {step} of {steps}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return curve


def between(product: Product, scale: list[Tensor]) -> Product:
    """``v -> D^(-1/2) H D^(-1/2) v``."""

    def scaled(vector: Sequence[Tensor]) -> list[Tensor]:
        moved = product([s * part for s, part in zip(scale, vector, strict=True)])
        return [s * part for s, part in zip(scale, moved, strict=True)]

    return scaled


def draw(curves: list[Curve], path: Path) -> None:
    """Three panels: loss, sharpness, preconditioned sharpness in units of its threshold."""
    figure, (losses, plain, scaled) = plt.subplots(1, 3, figsize=(10.5, 3.2))
    for curve in curves:
        label = rf"$\beta_1 = {curve.beta1:g}$"
        losses.plot(curve.steps, curve.loss, label=label)
        plain.plot(curve.steps, curve.plain, label=label)
        scaled.plot(curve.steps, [value / curve.threshold for value in curve.preconditioned], label=label)
    scaled.axhline(1, color="0.4", linestyle="--", linewidth=1)
    for panel, title in (
        (losses, "training loss"),
        (plain, "sharpness of $L$"),
        (scaled, "preconditioned sharpness / threshold"),
    ):
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("step")
        panel.set_yscale("log")
    losses.legend(frameon=False, fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=1500)
    steps = parser.parse_args().steps
    curves = [run(beta1, steps) for beta1 in BETA1]
    for curve in curves:
        ratios = [value / curve.threshold for value in curve.preconditioned]
        arrived = next((k for k, ratio in enumerate(ratios) if ratio >= ARRIVED), None)
        print(f"beta1 {curve.beta1:g}: threshold {curve.threshold:.4g}", end="; ")
        if arrived is None:
            print(f"the preconditioned sharpness stays below, at most {max(ratios):.2f} of it")
            continue
        late = sorted(ratios[arrived:])
        print(f"from step {curve.steps[arrived]} on the preconditioned sharpness")
        print(
            f"  is at {late[len(late) // 2]:.2f} of it (median), at least {late[0]:.2f}, at most {late[-1]:.2f}"
        )
    draw(curves, Path("sharpness.png"))


if __name__ == "__main__":
    main()
