"""Under a schedule, ``theta_{n+1} = theta_n - h rate(n) F^(n)``: what the limits are (mathematics.md sections 2, 9).

Past rates stand inside M, the present one in front of F + M.  Two limits of many steps:

    settled   the rate tends to r:  h is r h in every coefficient, ``M = r h F_1 + (r h)^2 F_2 + ...``
    slow      the rate is a function that changes little while memory fades:
              ``S_l = sum_{k>=1} tail_l(k) rate(n-k) F``, and to leading order ``M = h rate(n) F_1``
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TypeVar

from sympy import Add, Expr, Integer, S, Sum, oo

from symmem.algebra.atoms import AGO, LR, STEP
from symmem.algebra.directional import derivative
from symmem.algebra.families import RATE
from symmem.algebra.grouping import group
from symmem.algebra.reals import substituted
from symmem.algebra.results import Advice, Missing, Sentence, Whose
from symmem.derivation.conditions.singular import singular_limit
from symmem.derivation.gains import at_frozen_point, limit_gains
from symmem.derivation.orders.expansion import expansion
from symmem.derivation.past.paths import WAY, paths
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.records import record

Result = TypeVar("Result")
MOST_WRITTEN = 3
"""So many past rates of a delay are written one by one."""


@record(frozen=True)
class SlowLimit:
    """``theta <- theta - h rate(n) (F + M)`` after many steps, the rate a symbol.

    M has the past rates in it, None where the kernel's tail has no formula; ``leading`` is what is left of it where the
    rate changes little while memory fades.
    """

    F: Expr
    M: Expr | None
    leading: Expr

    @property
    def reads_before_the_start(self) -> bool:
        """Whether M is a sum over all lags, beyond the n steps that were made: the rate is 0 there."""
        return self.M is not None and any(oo in limit for each in self.M.atoms(Sum) for limit in each.limits)


def no_settled_rate(method: Method) -> Missing | None:
    """Why the rate has no limit; None where it has one, or where there is no schedule."""
    if method.rate is None or isinstance(method.rate.settled, Expr):
        return None
    settled = method.rate.settled
    reason = Sentence.of(Whose(method.name), *settled.reason.parts)
    return Missing(reason, (*settled.advice, Advice.STEP))


def stopped(method: Method) -> Missing | None:
    """Where the rate tends to 0: the limit of many steps is no iteration, and says nothing of the loss."""
    if method.rate is None or method.rate.settled != 0:
        return None
    reason = Sentence.of(Whose(method.name), "the rate tends to 0: nothing moves any more in this limit")
    return Missing(reason, (Sentence.of("read the limit with a slow rate"),))


def at_rate(found: Result, rate: Expr) -> Result:
    """A result of the limit with ``rate h`` in the place of h, in every expression that it holds."""
    if rate == 1:
        return found
    if isinstance(found, Expr):
        return found.xreplace({LR: rate * LR})
    if isinstance(found, tuple):
        return type(found)(at_rate(each, rate) for each in found)
    changed = {
        each.name: at_rate(getattr(found, each.name), rate)
        for each in fields(found)  # type: ignore[arg-type]
        if isinstance(getattr(found, each.name), Expr)
    }
    return replace(found, **changed)  # type: ignore[type-var]


def slow_limit(method: Method) -> SlowLimit | Missing | None:
    """The limit with the rate as a symbol; None where there is no schedule."""
    if method.rate is None:
        return None
    missing = singular_limit(method, 1)
    if missing is not None:
        return missing
    series = expansion(method, 1)
    update = series.memoryless(0)
    leading = LR * RATE(STEP) * series.memoryless(1)
    return SlowLimit(update, _with_past_rates(method, update), leading)


def _with_past_rates(method: Method, update: Expr) -> Expr | None:
    """``h sum d_l Phi[slope[sum_{k>=1} tail(k) rate(n-k) F]]`` over the paths of every variable; None without a tail.

    After many steps nothing that is read depends on the step, so that a cascade is a sum over its paths.
    """
    one = merged(method)
    parts = []
    for channel in one.channels:
        for path in paths(one, channel):
            spans = path.kernel.limit_spans(AGO)
            if spans is None:
                return None
            past = Add(*(_rated(*span) for span in spans))
            change = derivative(one.phi, {channel.symbol: path.slope})
            if past != 0 and change != 0:
                placed = at_frozen_point(change, one, limit_gains(one))
                parts.append(substituted(placed, {WAY: past * update}))
    return LR * group(parts, method.numbers)


def _rated(tail: Expr, first: Expr, last: Expr) -> Expr:
    """``sum_{k=first..last} tail(k) rate(n-k)``; few terms are written out."""
    if tail == 0:
        return S.Zero
    rated = tail * RATE(STEP - AGO)
    if last - first < MOST_WRITTEN:
        return Add(*(rated.xreplace({AGO: Integer(k)}) for k in range(int(first), int(last) + 1)))
    return Sum(rated, (AGO, first, last))
