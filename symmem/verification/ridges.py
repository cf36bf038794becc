"""Ridge maps: smooth vector functions whose derivatives of every order are exact.

A profile is a scalar function that knows all its derivatives: ``profile(x, k)`` is the k-th one at x.
Losses and the opaque vector functions of the tests are sums of ridges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import mpmath
from mpmath import mpf

from symmem.verification.vectors import Number, Vector, dot, real

Profile: TypeAlias = Callable[[mpf, int], mpf]


@dataclass(frozen=True)
class Monomial:
    """``x^p / p!``: its k-th derivative is ``x^(p-k) / (p-k)!``, and 0 for k > p."""

    degree: int

    def __call__(self, x: mpf, order: int) -> mpf:
        left = self.degree - order
        return x**left / mpmath.factorial(left) if left >= 0 else mpf(0)


def sine(x: mpf, order: int) -> mpf:
    """``sin``: its derivatives go round with period 4."""
    value = mpmath.cos(x) if order % 2 else mpmath.sin(x)
    return -value if order % 4 >= 2 else value


def exponential(x: mpf, _order: int) -> mpf:
    """``exp``: every derivative is itself."""
    return mpmath.exp(x)


@cache
def _tanh_polynomial(order: int) -> tuple[int, ...]:
    """Coefficients of p_k, ``(log cosh)^(k) (x) = p_k(tanh x)``: p_1 = t, p_(k+1) = (1 - t^2) p_k'."""
    if order == 1:
        return (0, 1)
    slope = [power * c for power, c in enumerate(_tanh_polynomial(order - 1))][1:]
    return tuple(a - b for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True))


def log_cosh(x: mpf, order: int) -> mpf:
    """``log cosh``: its derivatives are polynomials in tanh."""
    if order == 0:
        return mpmath.log(mpmath.cosh(x))
    return mpmath.polyval(_tanh_polynomial(order)[::-1], mpmath.tanh(x))


@dataclass(frozen=True)
class SoftAbsolute:
    """``sqrt(x^2 + eps)``: the k-th derivative is ``p_k(x) (x^2 + eps)^(1/2 - k)``, p_0 = 1,
    ``p_(k+1) = p_k' (x^2 + eps) + (1 - 2k) x p_k``."""

    eps: Number

    def __call__(self, x: mpf, order: int) -> mpf:
        eps, p = real(self.eps), [mpf(1)]
        for k in range(order):
            step = [mpf(0)] * (len(p) + 1)
            for power, c in enumerate(p):
                step[power + 1] += c * (power + 1 - 2 * k)
                if power:
                    step[power - 1] += c * power * eps
            p = step
        return mpmath.polyval(p[::-1], x) * mpmath.sqrt(x * x + eps) / (x * x + eps) ** order


@dataclass(frozen=True)
class Ridge:
    """``weight * profile(inward . x)``; in a map it points along ``outward``."""

    weight: mpf
    inward: Vector
    profile: Profile
    outward: Vector


@dataclass(frozen=True)
class RidgeMap:
    """``x -> sum_j w_j profile_j'(a_j . x) b_j``: where b = a the gradient of
    ``sum_j w_j profile_j(a_j . x)``."""

    ridges: tuple[Ridge, ...]

    def __call__(self, point: Sequence[mpf], *directions: Sequence[mpf]) -> Vector:
        """The k-th derivative along k directions,
        ``sum_j w_j profile_j^(k+1)(a_j . x) prod_i (a_j . v_i) b_j``; k = 0: the map itself."""
        total = [mpf(0)] * len(point)
        for ridge in self.ridges:
            size = ridge.weight * ridge.profile(dot(ridge.inward, point), len(directions) + 1)
            for direction in directions:
                size *= dot(ridge.inward, direction)
            total = [t + size * entry for t, entry in zip(total, ridge.outward, strict=True)]
        return tuple(total)

    def potential(self, point: Sequence[mpf]) -> mpf:
        """``sum_j w_j profile_j(a_j . x)``, whose gradient the map is where b = a."""
        values = (ridge.weight * ridge.profile(dot(ridge.inward, point), 0) for ridge in self.ridges)
        return mpmath.fsum(values)


def _unit(position: int, dimension: int) -> Vector:
    return tuple(mpf(position == i) for i in range(dimension))


def mixing(rows: int, dimension: int, twist: int = 0) -> tuple[Vector, ...]:
    """A fixed full matrix of nonzero eighths, hence exact at every precision; ``twist`` gives another one."""
    residues = [[(3 * j * j + 5 * i * j + 7 * i + 2 + twist * (j + 2 * i + 1)) % 12 for i in range(dimension)]
                for j in range(rows)]  # fmt: skip
    return tuple(tuple(mpf(r - 6 if r < 6 else r - 5) / 8 for r in row) for row in residues)


def entrywise_map(profile: Profile, dimension: int = 3) -> RidgeMap:
    """``x_i -> profile'(x_i)``: Monomial(2) is the identity, SoftAbsolute(eps) is ``x/sqrt(x^2 + eps)``."""
    units = [_unit(i, dimension) for i in range(dimension)]
    return RidgeMap(tuple(Ridge(mpf(1), unit, profile, unit) for unit in units))


def potential_map(dimension: int = 3) -> RidgeMap:
    """``x -> A^T (tanh(A x) + cos(A x))``, the gradient of ``sum_j log cosh(a_j . x) + sin(a_j . x)``.

    Coupled, with a symmetric Jacobian, and neither odd nor even: a wrong sign of its argument shows everywhere.
    """
    rows = mixing(dimension + 1, dimension)
    return RidgeMap(tuple(Ridge(mpf(1), row, profile, row) for row in rows for profile in (log_cosh, sine)))


def skew_map(dimension: int = 3) -> RidgeMap:
    """``x -> B^T tanh(A x)``: coupled, and its Jacobian is not symmetric, so it is nobody's gradient."""
    pairs = zip(mixing(dimension + 1, dimension), mixing(dimension + 1, dimension, twist=1), strict=True)
    return RidgeMap(tuple(Ridge(mpf(1), inward, log_cosh, outward) for inward, outward in pairs))
