"""Two small tasks that need no download: a convolutional network on digits, a transformer on a little English text."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from sklearn import datasets
from torch import Tensor, nn

CONTEXT = 32
TEXTS = ("iris", "wine", "digits", "breast_cancer", "diabetes", "linnerud")


@dataclass(frozen=True)
class Task:
    """A model to build, the loss of a batch, and batches: random ones to train on, fixed ones to judge by."""

    model: Callable[[], nn.Module]
    loss: Callable[[nn.Module, Tensor, Tensor], Tensor]
    train: tuple[Tensor, Tensor]
    test: tuple[Tensor, Tensor]
    batch: int

    def sample(self, random: torch.Generator) -> tuple[Tensor, Tensor]:
        chosen = torch.randint(len(self.train[0]), (self.batch,), generator=random)
        return self.train[0][chosen], self.train[1][chosen]


def digits() -> Task:
    """A convolutional network on the digits of scikit-learn: 600 to train on, the others to test."""
    found = datasets.load_digits()
    images = torch.tensor(found.images / 16.0, dtype=torch.float32)[:, None]
    labels = torch.tensor(found.target)

    def model() -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(1, 8, 3), nn.GELU(), nn.Conv2d(8, 16, 3), nn.GELU(), nn.Flatten(), nn.Linear(256, 10)
        )

    def loss(network: nn.Module, inputs: Tensor, answers: Tensor) -> Tensor:
        return nn.functional.cross_entropy(network(inputs), answers)

    return Task(model, loss, (images[:600], labels[:600]), (images[600:], labels[600:]), 100)


def text() -> Task:
    """The next character of the descriptions of scikit-learn's data sets; the last tenth of each is for the test."""
    parts = [getattr(datasets, f"load_{name}")().DESCR for name in TEXTS]
    letters = sorted(set("".join(parts)))
    code = {letter: k for k, letter in enumerate(letters)}
    train, test = [], []
    for part in parts:
        numbers = torch.tensor([code[letter] for letter in part])
        windows = numbers.unfold(0, CONTEXT + 1, 1)
        cut = 9 * len(windows) // 10
        train.append(windows[:cut])
        test.append(windows[cut + CONTEXT :: CONTEXT])
    seen, unseen = torch.cat(train), torch.cat(test)

    def loss(network: nn.Module, inputs: Tensor, answers: Tensor) -> Tensor:
        return nn.functional.cross_entropy(network(inputs).flatten(0, 1), answers.flatten())

    halves = [(windows[:, :-1], windows[:, 1:]) for windows in (seen, unseen)]
    return Task(lambda: Transformer(len(letters)), loss, halves[0], halves[1], 32)


class Transformer(nn.Module):
    """One block of causal attention, written out: fused attention kernels cannot be differentiated twice."""

    def __init__(self, letters: int, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.letters = nn.Embedding(letters, width)
        self.places = nn.Parameter(0.02 * torch.randn(CONTEXT, width))
        self.before = nn.LayerNorm(width)
        self.mixing = nn.Linear(width, 3 * width)
        self.joined = nn.Linear(width, width)
        self.after = nn.LayerNorm(width)
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.out = nn.Linear(width, letters)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self.letters(inputs) + self.places
        x = x + self.attention(self.before(x))
        return self.out(x + self.wide(self.after(x)))

    def attention(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        parts = self.mixing(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-1, -2) / math.sqrt(width // self.heads)
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(later, -math.inf).softmax(-1)
        return self.joined((weights @ value).transpose(1, 2).reshape(batch, length, width))
