"""Sums over the past of an optimizer whose steps are noisy, at a step and after many (mathematics.md section 7).

The noise of step s enters a momentum variable r steps later, and the update at step s again enters what lies between
theta_s and the present.  To second order in the noise all that is asked of the past are five sums of vectors:

    way(l)             S_l   = sum_s tail_l(n, s) F^(s)
    noisy_way(l)       N_l   = sum_s tail_l(n, s) N^(s)                N: what noise adds to the frozen update
    common_way(l, q)   E_lq  = sum_s e_lq(n, s) F^(s),                 e = sum_{k>=n-s} c_l(n, k) [c_q(n, k)]
    seen(l, q, r)      W_lqr = sum_s tail_l(n, s) [X_qr(n, s)] w_r(s)  w_r = d_r Phi g_r': the noise of an update
    repeated(l, r)     Y_lr  = sum_s [X_lr(n, s)] w_r(s),              X_qr(n, s) = sum_j c_q(n, n-s+j) c_r(s, j)

In the brackets a pair of equal steps counts 1 and a pair of different ones rho, as :class:`Sampling` says:
``[X_qr] = (1 - rho) X_qr + rho gain_q gain_r``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

from sympy import Add, Expr, Integer

from symmem.algebra.atoms import STEP
from symmem.derivation.gains import Gains, frozen_update, gains, limit_gains
from symmem.derivation.noise.frozen_noise import frozen_noise, noise_of_update, paired
from symmem.method.kernel import Kernel
from symmem.method.method import Method
from symmem.method.overlaps import earlier_overlap, lagged_overlap, weighted_overlap
from symmem.method.sampling import Sampling
from symmem.records import record
from symmem.work import checkpoint


@record(frozen=True)
class NoisyPast(ABC):
    """What the correction asks of the past; channels are named by their places."""

    method: Method
    sampling: Sampling

    @property
    @abstractmethod
    def gains(self) -> Gains:
        """Of the channels, now."""

    @abstractmethod
    def pair(self, q: int, r: int) -> Expr:
        """``K_qr = [sum_k c_q(n, k) c_r(n, k)]``."""

    @abstractmethod
    def way(self, place: int) -> Expr:
        """``S_l``."""

    @abstractmethod
    def noisy_way(self, place: int) -> Expr:
        """``N_l``."""

    @abstractmethod
    def common_way(self, place: int, q: int) -> Expr:
        """``E_lq``."""

    @abstractmethod
    def seen(self, place: int, q: int, r: int) -> Expr:
        """``W_lqr``."""

    @abstractmethod
    def repeated(self, place: int, r: int) -> Expr:
        """``Y_lr``."""

    def _kernel(self, place: int) -> Kernel:
        return self.method.channels[place].kernel

    def _mixed(self, equal: Expr, all_pairs: Expr) -> Expr:
        return paired(equal, all_pairs, self.sampling)


@record(frozen=True)
class SettledPast(NoisyPast):
    """After many steps: one update at every past step, and sums of kernels in closed form.

    Heavy ball: ``sum_k k beta^k``, and ``sum_{i>=1} sum_j beta^(i+j) beta^j``:

    >>> from symmem import load
    >>> from symmem.method.reading import method_of
    >>> past = SettledPast(method_of(load("heavyball")), Sampling(None))
    >>> past.lag(0), past.repeated_lag(0, 0)
    (beta/(1 - beta)**2, beta/((1 - beta)**2*(beta + 1)))
    """

    @property
    def gains(self) -> Gains:
        """The limits of the gains."""
        return limit_gains(self.method)

    def pair(self, q: int, r: int) -> Expr:
        """``sum_k c_q(k) c_r(k)``, and the product of the gains."""
        return self._mixed(self._kernel(q).overlap(self._kernel(r)), self.gains[q] * self.gains[r])

    def way(self, place: int) -> Expr:
        """``sum_k k c_l(k) F``."""
        return self.lag(place) * frozen_update(self.method, self.gains)

    def noisy_way(self, place: int) -> Expr:
        """``sum_k k c_l(k) N``."""
        return self.lag(place) * frozen_noise(self.method, self.gains, self.pair)

    def common_way(self, place: int, q: int) -> Expr:
        """``[sum_k k c_l(k) c_q(k)] F``."""
        return self.common_lag(place, q) * frozen_update(self.method, self.gains)

    def seen(self, place: int, q: int, r: int) -> Expr:
        """``[sum_{i>=1} tail_l(i) X_qr(i)] w_r``."""
        return self.seen_lag(place, q, r) * self._noise[r]

    def repeated(self, place: int, r: int) -> Expr:
        """``[sum_{i>=1} X_lr(i)] w_r``."""
        return self.repeated_lag(place, r) * self._noise[r]

    def lag(self, place: int) -> Expr:
        """``s_l = sum_k k c_l(k)``."""
        return self._kernel(place).factorial_moment(1)

    def common_lag(self, place: int, q: int) -> Expr:
        """``e_lq = [sum_k k c_l(k) c_q(k)]``."""
        equal = lagged_overlap(self._kernel(place), self._kernel(q))
        return self._mixed(equal, self.lag(place) * self.gains[q])

    def seen_lag(self, place: int, q: int, r: int) -> Expr:
        """``x_lqr = [sum_{i>=1} tail_l(i) X_qr(i)]``."""
        equal = weighted_overlap(self._kernel(place), self._kernel(q), self._kernel(r))
        return self._mixed(equal, self.lag(place) * self.gains[q] * self.gains[r])

    def repeated_lag(self, place: int, r: int) -> Expr:
        """``y_lr = [sum_{i>=1} X_lr(i)]``."""
        equal = earlier_overlap(self._kernel(place), self._kernel(r))
        return self._mixed(equal, self.lag(place) * self.gains[r])

    @cached_property
    def _noise(self) -> tuple[Expr, ...]:
        return noise_of_update(self.method, self.gains)


@record(frozen=True)
class StepPast(NoisyPast):
    """At the step n = ``step``, from the weights themselves: every sum over the past is added up."""

    step: int

    @property
    def gains(self) -> Gains:
        """At this step."""
        return self._gains(self.step)

    def pair(self, q: int, r: int) -> Expr:
        """``[sum_k c_q(n, k) c_r(n, k)]``."""
        return self._pair_at(self.step, q, r)

    def way(self, place: int) -> Expr:
        """``sum_s tail_l(n, s) F^(s)``."""
        return self._over_past(lambda s: self._tail(place, s), self._update)

    def noisy_way(self, place: int) -> Expr:
        """``sum_s tail_l(n, s) N^(s)``."""
        return self._over_past(lambda s: self._tail(place, s), self._frozen_noise)

    def common_way(self, place: int, q: int) -> Expr:
        """``sum_s [sum_{k>=n-s} c_l(n, k) c_q(n, k)] F^(s)``."""

        def weight(s: int) -> Expr:
            lags = range(self.step - s, self.step + 1)
            equal = Add(*(self._weight(place, self.step, k) * self._weight(q, self.step, k) for k in lags))
            return self._mixed(equal, self._tail(place, s) * self.gains[q])

        return self._over_past(weight, self._update)

    def seen(self, place: int, q: int, r: int) -> Expr:
        """``sum_s tail_l(n, s) [X_qr(n, s)] w_r(s)``."""
        return self._over_past(
            lambda s: (
                self._tail(place, s) * self._mixed(self._overlap(q, r, s), self.gains[q] * self._gains(s)[r])
            ),
            lambda s: self._noise(s)[r],
        )

    def repeated(self, place: int, r: int) -> Expr:
        """``sum_s [X_lr(n, s)] w_r(s)``."""
        return self._over_past(
            lambda s: self._mixed(self._overlap(place, r, s), self._tail(place, s) * self._gains(s)[r]),
            lambda s: self._noise(s)[r],
        )

    def _over_past(self, weight: Callable[[int], Expr], vector: Callable[[int], Expr]) -> Expr:
        checkpoint("the sums over noisy steps")
        return Add(*(weight(s) * vector(s) for s in range(self.step)))

    def _weight(self, place: int, n: int, k: int) -> Expr:
        return self._kernel(place).weight(Integer(n), Integer(k))

    def _tail(self, place: int, s: int) -> Expr:
        return self._kernel(place).tail(Integer(self.step), Integer(s))

    def _overlap(self, q: int, r: int, s: int) -> Expr:
        """``X_qr(n, s)``."""
        ahead = self.step - s
        return Add(*(self._weight(q, self.step, ahead + j) * self._weight(r, s, j) for j in range(s + 1)))

    def _gains(self, s: int) -> Gains:
        return tuple(gain.xreplace({STEP: Integer(s)}) for gain in gains(self.method))

    def _pair_at(self, s: int, q: int, r: int) -> Expr:
        equal = Add(*(self._weight(q, s, k) * self._weight(r, s, k) for k in range(s + 1)))
        return self._mixed(equal, self._gains(s)[q] * self._gains(s)[r])

    def _update(self, s: int) -> Expr:
        return frozen_update(self.method, self._gains(s))

    def _frozen_noise(self, s: int) -> Expr:
        return frozen_noise(self.method, self._gains(s), lambda q, r: self._pair_at(s, q, r))

    def _noise(self, s: int) -> tuple[Expr, ...]:
        return noise_of_update(self.method, self._gains(s))
