"""The sums over noisy steps for symbolic n: what :mod:`.noisy_past` asks of the past, at the step n itself.

The inner sums, over the step p that two memories have both seen, close for geometric memories, bias-corrected or not:

    X_qr(n, s) = sum_{p=0..s} c_q(n, n-p) c_r(s, s-p)        (mathematics.md section 7)

The outer ones, over the past steps s, close where they do; else they stay as explicit sums, of numbers where F^(s) does
not depend on s (Adam), of vectors where it does (RMSProp).
"""

from __future__ import annotations

from functools import cached_property

from sympy import Add, Expr, Max, Min, S, Sum, Symbol

from symmem.algebra.atoms import PAST, STEP
from symmem.derivation.gains import Gains, frozen_update, gains
from symmem.derivation.noise.frozen_noise import frozen_noise, noise_of_update
from symmem.derivation.noise.noisy_past import NoisyPast
from symmem.derivation.past.history import sum_over_past
from symmem.method.kernel import Kernel
from symmem.method.method import Method
from symmem.method.sums import added
from symmem.records import record
from symmem.work import checkpoint

_SEEN = Symbol("r")
"""The step p that both memories have seen."""


MOST_DECAYS = 2
"""Of three decays the sums over pairs of steps have thousands of terms."""


def closes(method: Method) -> bool:
    """Whether the inner sums close, and are short: no weight has cases, as that of a delay has, or a sum of its own."""
    if len({decay for channel in method.channels for decay in channel.kernel.decays}) > MOST_DECAYS:
        return False
    parts = [part for channel in method.channels for part in channel.kernel.summands if part.has_memory]
    return not any(part.weight(STEP, _SEEN).has(Sum, Min, Max) for part in parts)


@record(frozen=True)
class MovingPast(NoisyPast):
    """At symbolic n; asked where the inner sums close."""

    @property
    def gains(self) -> Gains:
        """At step n."""
        return gains(self.method)

    def pair(self, q: int, r: int) -> Expr:
        """``[sum_k c_q(n, k) c_r(n, k)]``."""
        return self._mixed(self._shared(q, r, STEP, STEP), self.gains[q] * self.gains[r])

    def way(self, place: int) -> Expr:
        """``sum_s tail_l(n, s) F^(s)``."""
        return self._over_past(place, self._tail(place), self._update)

    def noisy_way(self, place: int) -> Expr:
        """``sum_s tail_l(n, s) N^(s)``."""
        noise = frozen_noise(self.method, self.gains, self.pair)
        return self._over_past(place, self._tail(place), noise)

    def common_way(self, place: int, q: int) -> Expr:
        """``sum_s [sum_{p<=s} c_l(n, n-p) c_q(n, n-p)] F^(s)``."""
        equal = self._shared(place, q, STEP, PAST)
        return self._over_past(place, self._mixed(equal, self._tail(place) * self.gains[q]), self._update)

    def seen(self, place: int, q: int, r: int) -> Expr:
        """``sum_s tail_l(n, s) [X_qr(n, s)] w_r(s)``."""
        equal = self._shared(q, r, PAST, PAST)
        weight = self._tail(place) * self._mixed(equal, self.gains[q] * _then(self.gains[r]))
        return self._over_past(place, weight, self._noise[r])

    def repeated(self, place: int, r: int) -> Expr:
        """``sum_s [X_lr(n, s)] w_r(s)``."""
        equal = self._shared(place, r, PAST, PAST)
        weight = self._mixed(equal, self._tail(place) * _then(self.gains[r]))
        return self._over_past(place, weight, self._noise[r])

    @cached_property
    def _update(self) -> Expr:
        return frozen_update(self.method, self.gains)

    @cached_property
    def _noise(self) -> tuple[Expr, ...]:
        return noise_of_update(self.method, self.gains)

    def _tail(self, place: int) -> Expr:
        return self._kernel(place).remembered.tail(STEP, PAST)

    def _shared(self, q: int, r: int, other: Expr, last: Expr) -> Expr:
        """``sum_{p=0..last} c_q(n, n-p) c_r(other, other-p)``, part by part of the kernels."""
        checkpoint("the sums over noisy steps")
        pairs = ((x, y) for x in self._kernel(q).summands for y in self._kernel(r).summands)
        return Add(*(_overlap(x, y, other, last) for x, y in pairs))

    def _over_past(self, place: int, weight: Expr, vector: Expr) -> Expr:
        """``sum_{s<n} weight(n, s) vector(s)``."""
        return sum_over_past(_then(vector), self._kernel(place), self.method.numbers, part=weight)


def _overlap(left: Kernel, right: Kernel, other: Expr, last: Expr) -> Expr:
    """The same for two kernels; one without memory has seen its own step alone."""
    if not left.has_memory and not right.has_memory:
        return left.scale(STEP) * right.scale(STEP) if other == last == STEP else S.Zero
    if not left.has_memory:
        return left.scale(STEP) * right.weight(STEP, S.Zero) if other == last == STEP else S.Zero
    if not right.has_memory:
        return left.weight(STEP, STEP - other) * right.scale(other) if other == last else S.Zero
    both = left.weight(STEP, STEP - _SEEN) * right.weight(other, other - _SEEN)
    return added(both, _SEEN, S.Zero, last, {})


def _then(expression: Expr) -> Expr:
    return expression.xreplace({STEP: PAST})
