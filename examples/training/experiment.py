"""AdamW with less memory, with more, and with the memory of another beta2, on mini-batches at PyTorch's defaults.

    python experiment.py

A network on scikit-learn's digits and a small transformer on Python's own documentation are trained by AdamW (lr 1e-3,
betas (0.9, 0.999), eps 1e-8, weight decay 0.01) with strength -1, 0 and +1 of what its memory does to first order, on
the straight-line history, and with the memory of beta2 = 0.95 as the target; beside them AdamW that really has beta2 =
0.95.  All start from the same weights and see the same batches for each seed.  Writes training.png and results.md, in
about five minutes on two cores.  REPORT.md says what came out.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

import matplotlib as mpl
import torch
from tasks import Task, digits, text
from torch import nn

from symmem.training import WithMemory

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

Make = Callable[[nn.Module], torch.optim.Optimizer]
TASKS: dict[str, Callable[[], Task]] = {"digits": digits, "text": text}
TITLES = {"digits": "digits, MLP", "text": "text, transformer"}
STEPS = {"digits": 600, "text": 400}
POINTS = 20
PLAIN = "AdamW (strength 0)"


def with_memory(**settings: object) -> Make:
    """AdamW at its defaults, but for this."""
    return lambda model: WithMemory("adamw-torch", model.parameters(), **settings)


def torch_adamw(beta2: float) -> Make:
    """PyTorch's own."""
    return lambda model: torch.optim.AdamW(model.parameters(), betas=(0.9, beta2))


METHODS: dict[str, tuple[Make, str, str]] = {
    PLAIN: (with_memory(strength=0.0), "#000000", "-"),
    "strength −1": (with_memory(strength=-1.0), "#0072B2", "-"),
    "strength +1": (with_memory(strength=1.0), "#D55E00", "-"),
    "target β₂ = 0.95": (with_memory(target={"beta2": 0.95}), "#009E73", "-"),
    "AdamW with β₂ = 0.95": (torch_adamw(0.95), "#009E73", ":"),
}
"""The optimizer, and how its curve is drawn: colours that the colour-blind can tell apart (Okabe and Ito)."""


@dataclass(frozen=True)
class Run:
    """Losses along one training, on the same data at every point: of the training data, and held out."""

    train: list[float]
    held_out: list[float]

    def part(self, name: str) -> list[float]:
        """One of the two."""
        return self.train if name == "train" else self.held_out


Runs = dict[str, list[Run]]


def train(task: Task, make: Make, seed: int, steps: int) -> Run:
    """One training from the weights and the batches of the seed."""
    torch.manual_seed(seed)
    model = task.model()
    random = torch.Generator().manual_seed(seed)
    optimizer = make(model)
    with_backward = not isinstance(optimizer, WithMemory)
    found = Run([], [])
    for step in range(steps):
        inputs, answers = task.sample(random)

        def closure() -> torch.Tensor:
            loss = task.loss(model, inputs, answers)  # noqa: B023  # used before the loop goes on
            if with_backward:
                optimizer.zero_grad()
                loss.backward()
            return loss

        optimizer.step(closure)
        if (step + 1) % max(1, steps // POINTS) == 0:
            found.train.append(judged(task, model, task.train))
            found.held_out.append(judged(task, model, task.held_out))
    return found


@torch.no_grad()
def judged(task: Task, model: nn.Module, data: tuple[torch.Tensor, torch.Tensor]) -> float:
    """The loss on a hundred or more examples, spread over the data."""
    apart = max(1, len(data[0]) // 150)
    return float(task.loss(model, *(part[::apart] for part in data)))


def one(name: str, method: str, seed: int, steps: int) -> Run:
    """A training by its names, in a process of its own."""
    torch.set_num_threads(1)
    return train(TASKS[name](), METHODS[method][0], seed, steps)


def all_runs(seeds: int, steps: dict[str, int], jobs: int) -> dict[str, Runs]:
    """Every task, method and seed."""
    asked = [(name, method, seed) for name in TASKS for method in METHODS for seed in range(seeds)]
    found = {}
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(one, *each, steps[each[0]]): each for each in asked}
        for count, future in enumerate(as_completed(waiting), start=1):
            found[waiting[future]] = future.result()
            show(f"{count} of {len(asked)} trainings")
    return {
        name: {method: [found[name, method, seed] for seed in range(seeds)] for method in METHODS}
        for name in TASKS
    }


def summary(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard error; no error with one seed."""
    return mean(values), stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def table(name: str, runs: Runs) -> list[str]:
    """Last losses, and their differences to AdamW in pairs by seed."""
    lines = [
        f"| {TITLES[name]} | training loss | less AdamW's | held-out loss | less AdamW's |",
        "|---|---|---|---|---|",
    ]
    for method, mine in runs.items():
        cells = []
        for part in ("train", "held_out"):
            ends = [run.part(part)[-1] for run in mine]
            plain = [run.part(part)[-1] for run in runs[PLAIN]]
            change = summary([a - b for a, b in zip(ends, plain, strict=True)])
            cells += ["{:.4f} ± {:.4f}".format(*summary(ends)), "{:+.4f} ± {:.4f}".format(*change)]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return lines


def draw(results: dict[str, Runs], steps: dict[str, int], path: Path) -> None:
    """For each task the held-out and training losses, and the difference of the latter to AdamW's."""
    figure, panels = plt.subplots(len(results), 3, figsize=(12, 3.4 * len(results)), layout="constrained")
    for row, (name, runs) in zip(panels, results.items(), strict=True):
        every = max(1, steps[name] // POINTS)
        for method, mine in runs.items():
            for panel, part in zip(row, ("train", "held_out"), strict=False):
                _curve(panel, every, method, [run.part(part) for run in mine])
            apart = [
                [a - b for a, b in zip(run.train, plain.train, strict=True)]
                for run, plain in zip(mine, runs[PLAIN], strict=True)
            ]
            _curve(row[2], every, method, apart)
        for panel, title in zip(
            row, ("training loss", "held-out loss", "training loss, less AdamW's"), strict=True
        ):
            panel.set_title(f"{TITLES[name]}: {title}", fontsize=10)
            panel.set_xlabel("step", fontsize=9)
            panel.tick_params(which="both", labelsize=8)
        if name == "digits":
            for panel in row[:2]:
                panel.set_yscale("log")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=10)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _curve(panel: Axes, every: int, method: str, curves: list[list[float]]) -> None:
    """The mean over the seeds, and a band of its standard error."""
    points = [summary(values) for values in zip(*curves, strict=True)]
    x = [every * (k + 1) for k in range(len(points))]
    _, colour, style = METHODS[method]
    panel.plot(x, [m for m, _ in points], color=colour, linestyle=style, linewidth=1.6, label=method)
    low, high = ([m + side * e for m, e in points] for side in (-1, 1))
    panel.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)


def show(line: str) -> None:
    """One line of progress, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--steps", type=int, help=f"for both tasks; else {STEPS}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="trainings at a time")
    given = parser.parse_args()
    steps = STEPS if given.steps is None else dict.fromkeys(STEPS, given.steps)
    results = all_runs(given.seeds, steps, given.jobs)
    lines = [line for name, runs in results.items() for line in [*table(name, runs), ""]]
    print("\n".join(lines))
    Path("results.md").write_text("\n".join(lines), encoding="utf-8")
    draw(results, steps, Path("training.png"))


if __name__ == "__main__":
    main()
