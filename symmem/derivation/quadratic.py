"""A quadratic loss: the memoryless iteration summed to all orders.

For a method linear in the gradient and a Hessian eigenvalue a, iterates ``mu^n`` solve ``1 - mu = h a W(1/mu)`` with
``W(z) = sum_k w_k z^k`` the weight of the gradient k steps ago.  The slow root, 1 at h = 0, is the multiplier of the
memoryless iteration to every order, and ``log(mu)/h`` the rate of its principal flow.
"""

from __future__ import annotations

from dataclasses import dataclass

import mpmath
from sympy import Add, Expr, Mul, Poly, Pow, Rational, S, Symbol, sqrt

from symmem.algebra.atoms import LR
from symmem.algebra.rational import Quotient
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.channels import channels_of
from symmem.derivation.integrability import gradient_gain
from symmem.errors import DerivationError
from symmem.method.numbers import scalars_of

EIGENVALUE = Symbol("a")
MULTIPLIER = Symbol("mu")
PRODUCT = LR * EIGENVALUE


@dataclass(frozen=True)
class Quadratic:
    """The iteration on a quadratic loss, mode by mode; a is the Hessian's eigenvalue, lr the step size.

    equation    a polynomial in mu that is zero
    root        the slow root in closed form, where the equation has degree 1 or 2
    series      ``(1, mu_1, ...)``: mu = sum_j mu_j (lr a)^j
    flow        ``(r_1, ...)``: log(mu) / lr = a (r_1 + r_2 (lr a) + ...)
    discriminant  a polynomial in ``lr a``; the series converges up to its nearest zero on the slow root's sheet
    radius      that distance, as a number, with the parameters at ``values``; None where it is infinite
    """

    equation: Expr
    root: Expr | None
    series: tuple[Expr, ...]
    flow: tuple[Expr, ...]
    discriminant: Expr
    radius: float | None
    values: tuple[tuple[str, Rational], ...]


def quadratic(optimizer: Optimizer, order: int) -> Quadratic:
    """The summed form of a method linear in the gradient; its series to ``(lr a)^(order + 1)``."""
    gain = gradient_gain(optimizer)
    if gain is None:
        raise DerivationError(
            f"{optimizer.name}: --quadratic needs an update that is linear in the gradient, with no other variable"
        )
    if {"a", "mu"} & {parameter.name for parameter in optimizer.parameters}:
        raise DerivationError(
            f"{optimizer.name}: --quadratic writes a and mu; rename the parameter of that name"
        )
    forces = _forces(optimizer, gain)
    equation = _equation(forces)
    scalars = scalars_of(optimizer)
    steps = _series(optimizer, forces, order + 1)
    logs = _logarithm(steps, scalars.field.number(0), scalars.field.number(1))
    discriminant = (
        Poly(equation, MULTIPLIER).discriminant() if Poly(equation, MULTIPLIER).degree() > 1 else S.One
    )
    values = tuple((parameter.name, parameter.default) for parameter in optimizer.parameters)
    return Quadratic(
        equation.as_expr(),
        _slow_root(equation),
        tuple(scalars.write(step) for step in steps),
        tuple(scalars.write(log) for log in logs[1:]),
        discriminant.factor(),
        _radius(equation, {Symbol(name): value for name, value in values}),
        values,
    )


def _forces(optimizer: Optimizer, gain: Expr) -> tuple[tuple[Expr, Expr], ...]:
    """Pairs (w_i, beta_i): ``W(z) = sum_i w_i (1 - beta_i)/(1 - beta_i z)``, the w_i adding up to the whole gain."""
    channel = channels_of(optimizer).channels[0]
    scalars = scalars_of(optimizer)
    return tuple((scalars.tidy(part * gain / channel.gain), beta) for part, beta in channel.parts)


def _equation(weights: tuple[tuple[Expr, Expr], ...]) -> Poly:
    """``(mu - 1) prod (mu - beta_i) + h a sum_i w_i (1 - beta_i) mu prod_{j != i} (mu - beta_j)``, beta_i != 0."""
    betas = [beta for _, beta in weights if beta != 0]
    product = Mul(*(MULTIPLIER - beta for beta in betas))
    forces = []
    for weight, beta in weights:
        if beta == 0:
            forces.append(weight * product)
        else:
            others = Mul(*(MULTIPLIER - other for other in betas if other != beta))
            forces.append(weight * (1 - beta) * MULTIPLIER * others)
    whole = (MULTIPLIER - 1) * product + PRODUCT * Add(*forces)
    polynomial = Poly(whole.together().as_numer_denom()[0], MULTIPLIER)
    return Poly([(c / polynomial.LC()).cancel() for c in polynomial.all_coeffs()], MULTIPLIER)


