"""How much of a method a file of Coq states: a paper that refers to the file says no more than that."""

from __future__ import annotations

from enum import Enum


class Extent(Enum):
    """From the whole correction down to nothing of the method itself."""

    CORRECTION = "the gains, the sums over the past, F and M"
    ASSEMBLED = "the gains, the sums over the past, and M put together from them"
    SUMS = "the gains and the sums over the past"
    UPDATE = "the gains, F, and that double sums over the past are single sums"
    GAINS = "the gains"
    NOTHING = "nothing of the method"
