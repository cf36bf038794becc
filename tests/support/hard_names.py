"""Declarations whose parameters have names that could be in the way of emitted code, and the values of their steps."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable
from functools import cache

import numpy as np
import probe
from truth import LR, literal_of, number_of

import symmem
from symmem.declaration.names import check_name
from symmem.declaration.records import VectorFunction
from symmem.derivation.derivation import Derivation
from symmem.errors import DeclarationError

PYTHON = {
    *keyword.softkwlist,
    *(name for name in dir(builtins) if "Error" not in name and "Warning" not in name),
}
PYTHON |= {"ValueError", "TypeError", "cls", "self", "params", "closure", "state", "group"}
NEAR = (
    "g", "v1", "h1", "k1", "c1", "x1", "t1", "p1", "hv1", "np", "jnp", "jax", "torch", "math", "float",
    "range", "value", "ValueError", "int",
)  # fmt: skip
"""Names that entrywise functions and bodies have: each stands by itself in an entrywise function."""
RATE = float(LR)


def is_accepted(name: str) -> bool:
    try:
        check_name(name)
    except DeclarationError:
        return False
    return True


@cache
def derivation_of(chosen: tuple[str, ...], *, near: bool = False, label: str = "odd") -> Derivation:
    """Each name stands in a number; the near ones also by themselves in an entrywise function."""
    weighted = " + ".join(f"{position % 3 + 1}*{name}" for position, name in enumerate(chosen))
    by_itself = "".join(f" + tanh({name}*m2)" for name in chosen if near or chosen == NEAR)
    optimizer = symmem.Optimizer(
        name=label,
        phi=f"m1/sqrt(m1**2 + 1) + m2 + m3{by_itself}",
        momentum=[
            symmem.Momentum("grad", "1/2", "(1/2)/(1 - (1/2)**(n + 1))"),
            symmem.Momentum("grad", "0", "1"),
            symmem.Momentum("theta", "0", f"({weighted})/1000"),
        ],
        parameters={name: {"default": 0.3 + position / 500} for position, name in enumerate(chosen)},
    )
    return symmem.derive(optimizer)


@cache
def step_of(derivation: Derivation, n: int | None) -> list[float]:
    """The step, 50 digits, by the evaluation of verification."""
    update, change = (
        (derivation.F, derivation.M) if n is not None else (derivation.limit.F, derivation.limit.M)
    )
    literal = literal_of(derivation.optimizer)
    first, second = (number_of(each, literal, n=n or 0) for each in (update, change))
    return [x - RATE * float(f + m) for x, f, m in zip(probe.THETA64, first, second, strict=True)]


def assert_right(found: Iterable[float], derivation: Derivation, n: int | None) -> None:
    np.testing.assert_allclose(np.asarray(list(found)), step_of(derivation, n), rtol=1e-12)


OPAQUE = (
    "np",
    "torch",
    "math",
    "hv1",
    "g",
    "v1",
    "super",
    "functions",
    "params",
    "FORMULAS",
    "range",
    "learning_rate",
)
"""Names of opaque functions that could be in the way."""


@cache
def with_functions(names: tuple[str, ...]) -> Derivation:
    """A method that calls opaque functions by these names; each has a weight of its own."""
    optimizer = symmem.Optimizer(
        name="open",
        phi=" + ".join(
            f"{name}({position}*m1)/{position + 1}" for position, name in enumerate(names, start=1)
        ),
        momentum=[symmem.Momentum("grad", "beta", "1 - beta")],
        parameters={"beta": 0.5},
        functions=[VectorFunction(name) for name in names],
    )
    return symmem.derive(optimizer)
