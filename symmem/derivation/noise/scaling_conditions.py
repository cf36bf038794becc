"""What the rules for a larger batch rest on, besides the exponents (mathematics.md section 7).

The update has to be a random one of the scale of the noise, and a mean that is linear in gradient and iterate:

    the iterate is a term of its own, or stands beside the gradient:   g = grad + c theta,   Phi = ... + c m_theta
    the noise has no mean effect at the gradient 0:                    Phi(-xi) = -Phi(xi)

    Phi = m1 m2 with m2 = theta:     noise times theta, which no batch makes smaller: refused
    Phi = m1 + c, or m1 + c m2 with m2 = grad^2:     a drift that is there without a gradient: refused

The first is a reason for both rules, the second for the one where noise rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from sympy import Add, Expr, Rational, Symbol, together

from symmem.algebra.atoms import GRAD, THETA
from symmem.algebra.directional import slope_in
from symmem.method.method import Method

_DIGITS, _TRIES = 30, 3


def theta_reason(method: Method) -> str | None:
    """Why the iterate is no term of the mean update; None where it is."""
    moving = {GRAD, THETA, *(channel.symbol for channel in method.channels)}
    pure: list[Symbol] = []
    for channel in method.channels:
        if channel.g.free_symbols & moving == {THETA}:
            pure.append(channel.symbol)
            if slope_in(channel.g, THETA).free_symbols & moving:
                return "it is not linear in theta"
        elif THETA in channel.g.free_symbols and not _stands_beside(channel.g, moving):
            return "theta multiplies the gradient or what remembers it"
    readers = [*(channel.g for channel in method.channels), method.phi]
    if not all(is_linear_in(each, pure) for each in readers):
        return "it is not linear in theta"
    if any(slope_in(each, symbol).free_symbols & moving for each in readers for symbol in pure):
        return "theta multiplies the gradient or what remembers it"
    return None


def is_linear_in(phi: Expr, symbols: Sequence[Symbol]) -> bool:
    """Whether ``Phi = a + sum_l b_l m_l`` in these; a sign has slope 0 and is not."""
    slopes = [slope_in(phi, symbol) for symbol in symbols]
    rest = (phi - Add(*(slope * symbol for slope, symbol in zip(slopes, symbols, strict=True)))).expand()
    return not any(part.has(*symbols) for part in (*slopes, rest)) if symbols else True


def _stands_beside(g: Expr, moving: set[Symbol]) -> bool:
    """Whether g is a function of ``grad + c theta``, or has theta in a term of its own."""
    along, across = slope_in(g, THETA), slope_in(g, GRAD)
    if not along.free_symbols & moving:
        return True
    return across != 0 and not together(along / across).cancel().free_symbols & moving


def has_mean_without_gradient(method: Method) -> bool:
    """Whether ``Phi(-xi) = -Phi(xi)`` fails, for values of the noise at every step: by numbers of 30 digits.

    A channel of even g keeps its value and one of odd g turns its sign, whatever its memory.
    """
    turned: dict[Symbol, Expr] = {GRAD: -GRAD, THETA: -THETA}
    for channel in method.channels:
        signs = [sign for sign in (1, -1) if _vanishes(channel.g.xreplace(turned) - sign * channel.g)]
        if not signs:
            return True
        turned[channel.symbol] = signs[0] * channel.symbol
    return not _vanishes(method.phi.xreplace(turned) + method.phi)


def _vanishes(expression: Expr) -> bool:
    """Whether it is zero wherever it has a value, at random points."""
    if expression == 0:
        return True
    random = Random(0)
    symbols = sorted(expression.free_symbols, key=str)
    for _ in range(_TRIES):
        point = {symbol: Rational(random.randint(11, 97), 100) for symbol in symbols}
        value = expression.subs(point).evalf(_DIGITS)
        if not (value.is_number and abs(value) < 10 ** (8 - _DIGITS)):
            return False
    return True
