"""The schedule of the learning rate: at step n it is ``h rate(n)`` (mathematics.md section 2)."""

from __future__ import annotations

from sympy import Expr, S

from symmem.algebra.atoms import PAST, STEP
from symmem.algebra.limits import scalar_limit
from symmem.algebra.ranges import bounds
from symmem.algebra.results import Missing, Sentence
from symmem.algebra.scalars import Scalars
from symmem.records import record


@record(frozen=True)
class Rate:
    """``factor`` is an expression in n; ``settled`` its limit for n -> infinity, or why there is none."""

    factor: Expr
    settled: Expr | Missing

    @classmethod
    def of(cls, factor: Expr, numbers: Scalars) -> Rate:
        """The rate with its limit."""
        settled = scalar_limit(factor, numbers)
        if isinstance(settled, Missing):
            words = (" has no known limit for n -> infinity (", *settled.reason.parts, ")")
            settled = Missing(Sentence.of("the rate ", factor, *words), _ranges_to_give(factor, numbers))
        return cls(factor, settled)

    def at(self, n: Expr) -> Expr:
        """``rate(n)``."""
        return self.factor.xreplace({STEP: n})

    @property
    def is_constant(self) -> bool:
        """Whether it is the same at every step."""
        return STEP not in self.factor.free_symbols


def _ranges_to_give(factor: Expr, numbers: Scalars) -> tuple[Sentence, ...]:
    """``min(1, (n + 1)/W)`` settles for a positive W alone: the parameters whose sign nothing tells."""
    open_ = sorted(
        (each for each in factor.free_symbols - {STEP} if not bounds(each, numbers.ranges).excludes_zero),
        key=str,
    )
    return tuple(Sentence.of("give ", each, ' a range, such as range = "(0, inf)"') for each in open_[:1])


def rate_expressions(factor: Expr | None) -> tuple[Expr, ...]:
    """What the method's exact field has to hold: the rate at step n and at the past step s."""
    return () if factor is None else (factor, factor.xreplace({STEP: PAST}))


def rate_at(rate: Rate | None, n: Expr) -> Expr:
    """``rate(n)``; 1 where there is no schedule."""
    return S.One if rate is None else rate.at(n)
