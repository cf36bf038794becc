"""A denial has a witness: a loss and a point at which a field is not a gradient (mathematics.md section 12).

For P fixed by the update, ``F_0 = P grad + lambda_0 theta``, there is a modified loss to order j only if

    A_j = lambda_j B,      A_j, B the antisymmetric parts of the Jacobians of  F_j / P  and of  theta / P,

with one number lambda_j for every loss and every point.  A witness is a place at which no number does it, in 50 digits.
Worked example: with P = 1 the field (y, 0) has ``A = (dF_x/dy - dF_y/dx)/2 = 1/2`` everywhere, and B = 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import isfinite

import mpmath
from mpmath import mpf
from sympy import Expr, Rational, Symbol

from symmem.algebra.atoms import THETA, slot
from symmem.algebra.directional import along, derivative
from symmem.algebra.probe import DIGITS, Probe, Ridges, Vector
from symmem.algebra.results import Sentence
from symmem.records import record

DIMENSIONS = 3
NEGLIGIBLE = mpf(10) ** -30
"""Of the size of the Jacobians: what remains of a zero after rounding in 50 digits is far smaller."""


@record(frozen=True)
class Witness:
    """At ``point`` the Jacobian of the field ``what`` is not symmetric, with the loss of :mod:`symmem.algebra.probe`.

    entries    i, j, counted from 0: the places (i, j) and (j, i), row and column
    jacobian   the numbers that stand there; ``gap`` is their difference
    relative   the gap against the size of the Jacobian
    values     the parameters
    decay      the multiple lambda of theta that is taken off before the division by P
    rows       the a_j of the loss
    """

    what: Sentence
    point: tuple[Rational, ...]
    entries: tuple[int, int]
    jacobian: tuple[float, float]
    gap: float
    relative: float
    values: tuple[tuple[str, Rational], ...]
    decay: float
    rows: tuple[tuple[Rational, ...], ...]


def witness(
    field: Expr, preconditioner: Expr, values: Mapping[Symbol, Rational], what: Sentence
) -> Witness | None:
    """A place at which ``(field - lambda theta) / P`` is no gradient, for any number lambda; None if none was found.

    ``what`` says in words which field it is.
    """
    if field == 0:
        return None
    with mpmath.workdps(DIGITS):
        seen = [
            (place, _columns(field / preconditioner, place, values), _columns(THETA / preconditioner, place, values))
            for place in _places()
        ]  # fmt: skip
        seen = [each for each in seen if _is_real(each[1]) and _is_real(each[2])]
        if not seen:
            return None
        multiple = _multiple(seen)
        for place, columns, decays in seen:
            size = _size(columns)
            for i, j in PAIRS:
                # Row i of column j: the derivative of the entry i along the axis j.
                above, below = (columns[q][p] - multiple * decays[q][p] for p, q in ((i, j), (j, i)))
                gap = above - below
                if abs(gap) > NEGLIGIBLE * size and _can_be_shown(above, below, gap):
                    given = tuple((symbol.name, value) for symbol, value in values.items())
                    return Witness(
                        what, place, (i, j), (float(above), float(below)), float(gap), float(abs(gap) / size),
                        given, float(multiple), _rows(),
                    )  # fmt: skip
    return None


def _can_be_shown(above: mpf, below: mpf, gap: mpf) -> bool:
    """Whether they are floats too: sinh(10**6), or a gap of 1e-400, is no number that a person could check."""
    return isfinite(float(above)) and isfinite(float(below)) and float(gap) != 0


Point = tuple[Rational, ...]
Columns = list[Vector]
"""A Jacobian: the derivative along each axis."""
PAIRS = tuple(combinations(range(DIMENSIONS), 2))


def _places() -> Iterator[Point]:
    """Points in general position."""
    for seed in (2, 5, 9):
        yield tuple(Rational(7 * seed + 11 * k * k - 5 * k + 3, 29 + 4 * k) - 1 for k in range(DIMENSIONS))


def _is_real(columns: Columns) -> bool:
    """Where Phi takes a root of a negative number there is nothing to see."""
    return all(isinstance(entry, mpf) and mpmath.isfinite(entry) for column in columns for entry in column)


def _rows() -> tuple[Point, ...]:
    rows = [[(5 * j * j + 3 * i * j + 7 * i + j + 2) % 11 - 4 for i in range(DIMENSIONS)] for j in range(5)]
    return tuple(tuple(Rational(entry, 4) for entry in row) for row in rows)


def _loss() -> Ridges:
    return Ridges(tuple(map(_numbers, _rows())))


def _numbers(exact: Point) -> Vector:
    return tuple(mpf(int(x.p)) / int(x.q) for x in exact)


def _columns(field: Expr, place: Point, values: Mapping[Symbol, Rational]) -> Columns:
    """Column by column: the derivative of the field along each unit vector."""
    moved = derivative(field, along(slot(0)))
    columns: Columns = []
    for axis in range(DIMENSIONS):
        unit = tuple(mpf(axis == k) for k in range(DIMENSIONS))
        columns.append(Probe(_loss(), _numbers(place), values, {slot(0): unit}).vector(moved))
    return columns


def _size(columns: Columns) -> mpf:
    return max(abs(entry) for column in columns for entry in column) or mpf(1)


def _multiple(seen: list[tuple[Point, Columns, Columns]]) -> mpf:
    """The only candidate for lambda: where the decay's asymmetry is largest, it has to balance the field's."""
    rows = [
        (decays[j][i] - decays[i][j], columns[j][i] - columns[i][j])
        for _, columns, decays in seen
        for i, j in PAIRS
    ]
    decay, gap = max(rows, key=lambda row: abs(row[0]))
    return gap / decay if abs(decay) > NEGLIGIBLE else mpf(0)
