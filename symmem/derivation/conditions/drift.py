"""How far a part of the update moves from its frozen value on a past that is no point: a number, for small steps.

On the straight past ``theta + k h F``, gradient and Hessian of size 1, every g is a series in h whose coefficients are
polynomials of the lag k, and a kernel takes such a polynomial to another (mathematics.md section 9):

    sum_j c(j) p(k + j) = sum_i f_i Delta^i p(k)

``m2 - m3**2`` with two averages, of grad^2 and of grad: ``beta/(1 - beta)^2 (h F)^2``, the variance of the lag.
"""

from __future__ import annotations

from math import factorial

from sympy import Add, Dummy, Expr, S, Symbol
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import GRAD, THETA
from symmem.algebra.finite import BEYOND
from symmem.derivation.gains import frozen_update, limit_gains
from symmem.method.kernel import Kernel
from symmem.method.method import Method

HIGHEST = 4
"""Powers of h that are tried."""
_RATE = Dummy("x", real=True)
_LAG = Dummy("k", real=True)
Values = dict[Expr, Expr]


def drift(method: Method, part: Expr) -> tuple[float, int] | None:
    """``(c, p)``: at the defaults the part moves by ``c h^p`` and higher powers; None where that is not computed."""
    for power in range(1, HIGHEST + 1):
        series = _along(method, part, power)
        if series is None:
            return None
        moved = float(abs(series[power].xreplace({_LAG: S.Zero})))
        if moved:
            return moved, power
    return None


def _along(method: Method, part: Expr, highest: int) -> list[Expr] | None:
    """The powers of h of the part, through all that it reads."""
    one: Values = {GRAD: S.One, THETA: S.One, **method.defaults}
    update = frozen_update(method, limit_gains(method)).xreplace(one)
    line = 1 + _LAG * _RATE * update
    values: Values = {**method.defaults, GRAD: line, THETA: line}
    for channel in method.channels:
        if channel.symbol not in _reached(method, part):
            continue
        seen = _series(channel.g, values, highest)
        if seen is None:
            return None
        kept = [_remembered(channel.kernel, coefficient, method.defaults) for coefficient in seen]
        values[channel.symbol] = Add(*(each * _RATE**power for power, each in enumerate(kept)))
    return _series(part, values, highest)


def _reached(method: Method, part: Expr) -> set[Symbol]:
    """The channels that it reads, and those that they read."""
    found = set(part.free_symbols)
    for channel in reversed(method.channels):
        if channel.symbol in found:
            found |= channel.g.free_symbols
    return found


def _series(expression: Expr, values: Values, highest: int) -> list[Expr] | None:
    """Taylor's coefficients at h = 0; None for a function of a tensor or an open one, which has no unit of its own."""
    curve = expression.xreplace(values)
    if curve.atoms(AppliedUndef):
        return None
    found = []
    for power in range(highest + 1):
        found.append((curve.subs(_RATE, 0) / factorial(power)).expand())
        curve = curve.diff(_RATE)
    return found if all(each.is_polynomial(_LAG) and not each.has(*BEYOND) for each in found) else None


def _remembered(kernel: Kernel, polynomial: Expr, defaults: Values) -> Expr:
    """``sum_i f_i Delta^i p(k)``."""
    found, order, left = [], 0, polynomial
    while left != 0:
        found.append(kernel.factorial_moment(order).xreplace(defaults) * left)
        left, order = (left.xreplace({_LAG: _LAG + 1}) - left).expand(), order + 1
    return Add(*found).expand()
