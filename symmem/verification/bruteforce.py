"""Brute force: memoryless direction and corrections from their meaning alone, with no formula.

Derivatives are taken by differences of a tiny step at a raised precision: two evaluations give more digits
than any stencil at the ordinary precision.
"""

from __future__ import annotations

from collections.abc import Sequence

import mpmath
from mpmath import mpf

from symmem.verification.literal import Literal
from symmem.verification.vectors import Number, Vector, VerificationError, distance, real, vector


def memoryless(literal: Literal, theta: Sequence[Number], n: int, digits: int = 50) -> Vector:
    """``F^(n)(theta) = F^(n)(theta, ..., theta)``, term by term on the constant history."""
    return literal.direction([theta] * (n + 1), digits)


def correction(literal: Literal, theta: Sequence[Number], n: int, lr: Number, digits: int = 50) -> Vector:
    """``M^(n)(theta) = d/dtau F^(n)(theta, theta + tau lr v_1, ..., theta + tau lr v_n)`` at tau = 0, with
    ``v_k = sum_{s=n-k..n-1} rate(s) F^(s)(theta)`` for the iterate k steps ago.  The factor lr is included.

    Central difference with tau = 10^-digits at 3 digits + 20: the error is about 10^(-2 digits).
    """
    working = 3 * digits + 20
    with mpmath.workdps(working):
        point, rate, tau = vector(theta), real(lr), mpf(10) ** -digits
        past = literal.frozen(point, n, working)
        ways = [(mpf(0),) * len(point)]
        for s in reversed(range(n)):
            step = literal.rate(s, working)
            ways.append(tuple(v + step * f for v, f in zip(ways[-1], past[s], strict=True)))

        def moved(by: mpf) -> Vector:
            history = [tuple(x + by * rate * v for x, v in zip(point, way, strict=True)) for way in ways]
            return literal.direction(history, working)

        return tuple((up - down) / (2 * tau) for up, down in zip(moved(tau), moved(-tau), strict=True))


def exact_direction(
    literal: Literal, theta: Sequence[Number], n: int, lr: Number, digits: int = 50
) -> Vector:
    """The direction that no memory could tell apart: ``F^(n)(theta_n, ..., theta_0)`` of the one run of the
    literal optimizer that is at ``theta_n = theta``.  Its expansion in lr is F_0 + lr F_1 + lr^2 F_2 + ...

    The start is found by ``theta_0 <- theta_0 + (theta - theta_n)``, a contraction when n lr is small.
    """
    with mpmath.workdps(digits):
        goal, start = vector(theta), vector(theta)
        miss = mpf("inf")
        while True:
            end, direction = literal.trace(start, lr, n, digits)[-1]
            previous, miss = miss, distance(goal, end)
            if miss == 0 or miss >= previous:
                break
            start = tuple(x + (g - e) for x, g, e in zip(start, goal, end, strict=True))
        if miss > mpf(10) ** (3 - digits) * max(1, distance(goal, [0] * len(goal))):
            way = "put in other values of the parameters"
            raise VerificationError(f"no start reaches the point in {n} steps with lr = {lr}: {way}")
        return direction


def expansion(
    literal: Literal, theta: Sequence[Number], n: int, order: int, digits: int = 50
) -> list[Vector]:
    """``F_0^(n), ..., F_order^(n)`` at theta: the Taylor coefficients in lr of ``exact_direction``.

    Interpolation at lr = +-delta, +-2 delta, ...: the error of F_order is O(delta^2) or smaller.
    """
    half = order // 2 + 1
    exponent = digits // 2 + 10
    working = digits + (order + 1) * exponent + 20
    with mpmath.workdps(working):
        delta = mpf(10) ** -exponent
        nodes = [k for k in range(-half, half + 1) if k != 0]
        samples = [exact_direction(literal, theta, n, k * delta, working) for k in nodes]
        system = mpmath.matrix([[mpf(k) ** j for j in range(len(nodes))] for k in nodes])
        inverse = system**-1
        return [
            tuple(
                mpmath.fsum(inverse[j, i] * sample[entry] for i, sample in enumerate(samples)) / delta**j
                for entry in range(len(samples[0]))
            )
            for j in range(order + 1)
        ]
