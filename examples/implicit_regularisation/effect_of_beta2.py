"""Does memory change the loss that is minimised?  beta2 against the size of the gradient, at equal training loss.

    python effect_of_beta2.py

A small network learns scikit-learn's digits by torch.optim.AdamW and by Lion, with four beta2, on the full batch and on
mini-batches, from the same first weights for each seed.  Whenever a run's training loss falls below 1, 0.3, 0.1 and
0.03, the one-norm of its gradient, its sharpness (the largest eigenvalue of the Hessian) and its accuracy on held-out
images are taken.  Compared in pairs by seed with beta2 = 0.9, with standard errors, beside what symmem predicts: the
change of the coefficient of |grad L|_1 in the modified loss.  Writes beta2.png, accuracy.png and results.md; about
six minutes on two cores.  REPORT.md says what came out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import sympy
import torch
from lion import Lion
from pictures import ACCURACY, ONE_NORM, draw
from runs import Data, Measured, Watch, Weights, accuracy, digits, losses, networks, one_norms, sharpness

import symmem

BETA1, BETA2 = 0.9, (0.9, 0.95, 0.99, 0.999)
LEVELS = (1.0, 0.3, 0.1, 0.03)
BATCH, SEEN_EVERY, WINDOW, MOST_STEPS = 64, 10, 10, 30_000


@dataclass(frozen=True)
class Experiment:
    """One optimizer on the full batch or on mini-batches; ``theory`` is its name in the zoo."""

    title: str
    optimizer: type[torch.optim.Optimizer]
    theory: str
    lr: float
    batch: int | None


EXPERIMENTS = (
    Experiment("AdamW, full batch", torch.optim.AdamW, "adamw-torch", 3e-4, None),
    Experiment("Lion, full batch", Lion, "lion-bc", 1e-4, None),
    Experiment("AdamW, mini-batches", torch.optim.AdamW, "adamw-torch", 3e-4, BATCH),
    Experiment("Lion, mini-batches", Lion, "lion-bc", 1e-4, BATCH),
)


def predicted(experiment: Experiment, beta2: float) -> float:
    """The coefficient of ``lr |grad L|_1`` in the modified loss: AdamW's stands behind P, Lion's inside the sign."""
    derivation = symmem.derive(experiment.theory)
    loss = derivation.modified_loss if experiment.optimizer is not Lion else derivation.gradient_map_loss
    assert loss is not None
    values = {"beta1": BETA1, "beta2": beta2, "weight_decay": 0, "eps": 0}
    potential = loss.potential.subs({sympy.Symbol(name): value for name, value in values.items()})
    return float(sympy.expand(potential).coeff(symmem.lr).as_independent(symmem.grad)[0])


def predicted_sign(experiment: Experiment, beta2: float) -> str:
    """Of the change of the gradient from the smallest beta2: less of a penalty lets it be larger."""
    return "+" if predicted(experiment, beta2) < predicted(experiment, BETA2[0]) else "-"


def run(experiment: Experiment, seeds: Sequence[int], train: Data) -> list[Watch]:
    """One watch for each beta2, whose networks are those of the seeds."""
    stacks = [networks(seeds) for _ in BETA2]
    optimizers = [
        experiment.optimizer(stack, lr=experiment.lr, betas=(BETA1, beta2), weight_decay=0.0)  # type: ignore[call-arg]
        for stack, beta2 in zip(stacks, BETA2, strict=True)
    ]
    window = WINDOW if experiment.batch else 1
    watches = [Watch(LEVELS, len(seeds), window) for _ in BETA2]
    random = [torch.Generator().manual_seed(1000 + seed) for seed in seeds]
    for step in range(MOST_STEPS):
        chosen = draws(random, experiment.batch, train)
        for stack, optimizer, watch in zip(stacks, optimizers, watches, strict=True):
            if watch.done:
                continue
            if experiment.batch is None or step % SEEN_EVERY == 0:
                loss = gradients(stack, train.images, train.labels)
                watch.see(
                    step, loss, one_norms(weight.grad for weight in stack if weight.grad is not None), stack
                )
            if chosen is not None:
                gradients(stack, train.images[chosen], train.labels[chosen])
            optimizer.step()
        if step % 100 == 0:
            crossed = sum(len(watch.crossings) for watch in watches)
            show(
                f"{experiment.title}: step {step}, {crossed} of {len(BETA2) * len(LEVELS) * len(seeds)} levels"
            )
        if all(watch.done for watch in watches):
            break
    show("")
    return watches


def draws(random: Sequence[torch.Generator], batch: int | None, train: Data) -> torch.Tensor | None:
    """A batch for each seed, the same for all beta2."""
    if batch is None:
        return None
    return torch.stack([torch.randint(len(train.images), (batch,), generator=each) for each in random])


def gradients(weights: Weights, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The losses; the gradients are left in ``.grad``."""
    for weight in weights:
        weight.grad = None
    loss = losses(weights, images, labels)
    loss.sum().backward()
    return loss


