"""Kernels with a factor in front: ``c(n, k) = factor(n) shape(n, k)``, as b^(n+1) stands before a momentum variable."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Self

from sympy import Expr, S

from symmem.algebra.atoms import STEP
from symmem.algebra.results import Missing, Sentence
from symmem.algebra.scalars import Scalars
from symmem.method.kernel import Kernel
from symmem.method.realisation import Realisation
from symmem.records import record


@record(frozen=True)
class Scaled(Kernel):
    """``settled`` is the limit of the factor: given by who builds it, plain where the factor does not depend on n."""

    factor: Expr = field(default=S.One, kw_only=True)
    settled: Expr | Missing | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.settled is None:
            object.__setattr__(self, "settled", _plain_limit(self.factor))

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The factor at step n, a field that holds its powers of the step holds them for every index; and its limit."""
        return (self.factor,) if isinstance(self.settled, Missing) else (self.factor, self.settled)

    @property
    def unsettled(self) -> Missing | None:
        """Why the factor has no limit, where it has none."""
        return self.settled if isinstance(self.settled, Missing) else None

    def scale(self, n: Expr) -> Expr:
        """``factor(n)``."""
        return self.factor.xreplace({STEP: n})

    @property
    def shape(self) -> Self:
        """The same kernel with the factor 1."""
        return replace(self, factor=S.One, settled=S.One)

    def scaled(self, factor: Expr) -> Self:
        """The factor and its limit, both times the constant."""
        settled = factor * self.settled if isinstance(self.settled, Expr) else self.settled
        return replace(self, factor=factor * self.factor, settled=settled)

    def joined(self, other: Kernel) -> Kernel | None:
        """Equal shapes: the factors add, and so do their limits."""
        if not isinstance(other, Scaled) or other.shape != self.shape:
            return None
        missing = other.unsettled if self.unsettled is None else self.unsettled
        settled = missing if missing is not None else self.limit_scale + other.limit_scale
        return replace(self, factor=self.factor + other.factor, settled=settled)

    def tidied(self, scalars: Scalars) -> Self:
        """The factor and its limit in lowest terms."""
        settled = scalars.tidy(self.settled) if isinstance(self.settled, Expr) else self.settled
        return replace(self, factor=scalars.tidy(self.factor), settled=settled)

    def limit_realisation(self) -> Realisation:
        """The recursion of the shape, read with the limit of the factor."""
        return replace(
            (plain := self.shape.realisation()), C=tuple(self.limit_scale * entry for entry in plain.C)
        )

    @property
    def limit_scale(self) -> Expr:
        """The limit of the factor; asked only where it exists."""
        assert isinstance(self.settled, Expr), str(self.settled)
        return self.settled


def _plain_limit(factor: Expr) -> Expr | Missing:
    if STEP not in factor.free_symbols:
        return factor
    return Missing(Sentence.of("the limit of ", factor, " for n -> infinity was not given"))
