"""A quadratic loss: the memoryless iteration summed to all orders (mathematics.md section 4).

For a method linear in the gradient and a Hessian eigenvalue a, iterates ``mu^n`` solve ``1 - mu = h a W(1/mu)`` with
``W(z) = sum_k w_k z^k`` the weight of the gradient k steps ago.  The slow root, 1 at h = 0, is the multiplier of the
memoryless iteration to every order, and ``log(mu)/h`` the rate of its principal flow.
"""

from __future__ import annotations

import mpmath
from sympy import Expr, Poly, Pow, Rational, S, Symbol, sqrt

from symmem.algebra.atoms import GRAD, LR
from symmem.algebra.directional import slope_in
from symmem.algebra.every import every
from symmem.algebra.exponential import ExponentialField
from symmem.algebra.passes import collect
from symmem.algebra.rational import Quotient
from symmem.algebra.results import Missing, Sentence, Whose
from symmem.derivation.gains import unsettled
from symmem.derivation.loss.integrability import gradient_gain
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.records import record

EIGENVALUE = Symbol("a")
MULTIPLIER = Symbol("mu")
PRODUCT = LR * EIGENVALUE


@record(frozen=True)
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


def quadratic(method: Method, order: int) -> Quadratic | Missing:
    """The summed form of a method linear in the gradient; its series to ``(lr a)^(order + 1)``."""
    missing = unsettled(method)
    if missing is not None:
        return missing
    if gradient_gain(method) is None:
        words = "a quadratic loss (--quadratic) needs an update that is linear in the gradient, with no other variable"
        return Missing(Sentence.of(Whose(method.name), words))
    if {"a", "mu"} & {parameter.name for parameter in method.parameters}:
        reason = "the answer for a quadratic loss (--quadratic) writes a and mu"
        return Missing(
            Sentence.of(Whose(method.name), reason), (Sentence.of("rename the parameter of that name"),)
        )
    equation = _equation(_response(method))
    scalars = method.numbers
    steps = _series(method, equation, order + 1)
    if isinstance(steps, Missing):
        return steps
    logs = _logarithm(steps, scalars.field.number(0), scalars.field.number(1))
    discriminant = (
        Poly(equation, MULTIPLIER).discriminant() if Poly(equation, MULTIPLIER).degree() > 1 else S.One
    )
    values = tuple((parameter.name, parameter.default) for parameter in method.parameters)
    return Quadratic(
        equation.as_expr(),
        _slow_root(equation),
        tuple(scalars.write(step) for step in steps),
        tuple(scalars.write(log) for log in logs[1:]),
        discriminant.factor(),
        _radius(equation, {Symbol(name): value for name, value in values}),
        values,
    )


def _response(method: Method) -> Expr:
    """``W(1/mu)``: the kernel's transform, times the factor between the channel and the update."""
    one = merged(method)
    (channel,) = one.channels
    factor = collect(slope_in(one.phi, channel.symbol) * channel.g / GRAD, method.numbers)
    return factor * channel.kernel.transform(1 / MULTIPLIER)


def _equation(response: Expr) -> Poly:
    """``mu - 1 + h a W(1/mu) = 0`` times the denominator of W: a monic polynomial in mu, linear in h a."""
    above, below = response.together().as_numer_denom()
    whole = ((MULTIPLIER - 1) * below + PRODUCT * above).together().as_numer_denom()[0]
    polynomial = Poly(whole, MULTIPLIER)
    return Poly([(c / polynomial.LC()).cancel() for c in polynomial.all_coeffs()], MULTIPLIER)


def _slow_root(equation: Poly) -> Expr | None:
    """The root that is 1 at h = 0, for a monic equation of degree 1 or 2."""
    coefficients = equation.all_coeffs()
    if len(coefficients) == 2:
        return -coefficients[1]
    if len(coefficients) == 3:
        _, linear, constant = coefficients
        # At h = 0 the roots are 1 and a decay below 1: the slow one is the larger.
        return (-linear + sqrt(Pow(linear, 2) - 4 * constant)) / 2
    return None


def _series(method: Method, equation: Poly, order: int) -> list[Quotient] | Missing:
    """``mu_0, ..., mu_order`` of the slow root ``mu = 1 - y``, by iterating the equation.

    The equation is ``(mu - 1) D(mu) + x N(mu) = 0`` with ``x = h a``, so that ``y = x N(1 - y)/D(1 - y)``; one
    iteration gives one more coefficient of y.
    """
    field = method.numbers.field
    zero, one = field.number(0), field.number(1)
    still = Poly([c.xreplace({LR: S.Zero}) for c in equation.all_coeffs()], MULTIPLIER)
    below = _read(Poly(still, MULTIPLIER).quo(Poly(MULTIPLIER - 1, MULTIPLIER)), field)
    above = _read(Poly([(c - d) / PRODUCT for c, d in _paired(equation, still)], MULTIPLIER), field)
    if below is None or above is None:
        words = "the equation of its multiplier is not rational in the parameters: "
        return Missing(Sentence.of(Whose(method.name), words, equation.as_expr()))
    y = [zero] * (order + 1)
    for _ in range(order):
        slow = [one - y[0], *(-c for c in y[1:])]
        y = [zero, *_divided(_placed(above, slow, zero), _placed(below, slow, zero))[:-1]]
    return [one - y[0], *(-c for c in y[1:])]


def _read(polynomial: Poly, field: ExponentialField) -> list[Quotient] | None:
    """The coefficients, the highest first; None where one of them is not in the field."""
    return every(map(field.read, polynomial.all_coeffs()))


def _paired(left: Poly, right: Poly) -> list[tuple[Expr, Expr]]:
    """The coefficients of two polynomials, the highest power of the left one first."""
    degree = left.degree()
    return [
        (left.coeff_monomial(MULTIPLIER**k), right.coeff_monomial(MULTIPLIER**k))
        for k in range(degree, -1, -1)
    ]


def _placed(coefficients: list[Quotient], series: list[Quotient], zero: Quotient) -> list[Quotient]:
    """A polynomial, its highest coefficient first, at a truncated power series."""
    total = [zero] * len(series)
    for coefficient in coefficients:
        total = _multiplied(total, series, zero)
        total[0] = total[0] + coefficient
    return total


def _multiplied(left: list[Quotient], right: list[Quotient], zero: Quotient) -> list[Quotient]:
    product = [zero] * len(left)
    for i, x in enumerate(left):
        if not x.is_zero():
            for j, y in enumerate(right[: len(left) - i]):
                product[i + j] = product[i + j] + x * y
    return product


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
    """A rational number as it is, another one, such as pi, to the digits that are asked for."""
    if isinstance(value, Rational):
        return mpmath.mpf(int(value.p)) / int(value.q)
    return mpmath.mpmathify(value.evalf(mpmath.mp.dps + 5))
