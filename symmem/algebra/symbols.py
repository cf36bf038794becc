"""The symbols of every formula, the names of its functions, and the three kinds of values: the floor of the house.

The language is *plain* SymPy: plain symbols, plain undefined functions, ``Sum``.  The name of an atom carries its
kind, so that a formula typed by hand, or read back from JSON, equals the engine's own.
"""

from __future__ import annotations

import re
from enum import Enum

from sympy import Symbol

THETA = Symbol("theta")
GRAD = Symbol("grad")
LOSS = Symbol("loss")
LR = Symbol("lr")
STEP = Symbol("n")
PAST = Symbol("s")
"""The index of a past step in the finite sums that stay: 0 <= s < n."""
AGO = Symbol("k")
"""How many steps ago: the iterate theta_{n-k}."""
VARIANCE = Symbol("variance")
"""Of the gradient of one batch, entry by entry: a vector that depends on theta."""
CHANGE = Symbol("gradient_change")
"""Of the gradient in one step of a straight line: the letter d of a vector, in formulas that people read."""
BATCHES = Symbol("batches")
"""How many batches an epoch has."""

INDEX_NAME = re.compile(r"[qrs][0-9]+")
"""The indices of sums over steps inside one another; no parameter has such a name."""
MOMENTUM_NAME = re.compile(r"m([1-9][0-9]*)")
CONTRACTION_NAME = re.compile(r"D([1-9][0-9]*)L")
POTENTIAL_NAME = re.compile(r"(\w+)_potential")
"""The scalar whose gradient an opaque function is: ``gradK_potential(x)``."""
_DERIVATIVE_NAME = re.compile(r"(\w+?)_jvp([2-9][0-9]*)?")


class Kind(Enum):
    """What an expression is, and which rules it may be treated by."""

    SCALAR = "scalar"
    ENTRYWISE = "entrywise"
    TENSOR = "tensor"


def momentum_symbol(position: int) -> Symbol:
    """The symbol of the momentum variable with the given position, counted from 1."""
    return Symbol(f"m{position}")


def derivative_name(name: str, directions: int) -> str:
    """``gradK, gradK_jvp, gradK_jvp2, ...``: a function of vectors, and its derivatives along so many directions."""
    return name + ("" if directions == 0 else "_jvp" if directions == 1 else f"_jvp{directions}")


def name_and_directions(name: str) -> tuple[str, int]:
    """The way back: ``("gradK", 2)`` of ``gradK_jvp2``, ``("gradK", 0)`` of ``gradK``."""
    match = _DERIVATIVE_NAME.fullmatch(name)
    return (match.group(1), int(match.group(2) or 1)) if match else (name, 0)
