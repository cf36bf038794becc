"""A memory of a memory: the outer kernel remembers the values of a variable that is itself remembered by the inner one.

    c(n, k) = sum_{i=0..k} c1(n, i) c2(n-i, k-i),       in the limit  W = W1 W2,  f_j = sum_i f_i(c1) f_{j-i}(c2)

For finite n every answer is a sum over the step r = n - i at which the outer kernel looks; it is closed where it is an
exponential polynomial, else an explicit finite sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from itertools import count, product
from math import comb

from sympy import Add, Expr, Integer, Max, Min, Mul, S, Sum, Symbol

from symmem.algebra.atoms import AGO, PAST, STEP
from symmem.algebra.ranges import Ranges
from symmem.algebra.results import Missing
from symmem.algebra.scalars import Scalars
from symmem.method.delay import Delay
from symmem.method.instant import Instant
from symmem.method.kernel import Binomials, Kernel, Number
from symmem.method.realisation import Realisation, in_series
from symmem.method.sums import added, reached
from symmem.records import record


@record(frozen=True)
class Composition(Kernel):
    """The memory ``outer`` of the variable that ``inner`` remembers."""

    outer: Kernel
    inner: Kernel

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """Those of both kernels."""
        return (*self.outer.expressions, *self.inner.expressions)

    @property
    def decays(self) -> tuple[Expr, ...]:
        """Those of both kernels, each once."""
        return tuple(dict.fromkeys((*self.outer.decays, *self.inner.decays)))

    @property
    def has_memory(self) -> bool:
        """Whether one of the two looks back."""
        return self.outer.has_memory or self.inner.has_memory

    @property
    def unsettled(self) -> Missing | None:
        """The reason of the outer kernel, else that of the inner one."""
        return self.outer.unsettled if self.outer.unsettled is not None else self.inner.unsettled

    @property
    def depth(self) -> int:
        """One more than the deeper of the two: the index of its sum is its own."""
        return 1 + max(self.outer.depth, self.inner.depth)

    @property
    def _looked(self) -> Symbol:
        """r, the step at which the outer kernel looks; a composition inside has another index."""
        return Symbol(f"r{self.depth}")

    def scale(self, n: Expr) -> Expr:
        """The outer factor; the inner one stands inside the sum."""
        return self.outer.scale(n)

    @property
    def shape(self) -> Composition:
        """The outer shape over the same inner kernel."""
        return replace(self, outer=self.outer.shape)

    @property
    def summands(self) -> tuple[Kernel, ...]:
        """Every part of the outer kernel over every part of the inner one: the composition is linear in both."""
        pairs = product(self.outer.summands, self.inner.summands)
        return tuple(Composition(outer, inner) for outer, inner in pairs)

    def scaled(self, factor: Expr) -> Composition:
        """The factor goes to the outer kernel."""
        return replace(self, outer=self.outer.scaled(factor))

    def joined(self, other: Kernel) -> Kernel | None:
        """``c1 * c2 + c1' * c2 = (c1 + c1') * c2``: one inner kernel, outer kernels that join."""
        same = isinstance(other, Composition) and other.inner == self.inner
        both = self.outer.joined(other.outer) if isinstance(other, Composition) and same else None
        return None if both is None else replace(self, outer=both)

    def tidied(self, scalars: Scalars) -> Composition:
        """Both kernels, tidied."""
        return Composition(self.outer.tidied(scalars), self.inner.tidied(scalars))

    def weight(self, n: Expr, k: Expr) -> Expr:
        """``sum_{r=p..n} c1(n, n-r) c2(r, r-p)`` with ``p = n - k``."""
        at, p = self.outer.looks_at(n), n - k
        if at is not None:
            return self.outer.gain(n) * reached(at - p) * self.inner.weight(at, Max(at - p, 0))
        if n.is_Integer and p.is_Integer:
            # Numbers go down to the innermost kernel: no sum of maxima is made only to be written out.
            steps = (Integer(step) for step in range(int(p), int(n) + 1))
            return Add(*(self.outer.weight(n, n - r) * self.inner.weight(r, r - p) for r in steps))
        r = self._looked
        summand = self.outer.weight(STEP, STEP - r) * self.inner.weight(r, r - PAST)
        return added(summand, r, PAST, STEP, {STEP: n, PAST: n - k})

    def gain(self, n: Expr) -> Expr:
        """``sum_{r=0..n} c1(n, n-r) gain2(r)``."""
        return self.outer.looked(self.inner.gain, n, self._looked)

    def tail(self, n: Expr, s: Expr) -> Expr:
        """The outer kernel sees the step from theta_s wherever it looks later; up to s it has the whole inner gain.

        ``sum_{r=s+1..n} c1(n, n-r) tail2(r, s) + sum_{r=0..s} c1(n, n-r) gain2(r)``
        """
        at = self.outer.looks_at(n)
        if at is not None:
            later, earlier = reached(at - s - 1), reached(s - at)
            whole = later * self.inner.tail(at, Min(s, at)) + earlier * self.inner.gain(at)
            return self.outer.gain(n) * whole
        until = self.inner.seen_until(n, s)
        if until is not None:
            return self.inner.gain(n) * self.outer.tail(n, until)
        return Add(*self.tails(n, s))

    def tails(self, n: Expr, s: Expr) -> tuple[Expr, ...]:
        """The two sums by themselves, the first one for every part of the inner tail."""
        if self.outer.looks_at(n) is not None or self.inner.seen_until(n, s) is not None:
            return (self.tail(n, s),)
        r = self._looked
        seen = self.outer.weight(STEP, STEP - r)
        values = {STEP: n, PAST: s}
        later = (added(seen * tail, r, PAST + 1, STEP, values) for tail in self.inner.tails(r, PAST))
        return (*later, added(seen * self.inner.gain(r), r, Integer(0), PAST, values))

    def spans(self, n: Expr, s: Expr) -> tuple[tuple[Expr, Expr, Expr], ...]:
        """Up to the step at which a delay looks the inner tail, from there on the whole inner gain."""
        at = self.outer.looks_at(n)
        if at is None:
            return super().spans(n, s)
        gain = self.outer.gain(n)
        earlier = [(gain * tail, first, last) for tail, first, last in self.inner.spans(at, s)]
        return (*earlier, (gain * self.inner.gain(at), at, n - 1))

    def power_moment(self, n: Expr, j: int) -> Expr:
        """``sum_{r=0..n} c1(n, n-r) sum_l C(j, l) (n-r)^(j-l) moment2_l(r)``."""
        at = self.outer.looks_at(n)
        if at is not None:
            parts = [comb(j, m) * (n - at) ** (j - m) * self.inner.power_moment(at, m) for m in range(j + 1)]
            return self.outer.gain(n) * Add(*parts)
        r = self._looked
        # One sum for each power: those that close are closed.
        sums = []
        for m in range(j + 1):
            seen = comb(j, m) * (STEP - r) ** (j - m) * self.inner.power_moment(r, m)
            sums.append(added(self.outer.weight(STEP, STEP - r) * seen, r, Integer(0), STEP, {STEP: n}))
        return Add(*sums)

    def looked(self, value: Callable[[Expr], Expr], n: Expr, index: Symbol) -> Expr:
        """The outer kernel looks at what the inner one makes of the values."""
        deeper = Symbol(f"{index.name}{self.depth}")
        return self.outer.looked(lambda r: self.inner.looked(value, r, deeper), n, index)

    def limit_applied(self, value: Callable[[Expr], Expr]) -> Expr:
        """The outer kernel looks i steps back, the inner one j further: ``value(i + j)``; i and j are other indices."""
        back = _unused(value(AGO))
        inside = self.inner.limit_applied(lambda j: value(back + j))
        inside = inside.xreplace({AGO: _unused(inside)})
        return self.outer.limit_applied(lambda i: inside.xreplace({back: i}))

    def has_one_sign(self, ranges: Ranges) -> bool:
        """Where both have one sign, and the inner factor does not change its own with the step."""
        steady = STEP not in self.inner.scale(STEP).free_symbols
        return steady and self.outer.has_one_sign(ranges) and self.inner.has_one_sign(ranges)

    def factorial_moment(self, j: int) -> Expr:
        """``f_j = sum_{i=0..j} f_i(c1) f_{j-i}(c2)``, without binomials (mathematics.md section 9)."""
        return Add(
            *(self.outer.factorial_moment(i) * self.inner.factorial_moment(j - i) for i in range(j + 1))
        )

    def limit_weight(self, k: int) -> Expr:
        """``c(k) = sum_{i=0..k} c1(i) c2(k-i)``."""
        return Add(*(self.outer.limit_weight(i) * self.inner.limit_weight(k - i) for i in range(k + 1)))

    def limit_tail(self, j: Expr) -> Expr | None:
        """``tail1(j) gain2 + sum_{i=0..j-1} c1(i) tail2(j-i)``, where ``c1(i) = tail1(i) - tail1(i+1)`` for i >= 1."""
        r = self._looked
        before, after = (self.outer.limit_tail(at) for at in (r, r + 1))
        inside, ends = self.inner.limit_tail(STEP - r), (self.outer.limit_tail(j), self.inner.limit_tail(j))
        if before is None or after is None or inside is None or None in ends:
            return None
        between = added((before - after) * inside, r, Integer(1), STEP - 1, {STEP: j})
        now = self.outer.factorial_moment(0) - self.outer.limit_tail(Integer(1))
        found = ends[0] * self.inner.factorial_moment(0) + now * ends[1] + between
        return None if found.has(Sum) else found

    def limit_spans(self, j: Expr) -> tuple[tuple[Expr, Expr, Expr], ...] | None:
        """Delays see the whole gain of the rest for their own steps, then its tail: in the limit kernels commute."""
        delays = [each for each in self.factors if isinstance(each, Delay)]
        others = [each for each in self.factors if not isinstance(each, Delay)]
        if not delays:
            return super().limit_spans(j)
        steps, scale = sum(delay.steps for delay in delays), Mul(*(delay.limit_scale for delay in delays))
        rest: Kernel = reduce(Composition, others) if others else Instant()
        later = rest.limit_spans(j - steps)
        if later is None:
            return None
        shifted = ((scale * tail, first + steps, last + steps) for tail, first, last in later if tail != 0)
        return (scale * rest.factorial_moment(0), S.One, Integer(steps)), *shifted

    @property
    def factors(self) -> tuple[Kernel, ...]:
        """All kernels, from the outermost to the innermost."""
        parts = (
            each.factors if isinstance(each, Composition) else (each,) for each in (self.outer, self.inner)
        )
        return tuple(factor for part in parts for factor in part)

    def transform(self, z: Expr) -> Expr:
        """``W(z) = W1(z) W2(z)``."""
        return self.outer.transform(z) * self.inner.transform(z)

    @property
    def normaliser(self) -> Expr:
        """The product of the two."""
        return self.outer.normaliser * self.inner.normaliser

    @property
    def generators(self) -> tuple[Expr, ...]:
        """Those of both kernels, each once."""
        return tuple(dict.fromkeys((*self.outer.generators, *self.inner.generators)))

    def averaged(self, polynomial: Binomials, numbers: Mapping[Expr, Number]) -> Binomials:
        """One mean after the other: ``E_1[E_2[p]]``."""
        return self.outer.averaged(self.inner.averaged(polynomial, numbers), numbers)

    def realisation(self) -> Realisation:
        """The two recursions in series."""
        return in_series(self.outer.realisation(), self.inner.realisation())

    def limit_realisation(self) -> Realisation:
        """The two limit recursions in series."""
        return in_series(self.outer.limit_realisation(), self.inner.limit_realisation())


def _unused(expression: Expr) -> Symbol:
    """An index that the expression has neither bound nor free, and no user may declare: ``q1``, ``q2``, ..."""
    known = expression.atoms(Symbol)
    return next(index for index in map(Symbol, (f"q{place}" for place in count(1))) if index not in known)
