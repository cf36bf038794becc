"""The start: how far the limit form has to be shifted to follow the optimizer from theta_0.

d_1 = sum_{s>=0} (F - F^(s)),        start at theta_0 + h d_1        (mathematics.md section 6)
"""

from __future__ import annotations

from functools import partial

from sympy import Add, Expr, Integer, Max, Min, S, Sum, oo

from symmem.algebra.atoms import PAST, STEP, split_scalar
from symmem.algebra.finite import is_finite
from symmem.algebra.late_form import late_form
from symmem.algebra.limits import known_limit, scalar_limit
from symmem.algebra.passes import collect
from symmem.algebra.rational import Quotient
from symmem.algebra.results import Advice, Missing, Sentence, Whose, present
from symmem.algebra.scalars import Scalars
from symmem.algebra.settling import settles
from symmem.algebra.sums import in_vanishing_powers
from symmem.derivation.gains import (
    frozen_update,
    gains,
    is_steady,
    is_steady_step,
    limit_gains,
    settled_rate,
    unsettled,
)
from symmem.derivation.past.history import past_terms
from symmem.method.method import Method

_ONLY = ", and a start-up shift is given only where it does"
"""No denial: a gain that settles like ``1/n^2`` has a convergent ``sum_s (F - F^(s))`` too."""


def shift(method: Method) -> Expr:
    """``d_1``, all at theta_0; 0 where the step does not depend on n (bias correction, degree 0).

    An average without bias correction lacks ``beta^(s+1) grad`` in step s:

    >>> from symmem import load
    >>> from symmem.method.reading import method_of
    >>> shift(method_of(load("ema-momentum")))
    beta*grad/(1 - beta)
    """
    if is_steady_step(method):
        return S.Zero
    scalars = method.numbers
    remaining = [settled_rate(method) * frozen_update(method, limit_gains(method))]
    closed, open_ = [], []
    for term in past_terms(method):
        scalar, vector = split_scalar(term)
        settled = scalar_limit(scalar.xreplace({PAST: STEP}), scalars)
        if PAST in vector.free_symbols or isinstance(settled, Missing):
            # Also where a scalar is a sum without a closed form: all open terms together tend to what is left of F.
            open_.append(-term)
            continue
        remaining.append(-settled * vector)
        closed.append(_summed(scalar, settled, scalars) * vector)
    if open_:
        difference = collect(Add(*remaining), scalars) + Add(*open_)
        closed.append(Sum(difference, (PAST, 0, oo)))
    total = Add(*closed)
    return collect(total, scalars) if is_finite(total) else total


def _summed(scalar: Expr, settled: Expr, scalars: Scalars) -> Expr:
    """``sum_{s>=0} (settled - scalar(s))`` for a scalar that settles exponentially fast."""
    if PAST not in scalar.free_symbols:
        return S.Zero
    late = late_form(scalar, PAST) if scalar.has(Min, Max) else None
    if late is not None:
        form, begin = late
        early = [(form - scalar).xreplace({PAST: Integer(step)}) for step in range(begin)]
        if all(map(is_finite, early)):
            return Add(_summed(form, settled, scalars), *early)
        # The form has a pole among the first steps, where it does not hold: it is summed from its first step on.
        first = [settled - scalar.xreplace({PAST: Integer(step)}) for step in range(begin)]
        return Add(_summed(form.xreplace({PAST: PAST + begin}), settled, scalars), *first)
    pieces = scalars.pieces(scalar)
    if pieces is None:
        return Sum(settled - scalar, (PAST, 0, oo))
    total = []
    for piece in pieces:
        difference = present(scalars.limit(piece, PAST)) - piece
        closed = scalars.sum_over_past(difference)
        if closed is None:
            total.append(Sum(scalars.write(difference), (PAST, 0, oo)))
        else:
            total.append(scalars.write(present(scalars.limit(closed))))
    return Add(*total)


def unsummable(method: Method) -> Missing | None:
    """Why there is no shift: it exists where every gain settles exponentially fast; ``1/(n+1)`` does not."""
    missing = unsettled(method)
    if missing is not None or is_steady_step(method):
        return missing
    scalars = method.numbers
    limit = partial(known_limit, scalars=scalars)
    if method.rate is not None and isinstance(method.rate.settled, Missing):
        return method.rate.settled
    if method.rate is not None and not settles(method.rate.factor, STEP, method.ranges, limit):
        words = f" is not known to settle exponentially fast{_ONLY}"
        return Missing(
            Sentence.of(Whose(method.name), "the rate ", method.rate.factor, words), (Advice.FINITE,)
        )
    if is_steady(method):
        return None
    for position, (now, settled) in enumerate(zip(gains(method), limit_gains(method), strict=True), 1):
        difference = scalars.field.read(now - settled)
        decays = None if difference is None else _decays(difference, scalars)
        if decays or settles(now, STEP, method.ranges, limit):
            continue
        place = f"momentum {position}: the gain "
        verb = " is not known to" if decays is None else " does not"
        words = f"{verb} settle exponentially fast{_ONLY}"
        return Missing(Sentence.of(Whose(method.name), place, now, words), (Advice.FINITE,))
    return None


def _decays(element: Quotient, scalars: Scalars) -> bool | None:
    """Whether every term of the numerator carries a vanishing power, over a denominator that stays; None: not known.

    A term without one makes the difference a power of n in size.
    """
    powers = scalars.field.power_positions(STEP)
    fading = in_vanishing_powers(scalars.field, element, STEP, scalars.vanishing)
    if isinstance(fading, Missing) or isinstance(scalars.limit(element), Missing):
        return None
    return all(any(exponents[p] for p in powers) for exponents in fading.numerator.to_dict())
