"""Sums of the kernels along trees after many steps, over the lags of their leaves (mathematics.md section 7, cascades).

In all of them the leaf a is moved along the way, so that its lag a counts; the other leaves are noise.  With the gain g
and ``lag = sum_k k c(k)`` of a kernel, and in brackets equal steps 1, different ones rho,

    fork         [sum k(u) k1(a-u) k2(b-u)]                             = g(k) [k1 k2]
    trident      [sum a k(u) k1(a-u) k2(b-u) k3(c-u)]                   = lag(k k1) [k2 k3]
    bough_above  [sum a k(u) k1(a-u) k'(v-u) k2(b-v) k3(c-v)]           = lag(k k1) g(k') [k2 k3]
    bough_below  the same, a below and b above: sum a k(u) k1(b-u) k'(v-u) k2(a-v) k3(c-v)
    shared       [sum a k(u) k1(a-u) k2(b-u)], a and b one step
    seen         sum_{i>=1} sum_{a>=i} [sum k(u) k1(a-u) k2(b-u) f(c-i)]: b is noise, c that of an update i steps ago
    repeated     sum_{a>=i>=1} [k1(a) f(c-i)]
"""

from __future__ import annotations

from sympy import Expr, Mul, S

from symmem.algebra.scalars import Scalars
from symmem.derivation.noise.kernel_answers import Answers, gain, lag, overlap
from symmem.method.kernel import Kernel
from symmem.method.overlaps import (
    branch_overlap,
    earlier_overlap,
    lagged_branch_overlap,
    lagged_overlap,
    newer_overlap,
    weighted_overlap,
)
from symmem.method.sampling import Sampling


class NoisyLeaves:
    """The sums for one way to draw batches, in the field of a method; each question is asked once."""

    def __init__(self, sampling: Sampling, scalars: Scalars) -> None:
        self._rho = sampling.between
        self._tidy = scalars.tidy
        self._asked = Answers(scalars)

    def lag(self, *kernels: Kernel) -> Expr:
        """``sum_k k c(k)`` of the kernels in series: each has its own, the others their gains."""
        found = S.Zero
        for place, kernel in enumerate(kernels):
            others = (self._gain(other) for other in (*kernels[:place], *kernels[place + 1 :]))
            found += self._asked(lag, kernel) * Mul(*others)
        return self._tidy(found)

    def fork(self, chain: Kernel, one: Kernel, other: Kernel) -> Expr:
        """``g(k) [k1 k2]``."""
        return self._tidy(self._gain(chain) * self._pair(one, other))

    def trident(self, chain: Kernel, leaf: Kernel, one: Kernel, other: Kernel) -> Expr:
        """``lag(k k1) [k2 k3]``."""
        return self._tidy(self.lag(chain, leaf) * self._pair(one, other))

    def bough_above(self, chain: Kernel, leaf: Kernel, branch: Kernel, one: Kernel, other: Kernel) -> Expr:
        """``lag(k k1) g(k') [k2 k3]``."""
        return self._tidy(self.lag(chain, leaf) * self._gain(branch) * self._pair(one, other))

    def bough_below(self, chain: Kernel, one: Kernel, branch: Kernel, leaf: Kernel, other: Kernel) -> Expr:
        """``lag(k k2) [sum_w k'(w) X_13(w)] + g(k) g(k2) [sum_w w k'(w) X_13(w)]``."""
        whole = self._gain(one) * self._gain(other)
        plain = self._mixed(self._asked(branch_overlap, branch, one, other), self._gain(branch) * whole)
        lagged = self._mixed(self._asked(lagged_branch_overlap, branch, one, other), self.lag(branch) * whole)
        return self._tidy(self.lag(chain, leaf) * plain + self._gain(chain) * self._gain(leaf) * lagged)

    def shared(self, chain: Kernel, leaf: Kernel, other: Kernel) -> Expr:
        """``lag(k) [k1 k2] + g(k) [sum_j j k1(j) k2(j)]``."""
        lagged = self._mixed(self._asked(lagged_overlap, leaf, other), self.lag(leaf) * self._gain(other))
        return self._tidy(self.lag(chain) * self._pair(leaf, other) + self._gain(chain) * lagged)

    def seen(self, chain: Kernel, leaf: Kernel, one: Kernel, update: Kernel) -> Expr:
        """The update lies below the fork, ``g(k) sum_{w>=1} tail_1(w) X_2f(w)``, or above it: the other sum."""
        below = self._gain(chain) * self._asked(weighted_overlap, leaf, one, update)
        above = self._gain(leaf) * self._asked(newer_overlap, chain, update, one)
        return self._tidy(
            self._mixed(below + above, self.lag(chain, leaf) * self._gain(one) * self._gain(update))
        )

    def repeated(self, leaf: Kernel, update: Kernel) -> Expr:
        """``[sum_{i>=1} X_1f(i)]``."""
        equal = self._asked(earlier_overlap, leaf, update)
        return self._tidy(self._mixed(equal, self.lag(leaf) * self._gain(update)))

    def _pair(self, one: Kernel, other: Kernel) -> Expr:
        return self._mixed(self._asked(overlap, one, other), self._gain(one) * self._gain(other))

    def _gain(self, kernel: Kernel) -> Expr:
        return self._asked(gain, kernel)

    def _mixed(self, equal: Expr, all_pairs: Expr) -> Expr:
        return equal + self._rho * (all_pairs - equal)
