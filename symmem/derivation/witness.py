"""A denial has a witness: a loss and a point at which a field is not a gradient (mathematics.md section 12).

For P fixed by the update, ``F_0 = P grad + lambda_0 theta``, there is a modified loss to order j only if

    A_j = lambda_j B,      A_j, B the antisymmetric parts of the Jacobians of  F_j / P  and of  theta / P,

with one number lambda_j for every loss and every point.  A witness is a place at which no number does it, in 50 digits.
Worked example: with P = 1 the field (y, 0) has ``A = (dF_x/dy - dF_y/dx)/2 = 1/2`` everywhere, and B = 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import mpmath
from mpmath import mpf
from sympy import Expr, Rational, Symbol

from symmem.algebra.atoms import THETA, slot
from symmem.algebra.directional import along, derivative
from symmem.algebra.probe import DIGITS, Probe, Ridges, Vector
from symmem.records import record

DIMENSIONS = 3
NEGLIGIBLE = mpf(10) ** -30
"""Of the size of the Jacobians: what remains of a zero after rounding in 50 digits is far smaller."""


@record(frozen=True)
class Witness:
    """At ``point``, with the loss of :mod:`symmem.algebra.probe`, the entries i, j of the Jacobian differ by ``gap``.

    ``relative`` is the gap against the size of the Jacobian; ``values`` are the parameters.
    """

    point: tuple[Rational, ...]
    entries: tuple[int, int]
    gap: float
    relative: float
    values: tuple[tuple[str, Rational], ...]


def witness(field: Expr, preconditioner: Expr, values: Mapping[Symbol, Rational]) -> Witness | None:
    """A place at which ``(field - lambda theta) / P`` is no gradient, for any number lambda; None if none was found."""
    if field == 0:
        return None
    with mpmath.workdps(DIGITS):
        asymmetries = [
            (place, left, right)
            for place in _places()
            for left, right in [(_antisymmetric(field / preconditioner, place, values),
                                 _antisymmetric(THETA / preconditioner, place, values))]
        ]  # fmt: skip
        multiple = _multiple(asymmetries)
        for place, (size, gaps), (_, decays) in asymmetries:
            for pair, gap in gaps.items():
                left = gap - multiple * decays[pair]
                if abs(left) > NEGLIGIBLE * size:
                    given = tuple((symbol.name, value) for symbol, value in values.items())
                    return Witness(place, pair, float(left), float(abs(left) / size), given)
    return None


Point = tuple[Rational, ...]
Asymmetry = tuple[mpf, dict[tuple[int, int], mpf]]
"""The size of a Jacobian, and the differences of its entries (i, j) and (j, i)."""


def _places() -> Iterator[Point]:
    """Points in general position."""
    for seed in (2, 5, 9):
        yield tuple(Rational(7 * seed + 11 * k * k - 5 * k + 3, 29 + 4 * k) - 1 for k in range(DIMENSIONS))


def _loss() -> Ridges:
    rows = [[(5 * j * j + 3 * i * j + 7 * i + j + 2) % 11 - 4 for i in range(DIMENSIONS)] for j in range(5)]
    return Ridges(tuple(tuple(mpf(entry) / 4 for entry in row) for row in rows))


def _antisymmetric(field: Expr, place: Point, values: Mapping[Symbol, Rational]) -> Asymmetry:
    """Column by column: the derivative of the field along each unit vector."""
    point = tuple(mpf(int(x.p)) / int(x.q) for x in place)
    moved = derivative(field, along(slot(0)))
    columns: list[Vector] = []
    for axis in range(DIMENSIONS):
        unit = tuple(mpf(axis == k) for k in range(DIMENSIONS))
        columns.append(Probe(_loss(), point, values, {slot(0): unit}).vector(moved))
    size = max(abs(entry) for column in columns for entry in column) or mpf(1)
    pairs = combinations(range(DIMENSIONS), 2)
    return size, {(i, j): columns[i][j] - columns[j][i] for i, j in pairs}


def _multiple(asymmetries: list[tuple[Point, Asymmetry, Asymmetry]]) -> mpf:
    """The only candidate for lambda: where the decay's asymmetry is largest, it has to balance the field's."""
    rows = [
        (decays[pair], gaps[pair])
        for _, (_, gaps), (size, decays) in asymmetries
        for pair in gaps
        if size > 0
    ]
    decay, gap = max(rows, key=lambda row: abs(row[0]))
    return gap / decay if abs(decay) > NEGLIGIBLE else mpf(0)
