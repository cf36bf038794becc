"""Second order in h at finite n, for any optimizer (mathematics.md section 4, "written out at second order").

With ``R(s) = sum_{r=s..n-1} F^(r)``, the iterate k steps ago is ``theta + h D1_k + h^2 D2_k``, and

    sum_k c_l(n,k) D1_k             = sum_s tail_l(n, s) F^(s)                                         =: S_l
    sum_k c_l(n,k) D2_k             = sum_s tail_l(n, s) (F_1^(s) + DF^(s)[R(s)])                      =: U_l
    sum_k c_l(n,k) D2g_l[D1_k,D1_k] = sum_s tail_l(n, s) D2g_l[F^(s), 2 R(s) - F^(s)]                  =: Q_l
    F_2^(n) = sum_l d_l Phi[Dg_l[U_l] + Q_l/2] + 1/2 sum_lm d_l d_m Phi[Dg_l[S_l], Dg_m[S_m]]

The start-up shift d_2 is a sum of the same parts.
"""

from __future__ import annotations

from sympy import Add, Expr, Integer, Rational, S, Sum, Symbol, oo

from symmem.algebra.atoms import LR, PAST, STEP, slot, split_scalar, terms_of
from symmem.algebra.directional import along, derivative
from symmem.algebra.grouping import group
from symmem.algebra.passes import collect, distribute
from symmem.algebra.results import Missing
from symmem.algebra.scalars import Scalars
from symmem.algebra.sums import definite_sum
from symmem.derivation.gains import at_frozen_point, frozen_update, gains, scales, settled_rate
from symmem.derivation.orders.expansion import expansion
from symmem.derivation.past.correction import finite_correction
from symmem.derivation.past.history import EARLIER, past_terms, sum_over_past
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.records import record

_SLOTS = (slot(0), slot(1))


@record(frozen=True)
class PastSteps:
    """The updates of past steps as a method has them, or with marks (:mod:`symmem.derivation.marked_sums`).

    update, later   ``rate(s) F^(s)`` as terms: where it stands by itself, and in R(s)
    first           ``rate(s) F_1^(s)``
    numbers         the field of the scalars
    marks           of S, of the two parts of U, and of Q; ones where nothing is marked
    """

    update: tuple[Expr, ...]
    later: tuple[Expr, ...]
    first: Expr
    numbers: Scalars
    marks: tuple[Expr, Expr, Expr, Expr] = (S.One,) * 4


def past_steps(method: Method) -> PastSteps:
    """Those of the method, without marks."""
    terms = past_terms(method)
    return PastSteps(terms, terms, method.rate_at(PAST) * _first_coefficient(method), method.numbers)


def second_coefficient(method: Method) -> Expr:
    """``F_2^(n)`` for symbolic n: closed where its sums close, with explicit finite sums elsewhere."""
    one = merged(method)
    return second_coefficient_of(one, past_steps(one))


def second_coefficient_of(method: Method, past: PastSteps) -> Expr:
    """The same for a merged method and its past."""
    scalars, (of_s, of_first, of_drift, of_curvature) = past.numbers, past.marks
    changes: dict[Symbol, Expr] = {}
    second: dict[Symbol, Expr] = {}
    moved = derivative(Add(*past.update), along(_partial_sum(past.later, PAST, STEP, scalars)))
    inner = of_first * past.first + of_drift * moved
    for channel, scale in zip(method.channels, scales(method), strict=True):
        shape = channel.kernel.remembered.shape
        if not shape.has_memory or derivative(channel.g, along(_SLOTS[0])) == 0:
            continue
        drift = sum_over_past(inner, shape, scalars)
        curvature = of_curvature * sum_over_past(_curvature(channel.g, past), shape, scalars)
        line = of_s * sum_over_past(Add(*past.update), shape, scalars)
        changes[channel.symbol] = scale * derivative(channel.g, along(line))
        second[channel.symbol] = scale * (derivative(channel.g, along(drift)) + curvature / 2)
    parts = [derivative(method.phi, {symbol: value}) for symbol, value in second.items()]
    for first, one in changes.items():
        slope = derivative(method.phi, {first: _SLOTS[0]})
        for other, two in changes.items():
            bend = derivative(slope, {other: _SLOTS[1]})
            parts.append(Rational(1, 2) * bend.xreplace({_SLOTS[0]: one, _SLOTS[1]: two}))
    frozen = [at_frozen_point(part, method, gains(method)) for part in parts if part != 0]
    return group(frozen, scalars, merge_products=False)


