"""The derivation with the rate as a symbol: what memory does while the optimizer moves (mathematics.md section 2).

Where the rate changes little while memory fades, every result of the limit has ``rate(n) h`` in the place of h:
``M = h rate(n) F_1``, and the modified loss is ``L + h rate(n) c R``.  The number c is that of the optimizer without a
schedule, whatever the rate tends to; its settled limit would have r c, and nothing where r = 0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from symmem.algebra.atoms import STEP
from symmem.algebra.families import RATE
from symmem.derivation.derivation import Derivation
from symmem.method.rate import Rate

Kind = TypeVar("Kind", bound=Derivation)


def is_rated(derivation: Derivation) -> bool:
    """Whether a schedule changes the limit: the rate does not settle at 1."""
    rate = derivation.method.rate
    return rate is not None and rate.settled != 1


def at_slow_rate(derivation: Kind) -> Kind:
    """The derivation whose limit has the symbol ``rate(n)``; itself where no rate has to be told."""
    rate = derivation.method.rate
    if rate is None or not is_rated(derivation):
        return derivation
    return replace(derivation, method=replace(derivation.method, rate=Rate(rate.factor, RATE(STEP))))
