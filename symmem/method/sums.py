"""Sums over the steps at which a kernel looks: written out between numbers, closed, or an explicit finite sum.

A delay brings ``Min(d, r)`` into a summand.  It is d from r = d on, so that a sum from 0 is that of the late form and a
correction at the first steps:

    sum_{r=0..n} b^(n-r) Min(1, r) = sum_{r=0..n} b^(n-r) - b^n

Where the first d steps have nothing, as of a delay that starts empty, it is a sum that begins at d:

    sum_{r=0..n} b^(n-r) [r >= d] = (1 - b^N)/(1 - b),      N = Max(0, n - d + 1)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from sympy import Add, Dummy, Expr, Integer, Max, Min, Pow, Sum, Symbol, nan, oo, zoo

from symmem.algebra.atoms import AGO, PAST, STEP, is_scalar
from symmem.algebra.every import every
from symmem.algebra.exponential import exponential_field
from symmem.algebra.factored import write
from symmem.algebra.late_form import late_form
from symmem.algebra.sums import definite_sum

MOST_EARLY_STEPS = 4
"""So many first steps of a delay are written out; a longer one keeps its sum."""


def added(summand: Expr, r: Symbol, first: Expr, last: Expr, values: Mapping[Symbol, Expr]) -> Expr:
    """``sum_{r=first..last} summand(r)`` at these values of n and s: written out between numbers, closed, or a Sum."""
    lower, upper = first.xreplace(values), last.xreplace(values)
    if lower.is_Integer and upper.is_Integer:
        return _written_out(summand.xreplace(values), r, lower, upper)
    closed = _closed(summand, r, first, last) if is_scalar(summand) else None
    whole = Sum(summand, (r, first, last)) if closed is None else closed
    return whole.xreplace(values)


def _written_out(summand: Expr, r: Symbol, first: Expr, last: Expr) -> Expr:
    """Term by term; a sum inside, of a memory of memories, is between numbers then, and is written out too."""
    terms = (summand.xreplace({r: Integer(step)}) for step in range(int(first), int(last) + 1))
    return Add(
        *(term.replace(_is_between_numbers, _sum_written_out) if term.has(Sum) else term for term in terms)
    )


def _is_between_numbers(expression: Expr) -> bool:
    return isinstance(expression, Sum) and all(bound.is_Integer for bound in expression.limits[0][1:])


def _sum_written_out(inner: Sum) -> Expr:
    return _written_out(inner.function, *inner.limits[0])


def reached(lead: Expr) -> Expr:
    """1 for an integer ``lead >= 0``, else 0; in maxima and minima, which every reader of a formula knows."""
    return Max(0, Min(1, lead + 1))


@lru_cache(maxsize=256)
def _closed(summand: Expr, r: Symbol, first: Expr, last: Expr) -> Expr | None:
    """``sum_{r=first..last}``, closed; None where it does not close."""
    if not summand.has(Min, Max):
        return _closed_in_field(summand, r, first, last)
    late = late_form(_counted(summand, r, first), r)
    if late is None:
        return None
    settled, steps = late[0].xreplace({r: r - first}), late[1]
    places = [{r: first + step} for step in range(steps)]
    if first == 0 and all(summand.xreplace(place) == 0 for place in places):
        return _begun_late(settled, r, last, steps)
    if steps > MOST_EARLY_STEPS:
        return None
    whole = _closed_in_field(settled, r, first, last)
    if whole is None:
        return None
    parts = [whole]
    for step, place in enumerate(places):
        early = _counted(summand, r, first).xreplace({r: Integer(step)}) - settled.xreplace(place)
        if early.has(nan, zoo, oo):
            return None  # the late form has a pole where it does not hold
        # n >= 0, and n > s: the first step is always there.
        parts.append(early if step == 0 else early * reached(last - first - step))
    return Add(*parts)


def _counted(summand: Expr, r: Symbol, first: Expr) -> Expr:
    """The summand with r counted from the first step, with the minima and maxima that ``r >= 0`` and ``s >= 0`` settle.

    With ``s + 1 + r`` for r: ``Max(0, r - 1)`` is ``s + r``, and ``Min(s, r - 1)`` is s.
    """
    names = {r: Dummy(integer=True, nonnegative=True), PAST: Dummy(integer=True, nonnegative=True)}
    counted = summand.xreplace({r: r + first}).xreplace(names)
    return counted.xreplace({known: name for name, known in names.items()})


def _begun_late(settled: Expr, r: Symbol, last: Expr, steps: int) -> Expr | None:
    """``sum_{r=steps..last}``, empty and 0 where last < steps: with both counted from there it is a sum from 0."""
    closed = _closed_in_field(settled.xreplace({r: r + steps, last: last + steps}), r, Integer(0), last)
    if closed is None:
        return None
    count = last - steps + 1
    return closed.xreplace({last: (count if steps < 2 else Max(0, count)) - 1})  # last >= 0


def _closed_in_field(summand: Expr, r: Symbol, first: Expr, last: Expr) -> Expr | None:
    """By the exact field: the difference of two sums from 0."""
    field = exponential_field([summand], (STEP, PAST, r))
    element = field.read(summand)
    if element is None:
        return None
    total = field.number(0)
    for bound, sign in ((last + 1, 1), (first, -1)):
        index, beyond = bound.as_coeff_Add()[::-1]
        if not (beyond.is_Integer and (beyond in (0, 1) or (index == 0 and beyond > 0))):
            return None  # so many terms beyond an index are not added one by one
        # Nothing stands before r = 0.
        below = field.number(0) if index == 0 else definite_sum(field, element, r, index)
        ends = every(field.read(summand.xreplace({r: index + step})) for step in range(int(beyond)))
        if below is None or ends is None:
            return None
        part = sum(ends, below)
        total = total + part if sign > 0 else total - part
    return _by_age(write(field, total))


def _by_age(closed: Expr) -> Expr:
    """A sum from s + 1 to n in powers of n - s: ``x^n y^s / (x^s y^s)`` is ``x^(n-s)``, and has a value at x = 0."""
    symbols = closed.free_symbols
    if not {STEP, PAST} <= symbols or AGO in symbols or not _divides_by_past(closed):
        return closed
    aged = closed.xreplace({STEP: AGO + PAST})
    field = exponential_field([aged], (AGO, PAST))
    element = field.read(aged)
    found = closed if element is None else write(field, element).xreplace({AGO: STEP - PAST})
    return closed if _divides_by_past(found) else found


def _divides_by_past(formula: Expr) -> bool:
    """Whether it has a power such as ``x^(1-s)``."""
    exponents = (power.exp for power in formula.atoms(Pow) if PAST in power.exp.free_symbols)
    return any(each.coeff(PAST).is_negative and STEP not in each.free_symbols for each in exponents)