def second_shift(method: Method) -> Expr:
    """``d_2 = sum_s {F_1 - F_1^(s) + D(F^(s) - F)[sum_{r<s} F^(r)] + (s+1) DF[F - F^(s)]}``, all at theta_0.

    Under a schedule every step has its rate: ``rate(s) F^(s)`` and ``rate(s) F_1^(s)`` in their places.
    """
    scalars = method.numbers
    series = expansion(method, 2)
    settled, rate = settled_rate(method), method.rate_at(PAST)
    limit, first = settled * series.memoryless(0), settled**2 * series.memoryless(1)
    past = rate * frozen_update(method, gains(method)).xreplace({STEP: PAST})
    before = _partial_sum(past_terms(method), Integer(0), PAST, scalars)
    summand = [
        first,
        -rate * _first_coefficient(method),
        derivative(past - limit, along(before)),
        (PAST + 1) * derivative(limit, along(limit - past)),
    ]
    rows: dict[Expr, list[Expr]] = {}
    for part in summand:
        for term in terms_of(distribute(collect(part, scalars))):
            scalar, vector = split_scalar(term)
            rows.setdefault(vector, []).append(scalar)
    closed, open_ = [], []
    for vector, factors in rows.items():
        total = _endless_sum(factors, scalars) if PAST not in vector.free_symbols else None
        if total is None:
            open_.append(scalars.add(factors) * vector)
        else:
            closed.append(total * vector)
    if open_:
        closed.append(Sum(Add(*open_), (PAST, 0, oo)))
    return group(closed, scalars, merge_products=False)


def _endless_sum(factors: list[Expr], scalars: Scalars) -> Expr | None:
    """``sum_{s>=0}`` of a sum of scalars, closed; None where it does not close or its terms need each other."""
    element = scalars.field.number(0)
    for factor in factors:
        part = scalars.field.read(factor)
        if part is None:
            return None
        element = element + part
    if element.is_zero():
        return S.Zero
    closed = scalars.sum_over_past(element)
    if closed is None:
        return None
    limit = scalars.limit(closed)
    return None if isinstance(limit, Missing) else scalars.write(limit)


def _first_coefficient(method: Method) -> Expr:
    """``F_1^(s)``: the first-order correction over h at a past step, its own past written with r."""
    return (finite_correction(method) / LR).xreplace({STEP: PAST, PAST: EARLIER})


def _curvature(g: Expr, past: PastSteps) -> Expr:
    """``D2g[F^(s), 2 R(s) - F^(s)]``."""
    bend = derivative(derivative(g, along(_SLOTS[0])), along(_SLOTS[1]))
    if bend == 0:
        return S.Zero
    if all(PAST not in step.free_symbols for step in past.update):
        # R(s) = (n - s) F, and F stays whole: its curvature is one contraction, not one for every pair of terms.
        whole = Add(*past.update)
        return (2 * (STEP - PAST) - 1) * bend.xreplace({_SLOTS[0]: whole, _SLOTS[1]: whole})
    scalars, own = past.numbers, Add(*past.later)
    rest = 2 * _partial_sum(past.later, PAST, STEP, scalars) - own
    parts = []
    for left in terms_of(distribute(collect(Add(*past.update), scalars))):
        for right in terms_of(distribute(collect(rest, scalars))):
            parts.append(collect(bend.xreplace({_SLOTS[0]: left, _SLOTS[1]: right}), scalars))
    return Add(*parts)


def _partial_sum(terms: tuple[Expr, ...], lower: Expr, upper: Expr, scalars: Scalars) -> Expr:
    """``sum_{r=lower..upper-1}`` of the terms: one by one in closed form where that exists."""
    parts = []
    for term in terms:
        scalar, vector = split_scalar(term)
        closed = None if PAST in vector.free_symbols else _between(scalar, lower, upper, scalars)
        if closed is None:
            parts.append(Sum(term.xreplace({PAST: EARLIER}), (EARLIER, lower, upper - 1)))
        else:
            parts.append(closed * vector)
    return collect(Add(*parts), scalars)


def _between(scalar: Expr, lower: Expr, upper: Expr, scalars: Scalars) -> Expr | None:
    """``sum_{r=lower..upper-1} scalar(r)``, the bounds 0, s or n: the sum below the upper bound less the other one.

    ``scalar = b^s`` from s to n: ``(1 - b^n)/(1 - b) - (1 - b^s)/(1 - b) = (b^s - b^n)/(1 - b)``.
    """
    above, below = _below(scalar, upper, scalars), _below(scalar, lower, scalars)
    return None if above is None or below is None else scalars.add([above, -below])


def _below(scalar: Expr, bound: Expr, scalars: Scalars) -> Expr | None:
    """``sum_{r=0..bound-1} scalar(r)``, closed piece by piece; None where a piece does not close."""
    if bound == 0:
        return S.Zero
    # The summation index must not be the bound itself: r is spelled n where the bound is s.
    index = STEP if bound == PAST else PAST
    pieces = scalars.pieces(scalar.xreplace({PAST: index}))
    if pieces is None:
        return None
    closed = [definite_sum(scalars.field, piece, index, bound) for piece in pieces]
    totals = [total for total in closed if total is not None]
    return None if len(totals) < len(closed) else Add(*(scalars.write(total) for total in totals))
