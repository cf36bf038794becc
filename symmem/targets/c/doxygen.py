"""What the header of a built library says of its functions, in comments that Doxygen reads.

A function is told once, with its arguments; those on vectors of other types refer to it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from symmem.program.updates import UPDATES
from symmem.targets.c.launches import IN_PLACE

WIDTH = 96
CLAIMS = {
    "memoryless": "F: the update on a constant history.",
    "direction": "The vectors whose products with the Hessian the other functions need.",
    "correction": "M = lr F_1: what memory adds to the update. `out` may be one of the inputs.",
    "step": "theta <- theta - lr (F + M), in place and in one pass.",
    "straight": "The update on a straight-line history: the step is theta - lr * straight. `out` may be an input.",
    "update": "A step n >= 0 of the optimizer with its memory: theta and memory change in place, in one pass.",
    "corrected_update": "The same step with strength * M in it: -1 takes the effect of memory away.",
    "straight_update": "The same step with strength * (straight - F) in it: bounded where M is not.",
}
_RETURNS = "SYMMEM_OK, or another symmem_status that says what is wrong: then nothing has been written"


def comment(role: str, prefix: str, arguments: Iterable[str]) -> list[str]:
    """The claim of a function, a line for each of its arguments, and what it returns."""
    told = _arguments(role, prefix)
    lines = [CLAIMS[role], *(f"@param {name} {told[name]}" for name in arguments), f"@return {_RETURNS}"]
    return [part for line in lines for part in textwrap.wrap(line, WIDTH, subsequent_indent="    ")]


def _arguments(role: str, prefix: str) -> dict[str, str]:
    """What the arguments of a function are."""
    several = f"{prefix}_directions(n) vectors, one after another"
    return {
        "theta": "the parameters, which change" if role in IN_PLACE else "the parameters",
        "grad": "the gradient of the loss at theta",
        "hv": f"the Hessian of the loss at theta times the directions: {several}",
        "memory": f"what the optimizer keeps, which changes: {prefix}_memories() vectors, one after another",
        "out": f"the result: {several}" if role == "direction" else "the result",
        "count": "how many entries a vector has",
        "n": "the step, from 0"
        if role in UPDATES
        else "the step, from 0; the limit of many steps where it is negative",
        "lr": "the learning rate",
        "strength": "how often the effect of memory is added",
        "params": "the parameters of the optimizer",
    }
