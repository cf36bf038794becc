"""Geometric memory: ``c(n, k) = factor(n) decay^k``, the momentum variable of the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from sympy import Expr, Integer, S, Sum, Symbol, oo

from symmem.algebra.atoms import AGO, PAST, STEP
from symmem.algebra.exponential import exponential_field
from symmem.algebra.factored import write
from symmem.algebra.ranges import Ranges, bounds
from symmem.algebra.sums import definite_sum
from symmem.method.kernel import Binomials, Number
from symmem.method.realisation import Realisation
from symmem.method.scaled import Scaled
from symmem.records import record


@record(frozen=True)
class Geometric(Scaled):
    """``c(n, k) = factor(n) decay^k``; the decay lies in (-1, 1) and is not 0."""

    decay: Expr

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The factor, and ``decay^n``."""
        return (*super().expressions, self.decay**STEP)

    @property
    def decays(self) -> tuple[Expr, ...]:
        """The decay."""
        return (self.decay,)

    def weight(self, n: Expr, k: Expr) -> Expr:
        """``factor(n) decay^k``."""
        return self.scale(n) * self.decay**k

    def gain(self, n: Expr) -> Expr:
        """``factor(n) (1 - decay^(n+1))/(1 - decay)``."""
        return self.scale(n) * ((1 - self.decay ** (n + 1)) / (1 - self.decay))

    def tail(self, n: Expr, s: Expr) -> Expr:
        """``factor(n) decay^(n-s) (1 - decay^(s+1))/(1 - decay)``."""
        return self.scale(n) * self.decay ** (n - s) * (1 - self.decay ** (s + 1)) / (1 - self.decay)

    def power_moment(self, n: Expr, j: int) -> Expr:
        """``factor(n) sum_{k=0..n} k^j decay^k``, closed."""
        return self.scale(n) * _power_sum(self.decay, j).xreplace({STEP: n})

    def limit_applied(self, value: Callable[[Expr], Expr]) -> Expr:
        """``settled sum_{k>=0} decay^k value(k)``."""
        return self.limit_scale * Sum(self.decay**AGO * value(AGO), (AGO, 0, oo))

    def has_one_sign(self, ranges: Ranges) -> bool:
        """The powers of a decay that is not negative."""
        return bounds(self.decay, ranges).is_nonnegative

    def factorial_moment(self, j: int) -> Expr:
        """``settled decay^j / (1 - decay)^(j+1)``."""
        return self.limit_scale * self.decay**j / (1 - self.decay) ** Integer(j + 1)

    def limit_weight(self, k: int) -> Expr:
        """``settled decay^k``."""
        return self.limit_scale * self.decay**k

    def transform(self, z: Expr) -> Expr:
        """``settled / (1 - decay z)``."""
        return self.limit_scale / (1 - self.decay * z)

    def limit_tail(self, j: Expr) -> Expr:
        """``settled decay^j / (1 - decay)``."""
        return self.limit_scale * self.decay**j / (1 - self.decay)

    @property
    def normaliser(self) -> Expr:
        """The gain ``f_0``: what is left is ``v^j``."""
        return self.factorial_moment(0)

    @property
    def generators(self) -> tuple[Expr, ...]:
        """``v = decay/(1 - decay)``, for ``f_j/f_0 = v^j``."""
        return (self.decay / (1 - self.decay),)

    def averaged(self, polynomial: Binomials, numbers: Mapping[Expr, Number]) -> Binomials:
        """``q = sum_i v^i Delta^i p``, that is ``q = p + v Delta q``: ``q_j = p_j + v q_{j+1}``, the last one first."""
        v = numbers[self.generators[0]]
        result = list(polynomial)
        for position in range(len(result) - 2, -1, -1):
            result[position] = result[position] + v * result[position + 1]
        return result

    def realisation(self) -> Realisation:
        """``x <- decay x + unit g, m = (factor(n)/unit) x``, from x = 0.

        ``unit = 1 - decay`` where the factor, after many steps, vanishes with it: x is then a moving average, else a
        plain sum.  This is how PyTorch keeps them.
        """
        unit = self._unit()
        return Realisation(((self.decay,),), (unit,), (self.factor / unit,), (S.Zero,))

    def _unit(self) -> Expr:
        average = 1 - self.decay
        if not isinstance(self.settled, Expr):
            return S.One
        if isinstance(self.decay, Symbol):
            return average if self.settled.xreplace({self.decay: S.One}) == 0 else S.One
        return average if self.settled == average else S.One


@lru_cache(maxsize=256)
def _power_sum(decay: Expr, j: int) -> Expr:
    """``sum_{k=0..n} k^j decay^k``, an exponential polynomial in n: by the exact field."""
    field = exponential_field([decay**STEP])
    summand = field.read(PAST**j * decay**PAST)
    below = None if summand is None else definite_sum(field, summand, PAST, STEP)
    last = field.read(STEP**j * decay**STEP)
    assert below is not None, "an exponential polynomial has a closed sum"
    assert last is not None
    return write(field, below + last)
