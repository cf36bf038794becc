"""The pictures of effect_of_beta2.py: differences to the smallest beta2, in pairs by seed, with standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import torch
from runs import Measured

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")
"""Colours that the colour-blind can tell apart (Okabe and Ito)."""


@dataclass(frozen=True)
class Quantity:
    """What the vertical axis shows: a field of the points, its label, its unit; beyond ``linear`` it is logarithmic."""

    field: str
    label: str
    unit: float = 1.0
    linear: float | None = None


ONE_NORM = Quantity("one_norm", r"$\log \|\nabla L\|_1$, change from 0.9", linear=0.05)
TICKS = (-0.2, -0.1, -0.05, -0.02, 0, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
ACCURACY = Quantity("accuracy", r"held-out accuracy, change (%)", 100.0)


def draw(
    results: Mapping[str, Sequence[Measured]], quantity: Quantity, path: Path, predictions: Mapping[str, str]
) -> None:
    """Changes from the smallest beta2: one panel for each experiment, one line for each level of the loss.

    ``predictions`` stand below the titles.
    """
    figure, panels = plt.subplots(1, len(results), figsize=(3.3 * len(results), 3.2), squeeze=False)
    for panel, (title, points) in zip(panels[0], results.items(), strict=True):
        betas = sorted({point.beta2 for point in points})
        for number, level in enumerate(sorted({point.level for point in points}, reverse=True)):
            values = {point.beta2: getattr(point, quantity.field) for point in points if point.level == level}
            differences = [quantity.unit * (values[beta] - values[betas[0]]) for beta in betas]
            _line(panel, differences, number, f"{level:g}")
        panel.axhline(0, color="0.6", linewidth=0.8)
        panel.set_xticks(range(len(betas)), [f"{beta:g}" for beta in betas])
        panel.set_xlabel(r"$\beta_2$")
        said = f"\n{predictions[title]}" if title in predictions else ""
        panel.set_title(f"{title}{said}", fontsize=9)
        if quantity.linear is not None:
            panel.set_yscale("symlog", linthresh=quantity.linear, linscale=1.5)
            panel.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
            panel.minorticks_off()
            panel.set_ylim(-0.4, 1.1)
            panel.tick_params(axis="y", labelsize=8)
    panels[0][0].set_ylabel(quantity.label, fontsize=9)
    panels[0][0].legend(title="training loss", fontsize=8, title_fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _line(panel: Axes, differences: list[torch.Tensor], number: int, label: str) -> None:
    means = [difference.double().mean().item() for difference in differences]
    errors = [difference.double().std().item() / len(difference) ** 0.5 for difference in differences]
    places = [k + 0.06 * (number - 1.5) for k in range(len(differences))]
    colour = COLOURS[number % len(COLOURS)]
    panel.errorbar(
        places, means, errors, color=colour, marker="o", markersize=3.5, capsize=2, linewidth=1, label=label
    )
