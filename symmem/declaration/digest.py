"""A short text that tells declarations apart: formulas and compiled kernels of one optimizer have the same."""

from __future__ import annotations

import hashlib
import json

from symmem.declaration.optimizer import Optimizer

LENGTH = 16


def digest(optimizer: Optimizer, *, scheduled: bool = True) -> str:
    """Sixteen hexadecimal digits of what is computed: the expressions, the delays, the order of the parameters.

    A schedule is in it where it is applied, which is what ``scheduled`` says.  Defaults, ranges, titles and references
    are not in it: with the same values given they change no number.
    """
    computed = (
        optimizer.name,
        [parameter.name for parameter in optimizer.parameters],
        optimizer.phi,
        [(each.g, each.beta, each.b, each.delay, each.start) for each in optimizer.momentum],
        [(each.function, each.formula) for each in optimizer.smooth],
        optimizer.schedule if scheduled else None,
    )
    return hashlib.sha256(json.dumps(computed, default=str).encode()).hexdigest()[:LENGTH]