def _slow_root(equation: Poly) -> Expr | None:
    """The root that is 1 at h = 0, for a monic equation of degree 1 or 2."""
    coefficients = equation.all_coeffs()
    if len(coefficients) == 2:
        return -coefficients[1]
    if len(coefficients) == 3:
        _, linear, constant = coefficients
        # At h = 0 the roots are 1 and beta < 1: the slow one is the larger.
        return (-linear + sqrt(Pow(linear, 2) - 4 * constant)) / 2
    return None


def _series(optimizer: Optimizer, forces: tuple[tuple[Expr, Expr], ...], order: int) -> list[Quotient]:
    """``mu_0, ..., mu_order``, by iterating ``y = x sum_i w_i (1 - y)/(1 - y/(1 - beta_i))``, mu = 1 - y."""
    field = scalars_of(optimizer).field
    zero, one = field.number(0), field.number(1)

    def read(expression: Expr) -> Quotient:
        element = field.read(expression)
        if element is None:
            raise DerivationError(f"{optimizer.name}: {expression} is not rational in the parameters")
        return element

    kernel = [(read(w), one / (one - read(beta))) for w, beta in forces]
    y = [zero] * (order + 1)
    for _ in range(order):
        total = [zero] * (order + 1)
        for weight, slope in kernel:
            numerator = [one - y[0], *(-c for c in y[1:])]
            denominator = [one - slope * y[0], *(-(slope * c) for c in y[1:])]
            total = [t + weight * c for t, c in zip(total, _divided(numerator, denominator), strict=True)]
        y = [zero, *total[:-1]]
    return [one - y[0], *(-c for c in y[1:])]


def _divided(numerator: list[Quotient], denominator: list[Quotient]) -> list[Quotient]:
    """The quotient of two truncated power series."""
    result: list[Quotient] = []
    for position, value in enumerate(numerator):
        for earlier, found in enumerate(result):
            value = value - found * denominator[position - earlier]
        result.append(value / denominator[0])
    return result


def _logarithm(series: list[Quotient], zero: Quotient, one: Quotient) -> list[Quotient]:
    """``log`` of a power series with constant term 1: ``j l_j = j s_j - sum_i i l_i s_{j-i}``."""
    logs = [zero]
    count = zero
    for j in range(1, len(series)):
        count = count + one
        total, index = count * series[j], zero
        for i in range(1, j):
            index = index + one
            total = total - index * logs[i] * series[j - i]
        logs.append(total / count)
    return logs


def _radius(equation: Poly, values: dict[Symbol, Rational]) -> float | None:
    """The distance from ``x = lr a = 0`` to the nearest point where the slow root meets another one."""
    x = Symbol("x")
    placed = Poly(equation.as_expr().xreplace(values).subs(LR, x / EIGENVALUE), MULTIPLIER, x)
    if placed.degree(MULTIPLIER) < 2:
        return None
    discriminant = Poly(Poly(placed.as_expr(), MULTIPLIER).discriminant(), x)
    candidates = sorted(
        mpmath.polyroots([_number(c) for c in discriminant.all_coeffs()], maxsteps=200, extraprec=400),
        key=abs,
    )
    rows = [Poly(c, x).all_coeffs() for c in Poly(placed.as_expr(), MULTIPLIER).all_coeffs()]
    for candidate in candidates:
        if abs(candidate) > 1e-12 and _meets(rows, candidate):
            return float(abs(candidate))
    return None


def _meets(rows: list[list[Expr]], candidate: mpmath.mpc) -> bool:
    """Follows the slow root along the ray to the candidate: is it one of the two that coincide there?"""
    slow, steps = mpmath.mpc(1), 400
    for step in range(1, steps + 1):
        # Ever smaller steps towards the branch point, where roots move like a square root.
        at = candidate * (1 - (1 - mpmath.mpf(step) / steps) ** 2)
        roots = mpmath.polyroots(
            [mpmath.polyval([_number(c) for c in row], at) for row in rows], maxsteps=200, extraprec=200
        )
        slow = min(roots, key=lambda root: abs(root - slow))
    gaps = sorted(abs(root - slow) for root in roots)
    return bool(gaps[1] < 1e-4)


def _number(value: Expr) -> mpmath.mpf:
    rational = Rational(value)
    return mpmath.mpf(int(rational.p)) / int(rational.q)
