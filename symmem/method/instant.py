"""No memory: ``m^(n) = factor(n) g(theta_n)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sympy import Expr, Min, S

from symmem.algebra.ranges import Ranges
from symmem.method.kernel import Binomials, Number
from symmem.method.realisation import Realisation
from symmem.method.scaled import Scaled
from symmem.records import record


@record(frozen=True)
class Instant(Scaled):
    """``c(n, 0) = factor(n)``, and nothing of the past."""

    @property
    def decays(self) -> tuple[Expr, ...]:
        """None."""
        return ()

    @property
    def has_memory(self) -> bool:
        """No: ``c(n, k) = 0`` for k >= 1."""
        return False

    def weight(self, n: Expr, k: Expr) -> Expr:
        """``factor(n) [k = 0]``."""
        return self.scale(n) * (1 - Min(1, k))

    def gain(self, n: Expr) -> Expr:
        """``factor(n)``."""
        return self.scale(n)

    def looks_at(self, n: Expr) -> Expr:
        """n itself."""
        return n

    def tail(self, n: Expr, s: Expr) -> Expr:  # noqa: ARG002
        """0: no past step is seen."""
        return S.Zero

    def power_moment(self, n: Expr, j: int) -> Expr:
        """``factor(n) [j = 0]``."""
        return self.scale(n) if j == 0 else S.Zero

    def applied(self, n: Expr, value: Callable[[Expr], Expr]) -> Expr:
        """``factor(n) value(0)``."""
        return self.scale(n) * value(S.Zero)

    def limit_applied(self, value: Callable[[Expr], Expr]) -> Expr:
        """``settled value(0)``."""
        return self.limit_scale * value(S.Zero)

    def has_one_sign(self, ranges: Ranges) -> bool:  # noqa: ARG002
        """It has one weight."""
        return True

    def factorial_moment(self, j: int) -> Expr:
        """``settled [j = 0]``."""
        return self.limit_scale if j == 0 else S.Zero

    def limit_weight(self, k: int) -> Expr:
        """``settled [k = 0]``."""
        return self.factorial_moment(k)

    def limit_tail(self, j: Expr) -> Expr:  # noqa: ARG002
        """0."""
        return S.Zero

    def transform(self, z: Expr) -> Expr:  # noqa: ARG002
        """``W(z) = settled``."""
        return self.limit_scale

    @property
    def normaliser(self) -> Expr:
        """The limit of the factor: what is left is 1."""
        return self.limit_scale

    @property
    def generators(self) -> tuple[Expr, ...]:
        """None: the normalised moments are 1, 0, 0, ..."""
        return ()

    def averaged(self, polynomial: Binomials, numbers: Mapping[Expr, Number]) -> Binomials:  # noqa: ARG002
        """``p(k)`` itself."""
        return polynomial

    def realisation(self) -> Realisation:
        """``x <- g, m = factor(n) x``."""
        return Realisation(((S.Zero,),), (S.One,), (self.factor,), (S.Zero,))
