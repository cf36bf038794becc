"""Homogeneous maps: smooth away from 0, ``f(c x) = c^p f(x)`` for c > 0, with exact derivatives of every order.

They stand in for an open function whose degree is declared.  The pieces are products of a power of a positive
quadratic form and of a power of a linear form:

    H(x) = q(x)^s l(x)^k,    q(x) = sum_i (a_i . x)^2,    l(x) = b . x,    2 s + k = p
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import mpmath
from mpmath import mpf

from symmem.verification.ridges import mixing
from symmem.verification.vectors import Number, Vector, dot, real

POWERS = (1, 2)
"""Of the linear form: the odd and the even piece, so that the map is neither odd nor even, and linear for no p."""


@dataclass(frozen=True)
class Piece:
    """``q(x)^((p - k)/2) l(x)^k``, ``rows`` the a_i of q and ``inward`` the b of l."""

    degree: Number
    power: int
    rows: tuple[Vector, ...]
    inward: Vector

    def __call__(self, point: Sequence[mpf], directions: tuple[Sequence[mpf], ...]) -> mpf:
        """The derivative along the directions, by Leibniz: some of them meet q, the others l."""
        places = range(len(directions))
        total = mpf(0)
        for count in range(min(self.power, len(directions)) + 1):
            falling = mpmath.ff(self.power, count) * dot(self.inward, point) ** (self.power - count)
            for chosen in combinations(places, count):
                slopes = mpmath.fprod(dot(self.inward, directions[i]) for i in chosen)
                rest = tuple(directions[i] for i in places if i not in chosen)
                total += falling * slopes * self._of_form(point, rest)
        return total

    def _of_form(self, point: Sequence[mpf], directions: tuple[Sequence[mpf], ...]) -> mpf:
        """The derivative of ``q^s``: q is quadratic, so a block of directions is one of them or a pair."""
        exponent, value = (real(self.degree) - self.power) / 2, self._form(point, point)
        total = mpf(0)
        for blocks in _pairings(len(directions)):
            factor = mpmath.ff(exponent, len(blocks)) * value ** (exponent - len(blocks))
            for block in blocks:
                ends = [directions[i] for i in block]
                factor *= 2 * self._form(ends[0], ends[1] if len(ends) == 2 else point)
            total += factor
        return total

    def _form(self, left: Sequence[mpf], right: Sequence[mpf]) -> mpf:
        return mpmath.fsum(dot(row, left) * dot(row, right) for row in self.rows)


def _pairings(count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every way to put so many places into blocks of one or two."""
    if count == 0:
        yield ()
        return
    last = count - 1
    for blocks in _pairings(last):
        yield (*blocks, (last,))
        for block in blocks:
            if len(block) == 1:
                yield (*(each for each in blocks if each != block), (*block, last))


@dataclass(frozen=True)
class HomogeneousMap:
    """``x -> sum_j H_j(x) b_j``, of the degree of its pieces."""

    pieces: tuple[tuple[Piece, Vector], ...]

    def __call__(self, point: Sequence[mpf], *directions: Sequence[mpf]) -> Vector:
        """The k-th derivative along k directions; k = 0: the map itself."""
        sizes = [(piece(point, directions), outward) for piece, outward in self.pieces]
        return tuple(mpmath.fsum(size * outward[i] for size, outward in sizes) for i in range(len(point)))


@dataclass(frozen=True)
class HomogeneousGradient:
    """``x -> grad sum_j H_j(x)``: its degree is one less than that of the pieces."""

    pieces: tuple[Piece, ...]

    def __call__(self, point: Sequence[mpf], *directions: Sequence[mpf]) -> Vector:
        """The k-th derivative along k directions; k = 0: the map itself."""
        size = len(point)
        units = [tuple(mpf(i == j) for j in range(size)) for i in range(size)]
        return tuple(
            mpmath.fsum(piece(point, (*directions, unit)) for piece in self.pieces) for unit in units
        )

    def potential(self, point: Sequence[mpf]) -> mpf:
        """The function whose gradient it is."""
        return mpmath.fsum(piece(point, ()) for piece in self.pieces)


def homogeneous_map(degree: Number, dimension: int = 3) -> HomogeneousMap:
    """Coupled, and its Jacobian is not symmetric, so it is nobody's gradient."""
    outward = mixing(dimension + 1, dimension, twist=1)
    return HomogeneousMap(tuple(zip(_pieces(degree, dimension), outward, strict=False)))


def homogeneous_gradient(degree: Number, dimension: int = 3) -> HomogeneousGradient:
    """The gradient of a function of one degree more, coupled."""
    return HomogeneousGradient(_pieces(real(degree) + 1, dimension))


def _pieces(degree: Number, dimension: int) -> tuple[Piece, ...]:
    inward = mixing(dimension + 1, dimension)
    rows = tuple(
        tuple((i == j) + entry / 4 for j, entry in enumerate(row))
        for i, row in enumerate(mixing(dimension, dimension, twist=2))
    )
    return tuple(
        Piece(degree, POWERS[j % len(POWERS)], rows, row) for j, row in enumerate(inward[: max(2, dimension)])
    )
