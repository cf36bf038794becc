"""How far memoryless AdamW and Lion are from the true ones, in three ways.

    symmem emit adamw --target torch -o adamw.py
    symmem emit lion-bc --target torch -o lion_bc.py
    python three_curves.py

Figure 1 of the paper: distances in the maximum norm over 200 full-batch steps, without correction and with that of the
expansion; and a third curve, the straight-line history (mathematics.md section 10).  A GELU network and a convolutional
one learn scikit-learn's digits; lr 1e-4 and 3e-4, betas (.9, .95) and (.9, .999), eps 1e-6, weight decay 1e-3/lr.  Then
the order of the error: the same time with halved learning rates.  Writes distance.png and order.png; about six minutes
on two cores.  REPORT.md says what came out.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import matplotlib as mpl
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from symmem.training import WithMemory

mpl.use("Agg")
from matplotlib import pyplot as plt

WAYS = {"without correction": "#D55E00", "expansion": "#0072B2", "straight line": "#009E73"}
"""Colours that the colour-blind can tell apart (Okabe and Ito)."""
METHODS = {"AdamW": ("adamw", "adamw"), "Lion, bias-corrected": ("lion-bc", "lion_bc")}
IMAGES, EPS = 500, 1e-6


@dataclass(frozen=True)
class Problem:
    """A loss of one long vector, with its gradient and the product of its Hessian with a vector."""

    title: str
    start: Tensor
    loss: Callable[[Tensor], Tensor]

    def grad(self, theta: Tensor) -> Tensor:
        point = theta.detach().requires_grad_()
        return torch.autograd.grad(self.loss(point), point)[0]

    def hvp(self, theta: Tensor, vector: Tensor) -> Tensor:
        point = theta.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(self.loss(point), point, create_graph=True)
        return torch.autograd.grad(gradient, point, vector)[0]


@dataclass(frozen=True)
class Setting:
    """What an optimizer is run with."""

    lr: float
    beta2: float
    weight_decay: float
    beta1: float = 0.9

    @property
    def parameters(self) -> dict[str, float]:
        """As the emitted functions take them."""
        return {
            "beta1": self.beta1,
            "beta2": self.beta2,
            "eps": EPS,
            "weight_decay": self.weight_decay,
        }


def problem(title: str, network: nn.Module) -> Problem:
    """The mean cross entropy on the first digits, as a function of all weights in one vector."""
    data = load_digits()
    images = torch.tensor(data.images[:IMAGES] / 16.0, dtype=torch.float64)[:, None]
    labels = torch.tensor(data.target[:IMAGES])
    parameters = {name: value.detach().double() for name, value in network.named_parameters()}

    def loss(theta: Tensor) -> Tensor:
        parts = torch.split(theta, [value.numel() for value in parameters.values()])
        weights = {
            name: part.view(value.shape)
            for (name, value), part in zip(parameters.items(), parts, strict=True)
        }
        return nn.functional.cross_entropy(torch.func.functional_call(network, weights, (images,)), labels)

    return Problem(title, torch.cat([value.flatten() for value in parameters.values()]), loss)


def problems() -> list[Problem]:
    """A network of dense layers and one of convolutions."""
    torch.manual_seed(0)
    dense = nn.Sequential(
        nn.Flatten(), nn.Linear(64, 32), nn.GELU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 10)
    )
    convolutional = nn.Sequential(
        nn.Conv2d(1, 6, 3), nn.GELU(), nn.Conv2d(6, 8, 3), nn.GELU(), nn.Flatten(), nn.Linear(128, 10)
    )
    return [problem("MLP", dense.double()), problem("CNN", convolutional.double())]


def true_path(name: str, task: Problem, setting: Setting, steps: int) -> list[Tensor]:
    """The points of the optimizer with its memory."""
    theta = task.start.clone().requires_grad_()
    betas, decay = (setting.beta1, setting.beta2), setting.weight_decay
    optimizer = WithMemory(
        name, [theta], lr=setting.lr, strength=0.0, betas=betas, eps=EPS, weight_decay=decay
    )
    points = []
    for _ in range(steps):
        optimizer.step(lambda: task.loss(theta))
        points.append(theta.detach().clone())
    return points


def directions(
    module: ModuleType, task: Problem, setting: Setting
) -> dict[str, Callable[[Tensor, int], Tensor]]:
    """The three memoryless updates at a point and a step."""
    known = setting.parameters

    def frozen(theta: Tensor, n: int) -> Tensor:
        return module.memoryless(theta, task.grad, n=n, **known)

    def expansion(theta: Tensor, n: int) -> Tensor:
        return frozen(theta, n) + module.correction(theta, task.grad, task.hvp, n=n, lr=setting.lr, **known)

    def straight(theta: Tensor, n: int) -> Tensor:
        return module.straight(theta, task.grad, task.hvp, n=n, lr=setting.lr, **known)

    return dict(zip(WAYS, (frozen, expansion, straight), strict=True))


def distances(method: str, task: Problem, setting: Setting, steps: int) -> dict[str, list[float]]:
    """The largest entry of the difference to the true optimizer after each step, three ways."""
    name, module = METHODS[method]
    points = true_path(name, task, setting, steps)
    found = {}
    for way, direction in directions(importlib.import_module(module), task, setting).items():
        theta, curve = task.start.clone(), []
        for n, point in enumerate(points):
            theta = theta - setting.lr * direction(theta, n)
            curve.append((theta - point).abs().max().item())
        found[way] = curve
    return found


def draw_distances(results: dict[tuple[str, str, Setting], dict[str, list[float]]], path: Path) -> None:
    """One panel for each setting."""
    columns = 4
    figure, panels = plt.subplots(
        len(results) // columns, columns, figsize=(12, 2.4 * len(results) // columns)
    )
    for panel, ((method, task, setting), curves) in zip(panels.flat, results.items(), strict=True):
        for way, colour in WAYS.items():
            panel.plot(curves[way], color=colour, label=way, linewidth=1.2)
        panel.set_ylim(bottom=0)
        panel.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
        panel.yaxis.get_offset_text().set_fontsize(7)
        panel.set_title(f"{method}, {task}\nlr {setting.lr:g}, beta2 {setting.beta2:g}", fontsize=8)
        panel.tick_params(labelsize=7)
    panels.flat[0].legend(fontsize=7, frameon=False)
    for panel in panels[-1]:
        panel.set_xlabel("step", fontsize=8)
    for row in panels:
        row[0].set_ylabel("distance", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def order(method: str, task: Problem, rates: list[float], time: float) -> dict[str, list[float]]:
    """The distance at one time, for several learning rates."""
    ends: dict[str, list[float]] = {way: [] for way in WAYS}
    for lr in rates:
        for way, curve in distances(method, task, Setting(lr, 0.95, 1.0), round(time / lr)).items():
            ends[way].append(curve[-1])
        show(f"order of the error: {method}, lr {lr:g}")
    return ends


def draw_order(found: dict[str, dict[str, list[float]]], rates: list[float], path: Path) -> None:
    """Log-log, with the slope of the two smallest rates."""
    figure, panels = plt.subplots(1, len(found), figsize=(4 * len(found), 3.2))
    for panel, (method, ends) in zip(panels, found.items(), strict=True):
        for way, colour in WAYS.items():
            label = f"{way}: slope {slope(ends[way]):.2f}"
            panel.loglog(rates, ends[way], "o-", color=colour, label=label, linewidth=1.2, markersize=4)
        panel.set_title(f"{method}, MLP", fontsize=10)
        panel.set_xticks(rates, [f"{rate:g}" for rate in rates], fontsize=8)
        panel.minorticks_off()
        panel.set_xlabel("lr")
        panel.legend(fontsize=8, frameon=False)
    panels[0].set_ylabel("distance at equal time")
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def slope(ends: list[float]) -> float:
    """How the distance falls when the rate is halved for the last time."""
    return math.log2(ends[-2] / ends[-1])


def show(line: str) -> None:
    """One line of progress, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--order-only", action="store_true", help="the order of the error alone")
    parser.add_argument("--short", action="store_true", help="the order from the two smallest rates")
    chosen = parser.parse_args()
    dense, convolutional = problems()
    if not chosen.order_only:
        results = {}
        settings = [Setting(lr, beta2, 1e-3 / lr) for lr in (1e-4, 3e-4) for beta2 in (0.95, 0.999)]
        for method, task, setting in itertools.product(METHODS, (dense, convolutional), settings):
            show(f"{method}, {task.title}, lr {setting.lr:g}, beta2 {setting.beta2:g}")
            curves = results[method, task.title, setting] = distances(method, task, setting, chosen.steps)
            numbers = ", ".join(f"{way} {curve[-1]:.2e}" for way, curve in curves.items())
            print(
                f"{method}, {task.title}, lr {setting.lr:g}, beta2 {setting.beta2:g}: {numbers}", flush=True
            )
        draw_distances(results, Path("distance.png"))
    rates = [4e-4, 2e-4, 1e-4, 5e-5, 2.5e-5]
    rates = rates[-2:] if chosen.short else rates
    found = {method: order(method, dense, rates, 1.6e-2) for method in METHODS}
    for method, ends in found.items():
        print(f"order, {method}: " + ", ".join(f"{way} {slope(curve):.2f}" for way, curve in ends.items()))
    draw_order(found, rates, Path("order.png"))


if __name__ == "__main__":
    main()
