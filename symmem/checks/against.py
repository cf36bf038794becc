"""``--against NAME``: how the program's arguments come from the declared parameters.

The declaration's own ``[implementation]`` says it, where it names this program; else arguments go by their names, and a
parameter for which the program has no place is a refusal: guessing would compare two different optimizers.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from sympy import Symbol

from symmem.declaration.implementation import Argument, Implementation
from symmem.declaration.optimizer import Optimizer
from symmem.verification.implementations import found
from symmem.verification.vectors import VerificationError

SEVERAL = "betas"
OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "beta": ("momentum", "alpha", "decay", "rho"),
    "beta1": ("b1", "beta_1"),
    "beta2": ("b2", "beta_2"),
    "beta3": ("b3", "beta_3"),
}
"""What libraries call a decay."""


def program_of(optimizer: Optimizer, path: str) -> Implementation:
    """The program with this path, called with the parameters of the declaration."""
    declared = optimizer.implementation
    if declared is not None and declared.name == path:
        return declared
    keywords = _keywords(path)
    arguments: dict[str, Argument] = {}
    names = [parameter.name for parameter in optimizer.parameters]
    decays = [name for name in names if name in ("beta1", "beta2", "beta3")]
    if SEVERAL in keywords and decays:
        arguments[SEVERAL] = tuple(map(Symbol, decays))
        names = [name for name in names if name not in decays]
    for name in names:
        keyword = next((each for each in (name, *OTHER_NAMES.get(name, ())) if each in keywords), None)
        if keyword is None:
            raise VerificationError(
                f"{path} has no argument for {name}; say in [implementation] of the declaration how it is called"
            )
        arguments[keyword] = Symbol(name)
    return Implementation(path, tuple(arguments.items()))


def _keywords(path: str) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(found(path)).parameters)
    except (TypeError, ValueError):  # a class written in C has no signature
        return frozenset()
