"""A training problem with matrix parameters: a smooth, non-convex loss on which programs run side by side.

Parameters are flat vectors here; ``shapes`` says which entries form a matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import mpmath
from mpmath import mpf

from symmem.verification.losses import Loss, ridge_loss
from symmem.verification.ridges import Monomial, Profile, log_cosh, mixing, sine
from symmem.verification.vectors import Vector

DIGITS = 30


@dataclass(frozen=True)
class Problem:
    """A loss of several matrices, and where a run starts."""

    shapes: tuple[tuple[int, ...], ...]
    loss: Loss
    start: Vector

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many entries each matrix has."""
        return tuple(math.prod(shape) for shape in self.shapes)

    def gradient(self, theta: list[float]) -> list[float]:
        """The gradient at a point of floats, exact but for the last rounding."""
        with mpmath.workdps(DIGITS):
            return [float(entry) for entry in self.loss.gradient([mpf(x) for x in theta])]

    def place(self, position: int) -> tuple[int, tuple[int, ...]]:
        """The matrix, counted from 0, and the index in it of an entry of the flat vector."""
        for matrix, (shape, size) in enumerate(zip(self.shapes, self.sizes, strict=True)):
            if position < size:
                index = []
                for length in reversed(shape):
                    position, rest = divmod(position, length)
                    index.append(rest)
                return matrix, tuple(reversed(index))
            position -= size
        raise IndexError(position)


SQUARES = ((2, 2), (2, 2), (2, 2))
"""For programs that treat other matrices with a further factor."""


def matrix_problem(shapes: tuple[tuple[int, ...], ...] = ((2, 3), (3, 2))) -> Problem:
    """Sines make it non-convex, squares and log cosh keep it bounded below; no entry of its gradient starts small."""
    dimension = sum(math.prod(shape) for shape in shapes)
    profiles: list[Profile] = [sine, log_cosh, Monomial(2), sine, log_cosh, Monomial(2)]
    rows = mixing(2 * dimension, dimension, twist=3)
    terms = [(mpf(3) / 8, profiles[j % len(profiles)], row) for j, row in enumerate(rows)]
    start = tuple(mpf((7 * i * i + 3 * i) % 19 - 9) / 16 + mpf(1) / 32 for i in range(dimension))
    return Problem(shapes, ridge_loss(terms), start)
