"""Rates and gains that are known to grow without bound: the theorem asks for updates that do not (section 2).

``b = n + 1`` and the rate ``(1 - n/100)**2``, which is meant for the first 100 steps alone.  What only may grow is an
assumption; of what does grow nothing is assumed, and how close the iteration of step n stays is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, oo

from symmem.algebra.atoms import STEP
from symmem.algebra.limits import known_limit
from symmem.algebra.results import Part, Sentence, Unknown
from symmem.algebra.scalars import Scalars
from symmem.derivation.gains import gains, unsettled
from symmem.method.method import Method


def grows(scalar: Expr, numbers: Scalars) -> bool:
    """Whether the scalar is known to tend to infinity, of either sign, with n."""
    if STEP not in scalar.free_symbols:
        return False
    return known_limit(scalar, numbers) in (oo, -oo) or known_limit(1 / scalar, numbers) == 0


def growing(method: Method) -> Iterator[tuple[Part, ...]]:
    """The rate and the gains that grow, each with its name."""
    if method.rate is not None and grows(method.rate.factor, method.numbers):
        yield "the rate ", method.rate.factor
    if unsettled(method) is not None:
        yield from (("the gain ", gain) for gain in gains(method) if grows(gain, method.numbers))


def not_bounded(method: Method) -> Iterator[Unknown]:
    """What is not known where something grows."""
    for words in growing(method):
        why = (*words, " grows without bound; look at no more steps than those for which it is meant")
        yield Unknown(Sentence.of("how close the iteration of step n stays is not known: ", *why))
