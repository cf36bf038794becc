"""The correction at step n with its sums over the past kept apart: for those who compute it in floating point.

Each sum adds numbers of one sign (mathematics.md section 14); a closed form of all of them does not show it.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Add, Dummy, Expr, Symbol

from symmem.algebra.atoms import LR, PAST, STEP
from symmem.algebra.grouping import group
from symmem.algebra.scalars import Scalars
from symmem.derivation.correction import contributions, finite_correction
from symmem.derivation.gains import at_frozen_point
from symmem.derivation.history import past_terms, sum_over_past
from symmem.derivation.second_order import second_coefficient
from symmem.method.kernel import Kernel
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.records import record

Marked = tuple[tuple[Symbol, Kernel], ...]
"""Kernels that add up to that of a channel, each with its mark."""


@record(frozen=True)
class MarkedSums:
    """``M^(n)`` with ``marks`` in it, and the field of its numbers; with every mark 1 it is M."""

    M: Expr
    numbers: Scalars
    marks: tuple[Symbol, ...] = ()


def marked_sums(method: Method, order: int) -> MarkedSums:
    """``M^(n)`` to the order, 1 or 2; marks are in its first order alone."""
    first = marked_correction(method)
    return first if order == 1 else replace(first, M=first.M + LR**2 * second_coefficient(method))


def marked_correction(method: Method) -> MarkedSums:
    """The correction of first order.

    A mark stands before the memory of each kernel and, where Phi is linear, before each gain of the past: the
    coefficient of ``mark_l mark'_m`` is ``sum_s tail_l(n, s) gain_m(s)``.
    """
    one = merged(method)
    if one.is_cascade:  # its sums stand inside one another
        return MarkedSums(finite_correction(method), method.numbers)
    memories = [_marked(channel.kernel.remembered.shape) for channel in one.channels]
    gains = [_marked(channel.kernel) for channel in one.channels]
    marks = tuple(mark for row in (*memories, *gains) for mark, _ in row)
    field = method.numbers.field
    numbers = replace(method.numbers, field=replace(field, constants=(*field.constants, *marks)))
    marked = replace(one, numbers=numbers)
    update = Add(*past_terms(one))
    if one.is_linear and not one.is_settled:
        values = tuple(Add(*(mark * kernel.gain(STEP) for mark, kernel in row)) for row in gains)
        update = one.rate_at(PAST) * at_frozen_point(one.phi, marked, values).xreplace({STEP: PAST})
    sums = tuple(_past(update, row, numbers) for row in memories)
    return MarkedSums(LR * group(contributions(marked, sums), numbers), numbers, marks)


def _marked(kernel: Kernel) -> Marked:
    return tuple((Dummy("mark"), part) for part in kernel.summands)


def _past(update: Expr, row: Marked, numbers: Scalars) -> Expr:
    """``sum mark S`` over the kernels that have a memory."""
    return Add(*(mark * sum_over_past(update, kernel, numbers) for mark, kernel in row if kernel.has_memory))
