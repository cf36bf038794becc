"""One place for what the truth tests share: the loss, the probe point, and values for the parameters."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest
from sympy import Expr, Rational

import symmem
from symmem.declaration import catalogue
from symmem.declaration.optimizer import Optimizer
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.ridges import potential_map

FIRST, EVERY = catalogue.FIRST, catalogue.names()
"""The table of the design, for heavy tests, and the whole zoo, for cheap ones."""
SHOWN = ("gd", "heavyball", "nesterov", "rmsprop", "adamw", "adamw-torch", "lion", "lion-k")
"""One entry of the table for each thing that a derivation meets: no memory, a sum, a look ahead, a sum over the past
that stays, two averages and a decayed theta, eps outside the root, a jump, a map that is given."""
LOSS = coupled_loss(3)
THETA = probe_point(3)
LR = Rational(1, 100)
FUNCTIONS = {"gradK": potential_map(3)}

GENTLE = {
    "beta": Rational(4, 5),
    "beta1": Rational(7, 10),
    "beta2": Rational(17, 20),
    "eps": Rational(1, 50),
    "weight_decay": Rational(3, 10),
}
"""Betas below 0.9, and an eps that is felt."""


def shown_first(names: Iterable[str], *more: object) -> list[Any]:
    """Parameters of a heavy sweep: those of SHOWN in every run, the others under ``make prove``."""
    rest = pytest.mark.prove
    return [pytest.param(name, *more, marks=[] if name in SHOWN else [rest]) for name in names]


def values_of(optimizer: Optimizer) -> dict[str, Rational]:
    return {p.name: GENTLE.get(p.name, p.default) for p in optimizer.parameters}


def literal_of(optimizer: Optimizer, values: dict[str, Rational] | None = None) -> Literal:
    functions = {function.name: FUNCTIONS[function.name] for function in optimizer.functions}
    return Literal(optimizer, values_of(optimizer) if values is None else values, LOSS, functions)


def number_of(expression: Expr, literal: Literal, *, n: int = 0, theta: object = THETA) -> list[object]:
    """The value of a derived formula at the probe point, 50 digits."""
    scalars = {**literal.numbers, "n": n, "lr": LR}
    found = evaluate(expression, scalars, {"theta": theta}, LOSS, literal.functions)
    return found if isinstance(found, list) else [found] * len(THETA)


@cache
def _of_the_zoo(name: str) -> Optimizer:
    return symmem.load(name)


def load(name: str) -> Optimizer:
    """As ``symmem.load``; an optimizer of the zoo is read once in a run."""
    return _of_the_zoo(name) if name in EVERY else symmem.load(name)