def measured(watches: list[Watch], seeds: Sequence[int], train: Data, test: Data) -> list[Measured]:
    """What the runs were like where they crossed the levels."""
    found = []
    for level in LEVELS:
        for beta2, watch in zip(BETA2, watches, strict=True):
            crossings = [watch.crossings[number, level] for number in range(len(seeds))]
            states = [torch.cat(parts) for parts in zip(*(each.state for each in crossings), strict=True)]
            norms = torch.tensor([each.log_one_norm for each in crossings])
            found.append(
                Measured(level, beta2, norms, sharpness(states, train).log(), accuracy(states, test))
            )
    return found


def paired(values: torch.Tensor, base: torch.Tensor) -> tuple[float, float]:
    """The mean difference over the seeds, and its standard error."""
    difference = (values - base).double()
    return difference.mean().item(), difference.std().item() / len(difference) ** 0.5


def table(experiment: Experiment, found: list[Measured]) -> str:
    """The differences to beta2 = 0.9, as Markdown."""
    lines = [
        f"## {experiment.title}, lr {experiment.lr:g}",
        "",
        "| loss | beta2 | h/(1 - beta2) | predicted sign | log \\|grad L\\|_1 | log sharpness | accuracy, held out |",
        "|---|---|---|---|---|---|---|",
    ]
    base: Measured = found[0]
    for each in found:
        if each.beta2 == BETA2[0]:
            base = each
            continue
        pairs = [
            paired(now, then)
            for now, then in (
                (each.one_norm, base.one_norm),
                (each.sharpness, base.sharpness),
                (each.accuracy, base.accuracy),
            )
        ]
        cells = " | ".join(f"{mean:+.4f} ± {error:.4f}" for mean, error in pairs)
        sign = predicted_sign(experiment, each.beta2)
        lines.append(
            f"| {each.level:g} | {each.beta2:g} | {experiment.lr / (1 - each.beta2):.2g} | {sign} | {cells} |"
        )
    return "\n".join(lines) + "\n"


def show(line: str) -> None:
    """One line of progress, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--only", help="the experiments whose title has these words")
    chosen = parser.parse_args()
    seeds = range(chosen.seeds)
    train, test = digits()
    results = {}
    for experiment in EXPERIMENTS:
        if chosen.only is None or chosen.only in experiment.title:
            results[experiment.title] = measured(run(experiment, seeds, train), seeds, train, test)
            print(table(experiment, results[experiment.title]))
    tables = [table(each, results[each.title]) for each in EXPERIMENTS if each.title in results]
    Path("results.md").write_text(
        f"# {chosen.seeds} seeds, against beta2 = 0.9\n\n" + "\n".join(tables), encoding="utf-8"
    )
    signs = {each.title: {predicted_sign(each, beta2) for beta2 in BETA2[1:]} for each in EXPERIMENTS}
    predictions = {title: f"predicted sign: {' or '.join(sorted(found))}" for title, found in signs.items()}
    draw(results, ONE_NORM, Path("beta2.png"), predictions)
    draw(results, ACCURACY, Path("accuracy.png"), {})


if __name__ == "__main__":
    main()
