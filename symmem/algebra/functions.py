"""The entrywise functions of the language, one record each: value, derivative, antiderivative, smoothness.

The parser, the derivative, the potentials, the warnings and the bounds of signs all read this list.
"""

from __future__ import annotations

from collections.abc import Callable

from sympy import (
    Abs,
    Expr,
    Integer,
    Rational,
    S,
    atan,
    cos,
    cosh,
    erf,
    exp,
    log,
    oo,
    pi,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)

from symmem.algebra.head import Head, Roughness, Scope
from symmem.algebra.intervals import NONNEGATIVE, POSITIVE, REALS, UNIT, Interval
from symmem.algebra.symbols import Kind


def entrywise(
    name: str,
    function: Callable[..., Expr],
    slope: Callable[[Expr], Expr],
    *,
    antiderivative: Callable[[Expr], Expr] | None = None,
    degree: Expr | None = None,
    roughness: Roughness | None = None,
    image: Interval = REALS,
) -> Head:
    """The record of a function of one number, applied entry by entry; ``slope`` is its derivative."""
    return Head(
        name,
        function,
        Kind.ENTRYWISE,
        Scope.ENTRY,
        derivative=lambda operands, rate: slope(operands[0]) * rate,
        degree=degree,
        antiderivative=antiderivative,
        roughness=roughness,
        image=image,
    )


FUNCTIONS: tuple[Head, ...] = (
    entrywise(
        "sqrt",
        sqrt,
        lambda x: 1 / (2 * sqrt(x)),
        antiderivative=lambda x: Rational(2, 3) * x ** Rational(3, 2),
        degree=S.Half,
        roughness=Roughness.ROOT,
        image=NONNEGATIVE,
    ),
    entrywise(
        "abs",
        Abs,
        sign,
        antiderivative=lambda x: x * Abs(x) / 2,
        degree=Integer(1),
        roughness=Roughness.KINK,
        image=NONNEGATIVE,
    ),
    # sign is constant away from its jump; the assumptions carry the warning.
    entrywise(
        "sign",
        sign,
        lambda _: S.Zero,
        antiderivative=Abs,
        degree=Integer(0),
        roughness=Roughness.JUMP,
        image=UNIT,
    ),
    entrywise("exp", exp, exp, antiderivative=exp, image=POSITIVE),
    entrywise(
        "log",
        log,
        lambda x: 1 / x,
        antiderivative=lambda x: x * log(x) - x,
        roughness=Roughness.SINGULAR,
    ),
    entrywise("sin", sin, cos, antiderivative=lambda x: -cos(x), image=UNIT),
    entrywise("cos", cos, lambda x: -sin(x), antiderivative=sin, image=UNIT),
    entrywise(
        "tan",
        tan,
        lambda x: 1 + tan(x) ** 2,
        antiderivative=lambda x: -log(Abs(cos(x))),
        roughness=Roughness.POLES,
    ),
    entrywise("sinh", sinh, cosh, antiderivative=cosh),
    entrywise("cosh", cosh, sinh, antiderivative=sinh, image=Interval(S.One, oo, False, True)),
    entrywise("tanh", tanh, lambda x: 1 - tanh(x) ** 2, antiderivative=lambda x: log(cosh(x)), image=UNIT),
    entrywise(
        "atan",
        atan,
        lambda x: 1 / (1 + x**2),
        antiderivative=lambda x: x * atan(x) - log(1 + x**2) / 2,
        image=Interval(Integer(-2), Integer(2)),
    ),
    # The mean of sign(x + sigma xi) over Gaussian noise is erf(x/(sigma sqrt(2))).
    entrywise(
        "erf",
        erf,
        lambda x: 2 * exp(-(x**2)) / sqrt(pi),
        antiderivative=lambda x: x * erf(x) + exp(-(x**2)) / sqrt(pi),
        image=UNIT,
    ),
)
"""In the order in which they are named to a user."""
