"""The kernel of a momentum variable: how much of the past it holds.  What the theory asks of a memory, and no more.

    m^(n) = sum_{k=0..n} c(n, k) g(theta_{n-k}),        n counts from 0

A :class:`Kernel` answers for c(n, k) at finite n, and for its limit c(k), n -> infinity (mathematics.md section 9).
Nobody above this room knows which kernel it has before it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from math import factorial
from typing import Any

from sympy import Add, Expr, S, Sum, Symbol
from sympy.functions.combinatorial.numbers import stirling

from symmem.algebra.atoms import AGO, STEP
from symmem.algebra.ranges import Ranges
from symmem.algebra.results import Missing
from symmem.algebra.scalars import Scalars
from symmem.method.realisation import Realisation
from symmem.method.recursions import Recursions, joined
from symmem.method.sums import added

Number = Any
"""A polynomial with integer coefficients, a ``flint.fmpz_mpoly``: python-flint ships no types."""
Binomials = list[Number]
"""``[d_0, d_1, ...]`` for the polynomial ``sum_j d_j C(k, j)``."""


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
    def remembered(self) -> Kernel:
        """The kernel without those parts that have no memory; they see no past step."""
        return self

    @property
    def unsettled(self) -> Missing | None:
        """Why the weights have no known limit n -> infinity; None where they have one."""
        return None

    @property
    def depth(self) -> int:
        """How many sums stand inside one another in its answers for finite n."""
        return 0

    def scale(self, n: Expr) -> Expr:  # noqa: ARG002
        """A factor in front of all weights: ``c(n, k) = scale(n) shape(n, k)``."""
        return S.One

    @property
    def shape(self) -> Kernel:
        """The kernel without its scale; variables whose shapes are equal remember the same sums over the past."""
        return self

    @property
    def summands(self) -> tuple[Kernel, ...]:
        """Kernels that add up to this one, for those who take sums apart."""
        return (self,)

    @abstractmethod
    def weight(self, n: Expr, k: Expr) -> Expr:
        """``c(n, k)`` for 0 <= k <= n."""

    @abstractmethod
    def gain(self, n: Expr) -> Expr:
        """``sum_{k=0..n} c(n, k)``: what it makes of a constant history."""

    def looks_at(self, n: Expr) -> Expr | None:  # noqa: ARG002
        """The one step at which it looks, with the weight gain(n); None where it looks at many."""
        return None

    def seen_until(self, n: Expr, s: Expr) -> Expr | None:  # noqa: ARG002
        """The last step r <= n at which it holds nothing newer than step s, with one gain at all steps; else None."""
        return None

    def looked(self, value: Callable[[Expr], Expr], n: Expr, index: Symbol) -> Expr:
        """``sum_{r=0..n} c(n, n-r) value(r)``: what it makes of these values; ``index`` is that of a sum that stays."""
        at = self.looks_at(n)
        if at is not None:
            return self.gain(n) * value(at)
        return added(self.weight(STEP, STEP - index) * value(index), index, S.Zero, STEP, {STEP: n})

    @abstractmethod
    def tail(self, n: Expr, s: Expr) -> Expr:
        """``sum_{k=n-s..n} c(n, k)`` for 0 <= s < n: the weight of the step from theta_s to theta_{s+1}."""

    def tails(self, n: Expr, s: Expr) -> tuple[Expr, ...]:
        """Parts that add up to the tail, each a sum of one kind, for those who take sums apart."""
        return (self.tail(n, s),)

    def spans(self, n: Expr, s: Expr) -> tuple[tuple[Expr, Expr, Expr], ...]:
        """Parts of the tail over ``s = 0..n-1``, each with the first and the last s of its own: beyond them it is 0."""
        return ((self.tail(n, s), S.Zero, n - 1),)

    @abstractmethod
    def power_moment(self, n: Expr, j: int) -> Expr:
        """``sum_{k=0..n} k^j c(n, k)``; ``0^0 = 1``."""

    def applied(self, n: Expr, value: Callable[[Expr], Expr]) -> Expr:
        """``sum_{k=0..n} c(n, k) value(k)`` for a vector that depends on the lag k."""
        return Sum(self.weight(n, AGO) * value(AGO), (AGO, 0, n))

    @abstractmethod
    def limit_applied(self, value: Callable[[Expr], Expr]) -> Expr:
        """``sum_{k>=0} c(k) value(k)`` in the limit."""

    @abstractmethod
    def has_one_sign(self, ranges: Ranges) -> bool:
        """Whether it is known that no two weights have different signs, for all values of the parameters."""

    @abstractmethod
    def factorial_moment(self, j: int) -> Expr:
        """``f_j = sum_{k>=0} C(k, j) c(k)`` in the limit, so that ``sum_j c(j) p(k+j) = sum_i f_i Delta^i p(k)``.

        Asked only where ``unsettled`` is None, as are the questions below.
        """

    def limit_moment(self, j: int) -> Expr:
        """``sum_{k>=0} k^j c(k) = sum_i stirling(j, i) i! f_i`` in the limit."""
        factors = ((i, int(stirling(j, i)) * factorial(i)) for i in range(j + 1))
        return Add(*(factor * self.factorial_moment(i) for i, factor in factors if factor))

    @property
    def limit_gain(self) -> Expr:
        """``f_0``: the gain for n -> infinity."""
        return self.factorial_moment(0)

    @abstractmethod
    def transform(self, z: Expr) -> Expr:
        """``W(z) = sum_{k>=0} c(k) z^k`` in the limit."""

    @abstractmethod
    def limit_weight(self, k: int) -> Expr:
        """``c(k)``: the weight of the value k steps ago, in the limit."""

    def limit_tail(self, j: Expr) -> Expr | None:  # noqa: ARG002
        """``sum_{k>=j} c(k)`` for a symbol j >= 1, in the limit; None where it has no formula."""
        return None

    def limit_spans(self, j: Expr) -> tuple[tuple[Expr, Expr, Expr], ...] | None:
        """Parts of that tail, each with the first and the last j of its own; None where one has no formula."""
        tail = self.limit_tail(j)
        return None if tail is None else ((tail, S.One, S.Infinity),)

    @abstractmethod
    def realisation(self) -> Realisation:
        """The linear recursion that computes m as the method runs."""

    @abstractmethod
    def limit_realisation(self) -> Realisation:
        """The same after many steps: ``c(k) = C A^k B`` with constant entries."""

    def overlap(self, other: Kernel) -> Expr:
        """``sum_{k>=0} c(k) c'(k)`` in the limit: what noise in both has in common."""
        both = Recursions(self.limit_realisation(), other.limit_realisation())
        return both.read(both.summed(joined(both.fed(0), both.fed(1)), (True, True)))

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
