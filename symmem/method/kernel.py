"""The kernel of a momentum variable: how much of the past it holds.  What the theory asks of a memory, and no more.

    m^(n) = sum_{k=0..n} c(n, k) g(theta_{n-k}),        n counts from 0

A :class:`Kernel` answers for c(n, k) at finite n, and for its limit c(k), n -> infinity (mathematics.md section 9).
Nobody above this room knows which kernel it has before it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Expr, S

from symmem.algebra.results import Missing
from symmem.algebra.scalars import Scalars

Number = Any
"""A polynomial with integer coefficients, a ``flint.fmpz_mpoly``: python-flint ships no types."""
Binomials = list[Number]
"""``[d_0, d_1, ...]`` for the polynomial ``sum_j d_j C(k, j)``."""


@dataclass(frozen=True)
class Realisation:
    """The kernel as it runs: ``x <- A x + B g``, then ``m = C(n) x``; before the step n = 0 the state x is ``first``.

    ``first`` holds for each entry of x the factor with which it starts at g(theta_0), 0 for a state that starts at 0.
    """

    A: tuple[tuple[Expr, ...], ...]
    B: tuple[Expr, ...]
    C: tuple[Expr, ...]
    first: tuple[Expr, ...]


class Kernel(ABC):
    """A memory: weights c(n, k) of the values k steps ago, at step n."""

    @property
    @abstractmethod
    def expressions(self) -> tuple[Expr, ...]:
        """Scalars that the method's exact field has to hold."""

    @property
    @abstractmethod
    def decays(self) -> tuple[Expr, ...]:
        """What is raised to the power n in the weights, and vanishes for n -> infinity."""

    @property
    def has_memory(self) -> bool:
        """Whether some weight c(n, k) with k >= 1 is not zero."""
        return True

    @property
    def unsettled(self) -> Missing | None:
        """Why the weights have no known limit n -> infinity; None where they have one."""
        return None

    def scale(self, n: Expr) -> Expr:  # noqa: ARG002
        """A factor in front of all weights: ``c(n, k) = scale(n) shape(n, k)``."""
        return S.One

    @property
    def shape(self) -> Kernel:
        """The kernel without its scale; variables whose shapes are equal remember the same sums over the past."""
        return self

    @abstractmethod
    def weight(self, n: Expr, k: Expr) -> Expr:
        """``c(n, k)`` for 0 <= k <= n."""

    @abstractmethod
    def gain(self, n: Expr) -> Expr:
        """``sum_{k=0..n} c(n, k)``: what it makes of a constant history."""

    @abstractmethod
    def tail(self, n: Expr, s: Expr) -> Expr:
        """``sum_{k=n-s..n} c(n, k)`` for 0 <= s < n: the weight of the step from theta_s to theta_{s+1}."""

    @abstractmethod
    def power_moment(self, n: Expr, j: int) -> Expr:
        """``sum_{k=0..n} k^j c(n, k)``; ``0^0 = 1``."""

    @abstractmethod
    def factorial_moment(self, j: int) -> Expr:
        """``f_j = sum_{k>=0} C(k, j) c(k)`` in the limit, so that ``sum_j c(j) p(k+j) = sum_i f_i Delta^i p(k)``.

        Asked only where ``unsettled`` is None, as are the questions below.
        """

    @property
    def limit_gain(self) -> Expr:
        """``f_0``: the gain for n -> infinity."""
        return self.factorial_moment(0)

    @abstractmethod
    def transform(self, z: Expr) -> Expr:
        """``W(z) = sum_{k>=0} c(k) z^k`` in the limit."""

    @abstractmethod
    def realisation(self) -> Realisation:
        """The linear recursion that computes m as the method runs."""

    @property
    @abstractmethod
    def normaliser(self) -> Expr:
        """What the limit weights are divided by in :meth:`averaged`: the gain, or 1 where that may be zero."""

    @property
    @abstractmethod
    def generators(self) -> tuple[Expr, ...]:
        """The scalars, not 0, in which the normalised factorial moments are integer polynomials."""

    @abstractmethod
    def averaged(self, polynomial: Binomials, numbers: Mapping[Expr, Number]) -> Binomials:
        """``sum_j c(j) p(k+j) / normaliser = sum_i (f_i/normaliser) Delta^i p(k)``, over the binomials C(k, j).

        There ``Delta`` is a shift: ``Delta C(k, j) = C(k, j-1)``.  ``numbers`` has the generators.
        """

    @abstractmethod
    def scaled(self, factor: Expr) -> Kernel:
        """The kernel times a constant."""

    def joined(self, other: Kernel) -> Kernel | None:  # noqa: ARG002
        """The sum of both where it is a kernel of the same shape; else None."""
        return None

    @abstractmethod
    def tidied(self, scalars: Scalars) -> Kernel:
        """The same kernel, its scalars in lowest terms."""


def side_by_side(realisations: Sequence[Realisation]) -> Realisation:
    """The realisation of a sum: all states at once, and m the sum of what they give."""
    total = sum(len(each.B) for each in realisations)
    rows: list[tuple[Expr, ...]] = []
    for each in realisations:
        before = (S.Zero,) * len(rows)
        after = (S.Zero,) * (total - len(rows) - len(each.B))
        rows += [(*before, *row, *after) for row in each.A]
    return Realisation(
        tuple(rows),
        tuple(entry for each in realisations for entry in each.B),
        tuple(entry for each in realisations for entry in each.C),
        tuple(entry for each in realisations for entry in each.first),
    )
