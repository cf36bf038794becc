"""How the batches of an epoch are drawn, and what two of them have in common."""

from __future__ import annotations

from sympy import Expr, S

from symmem.algebra.symbols import BATCHES
from symmem.records import record


@record(frozen=True)
class Sampling:
    """In random order without replacement from so many ``batches``, memory empty at the start; None: with replacement.

    Of N batches each is seen once, so that their noise adds up to 0: what two different steps have in common is
    ``-1/(N - 1)`` of what a step has with itself.
    """

    batches: Expr | None = BATCHES

    @property
    def between(self) -> Expr:
        """``rho``: the covariance of the noise at two different steps over that at one."""
        return S.Zero if self.batches is None else -1 / (self.batches - 1)
