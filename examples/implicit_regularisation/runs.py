"""Many trainings at once: networks that differ in their seed, stacked in one tensor.

AdamW and Lion act entry by entry, so that one optimizer over stacked weights makes exactly the steps of many.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import torch
from sklearn.datasets import load_digits
from torch import Tensor
from torch.nn import functional

WIDTHS = (64, 32, 32, 10)
HELD_OUT = 600
Weights = list[Tensor]


@dataclass(frozen=True)
class Data:
    """Images as rows, and their labels."""

    images: Tensor
    labels: Tensor


def digits() -> tuple[Data, Data]:
    """scikit-learn's digits: those to train on, and the last ones, held out."""
    found = load_digits()
    images = torch.tensor(found.data / 16.0, dtype=torch.float32)
    labels = torch.tensor(found.target)
    return Data(images[:-HELD_OUT], labels[:-HELD_OUT]), Data(images[-HELD_OUT:], labels[-HELD_OUT:])


def networks(seeds: Iterable[int]) -> Weights:
    """The weights of one GELU network for each seed, stacked: PyTorch's own first values."""
    stacks: list[list[Tensor]] = []
    for seed in seeds:
        torch.manual_seed(seed)
        layers = [torch.nn.Linear(a, b) for a, b in pairwise(WIDTHS)]
        stacks.append([part.detach() for layer in layers for part in (layer.weight.T, layer.bias[None])])
    return [torch.stack(parts).contiguous().requires_grad_() for parts in zip(*stacks, strict=True)]


def outputs(weights: Weights, images: Tensor) -> Tensor:
    """What each network says of its images: (networks, images, classes)."""
    values = images.expand(len(weights[0]), *images.shape[-2:])
    for weight, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        values = functional.gelu(torch.baddbmm(bias, values, weight))
    return torch.baddbmm(weights[-1], values, weights[-2])


def losses(weights: Weights, images: Tensor, labels: Tensor) -> Tensor:
    """The mean cross entropy of each network."""
    said = outputs(weights, images)
    answers = labels.expand(said.shape[:2]).reshape(-1)
    each = functional.cross_entropy(said.flatten(0, 1), answers, reduction="none")
    return each.reshape(said.shape[:2]).mean(1)


def accuracy(weights: Weights, data: Data) -> Tensor:
    """The share of images that each network names rightly."""
    with torch.no_grad():
        return (outputs(weights, data.images).argmax(-1) == data.labels).double().mean(1)


def one_norms(gradients: Iterable[Tensor]) -> Tensor:
    """``|grad L|_1`` of each network."""
    return torch.stack([part.abs().flatten(1).sum(1) for part in gradients]).sum(0)


def sharpness(weights: Weights, data: Data, iterations: int = 40) -> Tensor:
    """The largest eigenvalue of the Hessian of each network, by power iteration on all of them together."""
    parameters = [weight.detach().requires_grad_() for weight in weights]
    total = losses(parameters, data.images, data.labels).sum()
    gradients = torch.autograd.grad(total, parameters, create_graph=True)
    random = torch.Generator().manual_seed(0)
    vectors = [torch.randn(weight.shape, generator=random) for weight in weights]
    values = torch.zeros(len(weights[0]))
    for _ in range(iterations):
        length = sum(part.square().flatten(1).sum(1) for part in vectors) ** 0.5
        vectors = [part / length.view(-1, *[1] * (part.dim() - 1)) for part in vectors]
        product = torch.autograd.grad(gradients, parameters, vectors, retain_graph=True)
        values = sum(
            ((a * b).flatten(1).sum(1) for a, b in zip(product, vectors, strict=True)), torch.zeros(())
        )
        vectors = list(product)
    return values


@dataclass(frozen=True)
class Crossing:
    """The first moment at which a network's training loss is below a level; the state is of that step."""

    step: int
    log_one_norm: float
    """``log |grad L|_1``, interpolated in log L to the level itself."""
    state: Weights


class Watch:
    """Sees loss and gradient norm of every network, and keeps where they cross some levels.

    Along mini-batches both jump: there their logarithms are averaged over the last ``window`` values.
    """

    def __init__(self, levels: tuple[float, ...], count: int, window: int = 1) -> None:
        self.levels = levels
        self.crossings: dict[tuple[int, float], Crossing] = {}
        self._count = count
        self._seen: deque[Tensor] = deque(maxlen=window)
        self._before: Tensor | None = None

    def see(self, step: int, loss: Tensor, one_norm: Tensor, weights: Weights) -> None:
        """Loss and norm are those of ``weights``."""
        self._seen.append(torch.stack([loss.detach(), one_norm]).double().log())
        now = torch.stack(list(self._seen)).mean(0)
        before = self._before if self._before is not None else now
        for level in self.levels:
            target = math.log(level)
            for number in torch.nonzero(now[0] <= target).flatten().tolist():
                if (number, level) not in self.crossings:
                    norm = _at(target, *before[:, number].tolist(), *now[:, number].tolist())
                    state = [weight[number : number + 1].detach().clone() for weight in weights]
                    self.crossings[number, level] = Crossing(step, norm, state)
        self._before = now

    @property
    def done(self) -> bool:
        """Whether every network crossed every level."""
        return len(self.crossings) == self._count * len(self.levels)


def _at(target: float, x: float, y: float, x_next: float, y_next: float) -> float:
    """The value y where x, which falls from x to x_next, is at the target."""
    return y_next if x <= x_next else y + (x - target) / (x - x_next) * (y_next - y)


@dataclass(frozen=True)
class Measured:
    """At one level of the loss and for one beta2, a value for each seed."""

    level: float
    beta2: float
    one_norm: Tensor
    """log |grad L|_1"""
    sharpness: Tensor
    """log of the largest eigenvalue of the Hessian"""
    accuracy: Tensor
