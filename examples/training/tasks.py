"""Two tasks that need no download: a network on scikit-learn's digits, a transformer on Python's own documentation."""

from __future__ import annotations

import importlib
import inspect
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

CONTEXT, WIDTH, HEADS, LETTERS = 32, 32, 4, 200_000
MODULES = (
    *("argparse", "collections", "contextlib", "datetime", "decimal", "difflib", "doctest", "email.message"),
    *("fractions", "functools", "heapq", "inspect", "itertools", "json", "logging", "math", "os", "pathlib"),
    *("random", "re", "shutil", "statistics", "string", "subprocess", "tarfile", "textwrap", "threading"),
    *("tokenize", "types", "typing", "unittest", "urllib.request", "uuid", "zipfile"),
)


@dataclass(frozen=True)
class Task:
    """A model to build, the loss of a batch, batches to train on, and fixed data to judge by."""

    name: str
    model: Callable[[], nn.Module]
    loss: Callable[[nn.Module, Tensor, Tensor], Tensor]
    train: tuple[Tensor, Tensor]
    held_out: tuple[Tensor, Tensor]
    batch: int

    def sample(self, random: torch.Generator) -> tuple[Tensor, Tensor]:
        """A mini-batch."""
        chosen = torch.randint(len(self.train[0]), (self.batch,), generator=random)
        return self.train[0][chosen], self.train[1][chosen]


def digits() -> Task:
    """A GELU network 64-64-64-10: 1,197 images to train on, the last 600 held out."""
    found = load_digits()
    images, labels = torch.tensor(found.data / 16.0, dtype=torch.float32), torch.tensor(found.target)

    def model() -> nn.Module:
        layers = (nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 10))
        return nn.Sequential(*layers)

    def loss(network: nn.Module, inputs: Tensor, answers: Tensor) -> Tensor:
        return nn.functional.cross_entropy(network(inputs), answers)

    return Task("digits", model, loss, (images[:-600], labels[:-600]), (images[-600:], labels[-600:]), 64)


def documentation() -> Iterator[str]:
    """Python's licence, where this Python has its text, and the docstrings of standard modules."""
    licence = Path(os.__file__).with_name("LICENSE.txt")
    yield licence.read_text(encoding="utf-8") if licence.exists() else ""
    for name in MODULES:
        module = importlib.import_module(name)
        yield inspect.getdoc(module) or ""
        for _, member in sorted(vars(module).items()):
            if getattr(member, "__module__", None) == name:
                yield inspect.getdoc(member) or ""
                methods = vars(member) if inspect.isclass(member) else {}
                yield from (inspect.getdoc(method) or "" for method in methods.values() if callable(method))


def text() -> Task:
    """The next letter of this text; the last tenth is held out."""
    words = "\n".join(dict.fromkeys(part for part in documentation() if part))
    words = "".join(letter if letter.isascii() else "?" for letter in words)[:LETTERS]
    letters = sorted(set(words))
    code = {letter: k for k, letter in enumerate(letters)}
    numbers = torch.tensor([code[letter] for letter in words])
    cut = 9 * len(numbers) // 10
    seen = numbers[:cut].unfold(0, CONTEXT + 1, 1)
    unseen = numbers[cut:].unfold(0, CONTEXT + 1, CONTEXT)

    def loss(network: nn.Module, inputs: Tensor, answers: Tensor) -> Tensor:
        return nn.functional.cross_entropy(network(inputs).flatten(0, 1), answers.flatten())

    train, held_out = ((windows[:, :-1], windows[:, 1:]) for windows in (seen, unseen))
    return Task("text", lambda: Transformer(len(letters)), loss, train, held_out, 16)


class Block(nn.Module):
    """Causal attention, written out: fused attention kernels cannot be differentiated twice."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mixing, self.joined = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.before(x))
        return x + self.wide(self.after(x))

    def attention(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        parts = self.mixing(x).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(later, -math.inf).softmax(-1)
        return self.joined((weights @ value).transpose(1, 2).reshape(batch, length, WIDTH))


class Transformer(nn.Module):
    """Two blocks between an embedding of letters and a linear layer."""

    def __init__(self, letters: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(letters, WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(CONTEXT, WIDTH))
        self.blocks = nn.Sequential(Block(), Block())
        self.out = nn.Linear(WIDTH, letters)

    def forward(self, inputs: Tensor) -> Tensor:
        found: Tensor = self.out(self.blocks(self.letters(inputs) + self.places))
        return found
