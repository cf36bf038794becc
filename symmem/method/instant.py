"""No memory: ``m^(n) = factor(n) g(theta_n)``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Expr, KroneckerDelta, S

from symmem.method.kernel import Binomials, Number, Realisation
from symmem.method.scaled import Scaled


@dataclass(frozen=True)
class Instant(Scaled):
    """``c(n, 0) = factor(n)``, and nothing of the past."""

    @property
    def decays(self) -> tuple[Expr, ...]:
        return ()

    @property
    def has_memory(self) -> bool:
        return False

    def weight(self, n: Expr, k: Expr) -> Expr:
        return self.scale(n) * KroneckerDelta(k, 0)

    def gain(self, n: Expr) -> Expr:
        return self.scale(n)

    def tail(self, n: Expr, s: Expr) -> Expr:  # noqa: ARG002
        return S.Zero

    def power_moment(self, n: Expr, j: int) -> Expr:
        return self.scale(n) if j == 0 else S.Zero

    def factorial_moment(self, j: int) -> Expr:
        return self.limit_scale if j == 0 else S.Zero

    def transform(self, z: Expr) -> Expr:  # noqa: ARG002
        return self.limit_scale

    @property
    def normaliser(self) -> Expr:
        return self.limit_scale

    @property
    def generators(self) -> tuple[Expr, ...]:
        return ()

    def averaged(self, polynomial: Binomials, numbers: Mapping[Expr, Number]) -> Binomials:  # noqa: ARG002
        return polynomial

    def realisation(self) -> Realisation:
        """``x <- g, m = factor(n) x``."""
        return Realisation(((S.Zero,),), (S.One,), (self.factor,), (S.Zero,))
