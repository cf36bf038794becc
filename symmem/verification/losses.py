"""Losses with exact derivative tensors: the ground that the literal optimizer and brute force stand on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpmath import mpf

from symmem.verification.ridges import (
    Monomial,
    Profile,
    Ridge,
    RidgeMap,
    exponential,
    log_cosh,
    mixing,
    sine,
)
from symmem.verification.vectors import Number, Vector, dot, vector


@dataclass(frozen=True)
class Loss:
    """``L(theta) = sum_j w_j profile_j(a_j . theta)``: every derivative exact at the working precision."""

    ridges: tuple[Ridge, ...]

    def value(self, theta: Sequence[mpf]) -> mpf:
        """``L(theta)``."""
        return sum((r.weight * r.profile(dot(r.inward, theta), 0) for r in self.ridges), mpf(0))

    def gradient(self, theta: Sequence[mpf]) -> Vector:
        """``grad L(theta)``."""
        return self.contraction(theta)

    def contraction(self, theta: Sequence[mpf], *vectors: Sequence[mpf]) -> Vector:
        """``D^(k+1) L [v_1, ..., v_k]`` as a vector: no vectors, the gradient; one, Hessian times v_1."""
        return RidgeMap(self.ridges)(theta, *vectors)


def ridge_loss(terms: Sequence[tuple[Number, Profile, Sequence[Number]]]) -> Loss:
    """The loss with these ``(weight, profile, direction)``: exact at every precision if they are dyadic."""
    vectors = [(vector([weight])[0], profile, vector(direction)) for weight, profile, direction in terms]
    return Loss(tuple(Ridge(weight, direction, profile, direction) for weight, profile, direction in vectors))


def quadratic_loss(matrix_root: Sequence[Sequence[Number]]) -> Loss:
    """``|R theta|^2 / 2``: the Hessian is ``R^T R`` and every higher derivative is zero."""
    return ridge_loss([(1, Monomial(2), row) for row in matrix_root])


def coupled_loss(dimension: int = 3) -> Loss:
    """A fixed smooth loss, far from special: coupled, not quadratic, no zero in its tensors up to D^4."""
    profiles: list[tuple[int, Profile]] = [
        (6, exponential),
        (5, sine),
        (8, log_cosh),
        (7, Monomial(4)),
        (3, Monomial(3)),
        (9, Monomial(2)),
        (4, exponential),
        (6, sine),
    ]
    rows = mixing(len(profiles), dimension)
    return ridge_loss([(mpf(w) / 4, p, row) for (w, p), row in zip(profiles, rows, strict=True)])


def probe_point(dimension: int = 3) -> Vector:
    """A point where the gradient of ``coupled_loss`` has no small entry and no two equal ones."""
    return tuple(mpf(4 * i % 17 - 8) / 8 + mpf(1) / 16 for i in range(dimension))
