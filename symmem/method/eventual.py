"""Sequences that are exponential polynomials from some step on: what kernels with delays give.

    a(n) = form(n) + early_n,        early_n = 0 for n >= D,        form(n) = sum_j p_j(n) rho_j^n

They are closed under sums, products, sums over the past and convolutions; nothing is guessed, for the first steps are
added up as they are.  Written out, first steps are minima, ``early_n = sum_i kappa_i (i - min(i, n))``, kappa the
second differences of the early values: a delay of one step, 0 at n = 0 and then 1, is ``min(1, n)``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Add, Expr, Integer, Max, Min, Pow, S

from symmem.algebra.atoms import PAST, STEP
from symmem.algebra.scalars import Scalars
from symmem.method.exactly import exactly
from symmem.records import record

MOST_LATE = 12
"""By so many steps a form is shifted for want of a pole."""


@record(frozen=True)
class Eventual:
    """The sequence; ``form`` depends on n, ``early`` are what is added at n = 0, 1, ..., D - 1."""

    scalars: Scalars
    form: Expr
    early: tuple[Expr, ...] = ()

    def value(self, n: int) -> Expr:
        """``a(n)``; 0 before the start."""
        if n < 0:
            return S.Zero
        extra = self.early[n] if n < len(self.early) else S.Zero
        return self.scalars.tidy(_at(self.form, Integer(n)) + extra)

    def __add__(self, other: Eventual) -> Eventual:
        form = self.scalars.tidy(self.form + other.form)
        count = max(len(self.early), len(other.early))
        return self._with(form, [self.value(n) + other.value(n) for n in range(count)])

    def __mul__(self, other: Eventual) -> Eventual:
        """Step by step."""
        count = max(len(self.early), len(other.early))
        form = self.scalars.tidy(self.form * other.form)
        return self._with(form, [self.value(n) * other.value(n) for n in range(count)])

    def times(self, factor: Expr) -> Eventual:
        """Times a number."""
        form = self.scalars.tidy(factor * self.form)
        return self._with(form, [factor * self.value(n) for n in range(len(self.early))])

    def before(self) -> Eventual:
        """``sum_{s<n} a(s)``."""
        form = self.scalars.tidy(self._summed(_at(self.form, PAST)) + Add(*self.early))
        values = [S.Zero]
        for n in range(len(self.early)):
            values.append(values[-1] + self.value(n))
        return self._with(form, values[: len(self.early)])

    def until(self) -> Eventual:
        """``sum_{s<=n} a(s)``."""
        return self.before() + self

    def later(self) -> Eventual:
        """``a(n-1)``; 0 at the start."""
        count = len(self.early) + 1
        return self._with(_at(self.form, STEP - 1), [self.value(n - 1) for n in range(count)])

    def convolved(self, other: Eventual) -> Eventual:
        """``sum_{s=0..n} a(n-s) b(s)``."""
        both = _at(self.form, STEP - PAST) * _at(other.form, PAST)
        parts = [self._summed(both), _at(self.form, S.Zero) * other.form]
        parts += [extra * _at(other.form, STEP - i) for i, extra in enumerate(self.early) if extra != 0]
        parts += [extra * _at(self.form, STEP - i) for i, extra in enumerate(other.early) if extra != 0]
        # A first step of one meets one of the other until both are over.
        count = len(self.early) + len(other.early)
        values = [Add(*(self.value(n - s) * other.value(s) for s in range(n + 1))) for n in range(count)]
        return self._with(self.scalars.tidy(Add(*parts)), values)

    def written(self, first: int = 0, divisor: Expr = S.One) -> Expr:
        """The sequence over a divisor for symbolic n >= first.

        A form with a pole at a decay of 0, which the sequence has not, is written in ``max(0, n - d)``.
        """
        late = 0
        while late < MOST_LATE and self._has_pole(self._shifted(late), first - late):
            late += 1
        shifted = self._shifted(late)
        count = max(late, len(self.early))
        early = [self.value(n) - _at(shifted, Integer(max(n - late, 0))) for n in range(count)]
        early += [S.Zero, S.Zero]
        ramps = [(i, early[i - 1] - 2 * early[i] + early[i + 1]) for i in range(first + 1, count + 1)]
        whole = shifted + Add(*(i * slope for i, slope in ramps))
        if late:
            step = STEP - late if late <= first else Max(0, STEP - late)
            rest = Add(*(-self.scalars.tidy(slope) * Min(i, STEP) for i, slope in ramps))
            return (_at(self.scalars.tidy(whole), step) + rest) / divisor
        minima = (-self.scalars.tidy(slope / divisor) * Min(i, STEP) for i, slope in ramps)
        return Add(self.scalars.tidy(whole / divisor), *minima)

    def _shifted(self, late: int) -> Expr:
        """``form(n + late)``."""
        return self.scalars.tidy(_at(self.form, STEP + late))

    def _has_pole(self, form: Expr, first: int) -> bool:
        """Whether a decay that may be 0 stands there with a negative power: the true value has none at 0."""
        powers = [power for power in form.atoms(Pow) if power.base in self.scalars.decays]
        below = (power for power in powers if _at(power.exp, Integer(max(first, 0))).is_negative)
        return not all(self.scalars.is_positive(power.base) for power in below)

    def _summed(self, summand: Expr) -> Expr:
        """``sum_{s<n}`` of an exponential polynomial in s, which closes."""
        pieces = exactly(self.scalars.pieces(summand))
        sums = [self.scalars.sum_over_past(piece) for piece in pieces]
        return Add(*(self.scalars.write(sum_) for sum_ in sums if sum_ is not None))

    def _with(self, form: Expr, values: Sequence[Expr]) -> Eventual:
        """The sequence with these first values, and the form from there on."""
        early = [self.scalars.tidy(value - _at(form, Integer(n))) for n, value in enumerate(values)]
        while early and early[-1] == 0:
            early.pop()
        return Eventual(self.scalars, form, tuple(early))


def _at(form: Expr, n: Expr) -> Expr:
    return form.xreplace({STEP: n})
