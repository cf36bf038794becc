"""The correction at step n with its sums over the past kept apart: for those who compute it in floating point.

Each sum adds numbers of one sign (mathematics.md section 14); a closed form of all of them does not show it.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Add, Dummy, Expr, S, Symbol

from symmem.algebra.atoms import LR, PAST, STEP, split_scalar, terms_of
from symmem.algebra.grouping import group
from symmem.algebra.passes import distribute
from symmem.algebra.scalars import Scalars
from symmem.derivation.gains import at_frozen_point, frozen_update, gains, is_steady
from symmem.derivation.nested_sums import NestedSums, depth_of_paths, nested_sums
from symmem.derivation.orders.second_order import PastSteps, second_coefficient, second_coefficient_of
from symmem.derivation.past.cascade import along_paths, reads_constants, shapes_of_paths
from symmem.derivation.past.cascade_line import cascade_line
from symmem.derivation.past.correction import contributions, finite_correction
from symmem.derivation.past.history import EARLIER, past_terms, sum_over_past
from symmem.method.kernel import Kernel
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.records import record

Marked = tuple[tuple[Symbol, Kernel], ...]
"""Kernels that add up to that of a channel, each with its mark."""
Tails = tuple[tuple[Symbol, Kernel, Expr | None], ...]
"""The same with the parts of their tails; None where a tail is one part."""

_DEEP = 3
"""From so many memories inside one another on a closed form has no path of one sign at first order."""


@record(frozen=True)
class MarkedSums:
    """``M^(n)`` with ``marks`` in it, and the field of its numbers; with every mark 1 it is M, but for ``nested``.

    ``nested`` is one order by the names of its sums, where several decays need it; M is then the other one alone.
    """

    M: Expr
    numbers: Scalars
    marks: tuple[Symbol, ...] = ()
    nested: NestedSums | None = None


def marked_sums(method: Method, order: int) -> MarkedSums:
    """``M^(n)`` to the order, 1 or 2.

    At order 2 there are marks where F does not depend on the step, or one decay is all there is; elsewhere a sum over
    two decays has no path of one sign, and is put together by :mod:`.nested_sums` where it can be.  So is the
    first order where three memories or more stand inside one another; their second order keeps its closed form.
    """
    one = merged(method)
    first = _first(method, one)
    if order == 1:
        return first
    nested = None if is_steady(one) or depth_of_paths(one) > 1 else nested_sums(one, 2)
    if first.nested is None and (is_steady(one) or len(one.numbers.field.bases) < 2):
        return _with_second(one, first)
    if nested is not None:
        return replace(first, nested=nested)
    return replace(first, M=first.M + LR**2 * second_coefficient(method))


def _first(method: Method, one: Method) -> MarkedSums:
    """The first order, by the names of its sums where memories stand deep inside one another."""
    nested = nested_sums(one, 1) if depth_of_paths(one) >= _DEEP else None
    if nested is None:
        return marked_correction(method)
    return MarkedSums(S.Zero, nested.numbers, nested=nested)


def _with_second(method: Method, first: MarkedSums) -> MarkedSums:
    """``M^(n)`` to order 2: S, the two parts of U, and Q have marks, and so have the gains in F^(s) and in R(s)."""
    kinds = (Dummy("mark"), Dummy("mark"), Dummy("mark"), Dummy("mark"))
    own, update = _marked_update(method, list(kinds))
    rest, later = _marked_update(replace(method, numbers=own.numbers), [])
    field = rest.numbers.field
    known = replace(field, constants=tuple(dict.fromkeys((*field.constants, *first.marks))))
    numbers = replace(rest.numbers, field=known)
    before = first.M.xreplace({STEP: PAST, PAST: EARLIER}) / LR
    now, then = (_terms(each) for each in (update, later))
    past = PastSteps(now, then, method.rate_at(PAST) * before, numbers, kinds)
    second = second_coefficient_of(replace(method, numbers=numbers), past)
    return MarkedSums(first.M + LR**2 * second, numbers, (*first.marks, *own.marks, *rest.marks))


def _terms(update: Expr) -> tuple[Expr, ...]:
    """Term by term; a vector that does not depend on s stays whole, as in history.past_terms."""
    if PAST not in split_scalar(update)[1].free_symbols:
        return (update,)
    return tuple(terms_of(distribute(update)))


def marked_correction(method: Method) -> MarkedSums:
    """The correction of first order.

    A mark stands before every part of a memory and, where Phi is linear, before each gain of the past: the
    coefficient of ``mark_l mark'_m`` is ``sum_s tail_l(n, s) gain_m(s)``.
    """
    one = merged(method)
    if one.is_cascade:
        return _marked_cascade(one)
    rows = [_tails(channel.kernel.remembered.shape) for channel in one.channels]
    marked, update = _marked_update(one, [mark for row in rows for mark, *_ in row])
    sums = tuple(_past(update, row, marked.numbers, is_closed=closes(one)) for row in rows)
    return replace(
        marked, M=LR * group(contributions(replace(one, numbers=marked.numbers), sums), marked.numbers)
    )


def closes(method: Method) -> bool:
    """Whether the sums over the past are computed from their closed forms.

    Products of gains with several decays, as of ``Phi = m1 m2``, are not: each term of their sum has one sign, and in
    what it closes to none has been found, in a search that takes minutes.  A vector that moves with s is no such term.
    """
    if method.is_linear or is_steady(method) or len(method.numbers.field.bases) < 2:
        return True
    moving = (tuple(PAST in part.free_symbols for part in split_scalar(term)) for term in past_terms(method))
    return (True, False) not in moving


def _marked_cascade(method: Method) -> MarkedSums:
    """Where nothing that is read moves, every path from theta to Phi has marks; else sums stand inside one another."""
    if not reads_constants(method):
        return MarkedSums(finite_correction(method), method.numbers)
    rows = [_tails(shape) for shape in shapes_of_paths(method)]
    marks = tuple(mark for row in rows for mark, *_ in row)
    field = method.numbers.field
    numbers = replace(method.numbers, field=replace(field, constants=(*field.constants, *marks)))
    update = Add(*past_terms(method))
    sums = tuple(_past(update, row, numbers) for row in rows)
    parts = along_paths(replace(method, numbers=numbers), sums)
    return MarkedSums(LR * group(parts, numbers), numbers, marks)


def marked_frozen(method: Method) -> MarkedSums:
    """``F^(n)`` in the place of M, with a mark before each gain.

    ``(1 - a^(n+1)) - (1 - b^(n+1))`` is two sums over the past, of which its closed form ``b^(n+1) - a^(n+1)`` has no
    digits left near 1.  In a cascade a value that moves is a sum by itself, and F stays as it is.
    """
    one = merged(method)
    if one.is_cascade:
        return MarkedSums(frozen_update(one, gains(one)), one.numbers)
    rows = [_marked(channel.kernel) for channel in one.channels]
    marks = tuple(mark for row in rows for mark, _ in row)
    field = one.numbers.field
    numbers = replace(one.numbers, field=replace(field, constants=(*field.constants, *marks)))
    values = tuple(Add(*(mark * kernel.gain(STEP) for mark, kernel in row)) for row in rows)
    return MarkedSums(frozen_update(replace(one, numbers=numbers), values), numbers, marks)


def marked_line(method: Method) -> MarkedSums:
    """``F_straight`` of a cascade in the place of M: a square of what is read has sums of several signs in it."""
    marks = tuple(Dummy("mark") for _ in method.channels)
    field = method.numbers.field
    numbers = replace(method.numbers, field=replace(field, constants=(*field.constants, *marks)))
    return MarkedSums(cascade_line(replace(method, numbers=numbers), marks), numbers, marks)


def marked_past(method: Method, shape: Kernel) -> MarkedSums:
    """``S`` for one shape, in the place of M, with the same marks."""
    row = _tails(shape)
    marked, update = _marked_update(method, [mark for mark, *_ in row])
    return replace(marked, M=_past(update, row, marked.numbers, is_closed=closes(method)))


def _marked_update(method: Method, memories: list[Symbol]) -> tuple[MarkedSums, Expr]:
    """The field with these marks and those of the gains, M not yet known; and ``rate(s) F^(s)`` with the latter."""
    rows = [_marked(channel.kernel) for channel in method.channels]
    marks = (*memories, *(mark for row in rows for mark, _ in row))
    field = method.numbers.field
    numbers = replace(method.numbers, field=replace(field, constants=(*field.constants, *marks)))
    update = Add(*past_terms(method))
    if method.is_linear and not method.is_settled:
        values = tuple(Add(*(mark * kernel.gain(STEP) for mark, kernel in row)) for row in rows)
        placed = at_frozen_point(method.phi, replace(method, numbers=numbers), values)
        update = method.rate_at(PAST) * placed.xreplace({STEP: PAST})
    return MarkedSums(S.Zero, numbers, marks), update


def _marked(kernel: Kernel) -> Marked:
    return tuple((Dummy("mark"), part) for part in kernel.summands)


def _tails(shape: Kernel) -> Tails:
    """One mark for each part of each tail."""
    found: list[tuple[Symbol, Kernel, Expr | None]] = []
    for kernel in shape.summands:
        parts = kernel.tails(STEP, PAST)
        found += [(Dummy("mark"), kernel, part if len(parts) > 1 else None) for part in parts]
    return tuple(found)


def _past(update: Expr, row: Tails, numbers: Scalars, *, is_closed: bool = True) -> Expr:
    """``sum mark S`` over the kernels that have a memory."""
    sums = (
        mark * sum_over_past(update, kernel, numbers, part, is_closed=is_closed)
        for mark, kernel, part in row
        if kernel.has_memory
    )
    return Add(*sums)
