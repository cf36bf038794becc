"""Sums over the past: how far the iterate k steps ago lies from the present one, weighted by the memory.

    S = sum_{k=1..n} c(n, k) sum_{s=n-k..n-1} F^(s) = sum_{s=0..n-1} tail(n, s) F^(s)        (mathematics.md section 2)

for the shape c of a kernel: its weights without the factor in front.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from sympy import Add, Expr, Max, Min, Mul, S, Sum, Symbol

from symmem.algebra.atoms import PAST, STEP, split_scalar, terms_of
from symmem.algebra.gradients import expanded
from symmem.algebra.passes import collect, distribute
from symmem.algebra.pieces import merge
from symmem.algebra.rational import Quotient
from symmem.algebra.scalars import Scalars
from symmem.derivation.gains import frozen_update, gains
from symmem.method.kernel import Kernel
from symmem.method.method import Method

Span: TypeAlias = tuple[Expr, Expr, Expr]
"""A part of a tail, with the first and the last step of its own."""
EARLIER = Symbol("r")
"""The index of a sum inside a sum over past steps."""


def past_sum(method: Method, shape: Kernel) -> Expr:
    """``S`` for finite n: closed where the sums close, with explicit finite sums where they do not.

    Heavy ball at n = 1 has seen one step, of the first gradient alone, and remembers it by beta:

    >>> from symmem import load
    >>> from symmem.method.reading import method_of
    >>> heavy_ball = method_of(load("heavyball"))
    >>> past_sum(heavy_ball, heavy_ball.channels[0].kernel.shape).subs(STEP, 1).factor()
    beta*grad
    """
    if not shape.has_memory:
        return S.Zero
    return sum_over_past(Add(*past_terms(method)), shape, method.numbers)


def sum_over_past(
    summand: Expr, shape: Kernel, scalars: Scalars, part: Expr | None = None, *, is_closed: bool = True
) -> Expr:
    """``sum_{s=0..n-1} tail(n, s) summand(s)``, term by term; ``part`` is one part of the tail in its place.

    Not ``is_closed``: a number that moves with s is left in its sum.
    """
    factor = shape.tail(STEP, PAST) if part is None else part
    closed, open_ = [], []
    # A vector that does not depend on s stays whole: it then needs one product with the Hessian.
    whole = PAST not in split_scalar(summand)[1].free_symbols
    for term in (summand,) if whole else steps_in_front(summand, scalars):
        scalar, vector = split_scalar(term)
        if PAST in vector.free_symbols:
            open_.append(term)
        elif PAST in scalar.free_symbols:
            spans = shape.spans(STEP, PAST) if part is None and factor.has(Min, Max) else _whole(factor)
            numbers = (_over(span, scalar, scalars, is_closed=is_closed) for span in spans)
            closed.append(Add(*numbers) * vector)
        else:
            # sum_s tail(n, s) = sum_k k c(n, k)
            whole_sum = shape.power_moment(STEP, 1) if part is None else sum_scalar(part, scalars)
            closed.append(scalars.tidy(scalar * whole_sum) * vector)
    if open_:
        # A delay has seen some past steps alone: a shorter sum, without a factor that is 0 or 1.
        whole_past = part is not None or not factor.has(Min, Max)
        spans = _whole(factor) if whole_past else shape.spans(STEP, PAST)
        closed += [
            Sum(Mul(tail, Add(*open_)), (PAST, first, last)) for tail, first, last in spans if tail != 0
        ]
    return collect(Add(*closed), scalars)


def _whole(factor: Expr) -> tuple[Span, ...]:
    """The factor over all past steps."""
    return ((factor, S.Zero, STEP - 1),)


def _over(span: Span, scalar: Expr, scalars: Scalars, *, is_closed: bool) -> Expr:
    """The sum of a scalar over the steps of a span, closed where it is over all of them and closes."""
    tail, first, last = span
    if is_closed and first == 0 and last == STEP - 1:
        return sum_scalar(tail * scalar, scalars)
    return S.Zero if tail == 0 else Sum(tail * scalar, (PAST, first, last))


def steps_in_front(summand: Expr, scalars: Scalars) -> Iterator[Expr]:
    """The terms; what a step does is a number before a vector, where all that moves with it is.

    ``D2L(beta^s grad + theta)`` is ``beta^s D2L(grad)`` and ``D2L(theta)``; ``D2L(grad/sqrt(beta^s grad^2 + eps))``
    stays as it is.
    """
    for term in terms_of(distribute(collect(summand, scalars))):
        parts: tuple[Expr, ...] = (term,)
        if _moves(term):
            parts = terms_of(distribute(collect(expanded(term), scalars)))
        yield from (term,) if any(map(_moves, parts)) else parts


def _moves(term: Expr) -> bool:
    """Whether its vector depends on the step."""
    return PAST in split_scalar(term)[1].free_symbols


def past_terms(method: Method) -> tuple[Expr, ...]:
    """``rate(s) F^(s)`` as a sum of terms, each a scalar that may depend on s times a vector.

    Where its vector does not depend on the step, F stays one term: its memory needs one product with the Hessian.
    """
    update, rate = frozen_update(method, gains(method)).xreplace({STEP: PAST}), method.rate_at(PAST)
    if PAST not in split_scalar(update)[1].free_symbols:
        return (rate * update,)
    return tuple(rate * term for term in terms_of(distribute(update)))


def sum_scalar(summand: Expr, scalars: Scalars) -> Expr:
    """``sum_{s=0}^{n-1} summand`` of a scalar: closed piece by piece, else an explicit ``Sum``."""
    if summand == 0:
        return S.Zero
    pieces = scalars.pieces(summand)
    if pieces is None:
        return Sum(summand, (PAST, 0, STEP - 1))
    closed: list[Quotient] = []
    open_: list[Expr] = []
    for piece in pieces:
        total = scalars.sum_over_past(piece)
        if total is None:
            open_.append(Sum(scalars.write(piece), (PAST, 0, STEP - 1)))
        else:
            closed.append(total)
    return Add(*(scalars.write(total) for total in merge(scalars, closed)), *open_)
