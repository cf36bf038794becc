"""A delay: ``m^(n) = factor(n) g(theta_{n-d})``, the value d steps ago.

Before the start it is the first value, g(theta_0), or 0 for a delay that starts empty.  With ``grad - m`` it makes the
differences of gradients of Adan, MARS and optimistic gradient descent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import comb

from sympy import Expr, Integer, Max, Min, S

from symmem.algebra.atoms import STEP
from symmem.algebra.ranges import Ranges
from symmem.method.kernel import Binomials, Kernel, Number
from symmem.method.realisation import Realisation
from symmem.method.scaled import Scaled
from symmem.method.sums import reached
from symmem.records import record


@record(frozen=True)
class Delay(Scaled):
    """``c(n, k) = factor(n) [k = min(d, n)]``, or ``factor(n) [k = d]`` where it ``starts_empty``; d >= 1."""

    steps: int
    starts_empty: bool = False

    @property
    def decays(self) -> tuple[Expr, ...]:
        """None: a delay forgets at once."""
        return ()

    def weight(self, n: Expr, k: Expr) -> Expr:
        """``factor(n)`` at the lag ``k = min(d, n)``, or ``k = d``; 0 elsewhere."""
        lag = Integer(self.steps) if self.starts_empty else Min(self.steps, n)
        return self.scale(n) * (reached(k - lag) - reached(k - lag - 1))

    def gain(self, n: Expr) -> Expr:
        """``factor(n)``; 0 before an empty start has passed."""
        return self.power_moment(n, 0)

    def looks_at(self, n: Expr) -> Expr:
        """``n - d``, and the first step before that."""
        return Max(n - self.steps, 0)

    def seen_until(self, n: Expr, s: Expr) -> Expr | None:
        """``s + d``: from then on it looks at later steps."""
        if self.starts_empty or STEP in self.factor.free_symbols:
            return None
        return s + 1 if self.steps == 1 else Min(n, s + self.steps)

    def tail(self, n: Expr, s: Expr) -> Expr:
        """1 for the last d steps; an empty start has seen nothing before n = d."""
        return reached(s - n + self.steps) * self.gain(n)

    def spans(self, n: Expr, s: Expr) -> tuple[tuple[Expr, Expr, Expr], ...]:  # noqa: ARG002
        """The last d steps, or as many as there are."""
        return ((self.gain(n), Max(n - self.steps, 0), n - 1),)

    def power_moment(self, n: Expr, j: int) -> Expr:
        """``factor(n) min(d, n)^j``; 0 before an empty start has passed."""
        if self.starts_empty:
            return self.scale(n) * self.steps**j * reached(n - self.steps)
        return self.scale(n) * (Min(self.steps, n) ** j if j else S.One)

    def applied(self, n: Expr, value: Callable[[Expr], Expr]) -> Expr:
        """``factor(n) value(min(d, n))``; 0 before an empty start has passed."""
        lag = Integer(self.steps) if self.starts_empty else Min(self.steps, n)
        return self.gain(n) * value(lag)

    def limit_applied(self, value: Callable[[Expr], Expr]) -> Expr:
        """``settled value(d)``."""
        return self.limit_scale * value(Integer(self.steps))

    def has_one_sign(self, ranges: Ranges) -> bool:  # noqa: ARG002
        """It has one weight."""
        return True

    def factorial_moment(self, j: int) -> Expr:
        """``settled C(d, j)``."""
        return self.limit_scale * comb(self.steps, j)

    def limit_weight(self, k: int) -> Expr:
        """``settled [k = d]``."""
        return self.limit_scale if k == self.steps else S.Zero

    def limit_spans(self, j: Expr) -> tuple[tuple[Expr, Expr, Expr], ...]:  # noqa: ARG002
        """``settled`` for ``j = 1..d``."""
        return ((self.limit_scale, S.One, Integer(self.steps)),)

    def transform(self, z: Expr) -> Expr:
        """``settled z^d``."""
        return self.limit_scale * z**self.steps

    def overlap(self, other: Kernel) -> Expr:
        """``settled c'(d)``: one weight of the other."""
        return self.limit_scale * other.limit_weight(self.steps)

    @property
    def normaliser(self) -> Expr:
        """The limit of the factor: what is left is ``C(d, j)``."""
        return self.limit_scale

    @property
    def generators(self) -> tuple[Expr, ...]:
        """None: the normalised moments are the integers ``C(d, j)``."""
        return ()

    def averaged(self, polynomial: Binomials, numbers: Mapping[Expr, Number]) -> Binomials:  # noqa: ARG002
        """``p(k + d)``: d times ``p(k + 1) = p(k) + Delta p(k)``."""
        result = list(polynomial)
        for _ in range(self.steps):
            result = [x + y for x, y in pairwise(result)] + result[-1:]
        return result

    def realisation(self) -> Realisation:
        """The last d + 1 values of g, the newest first; m is the oldest of them."""
        size = self.steps + 1
        shift = tuple(tuple(S.One if j == i - 1 else S.Zero for j in range(size)) for i in range(size))
        newest = (S.One,) + (S.Zero,) * self.steps
        oldest = (S.Zero,) * self.steps + (self.factor,)
        return Realisation(shift, newest, oldest, ((S.Zero if self.starts_empty else S.One),) * size)
