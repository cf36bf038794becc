"""Kernels, each beside the same memory run value by value in exact rationals, and how their answers are read."""

from __future__ import annotations

from fractions import Fraction

from literal_memory import Memory, composed, delay, geometric, instant, mixture
from sympy import Expr, Integer, Rational, S, Symbol

from symmem.algebra.atoms import AGO, PAST, STEP
from symmem.algebra.finite_sums import written_out
from symmem.method.composition import Composition
from symmem.method.delay import Delay
from symmem.method.geometric import Geometric
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel
from symmem.method.mixture import Mixture

P, Q, C = Symbol("p"), Symbol("q"), Symbol("c")
VALUES = {P: Rational(1, 2), Q: Rational(-1, 3), C: Rational(3, 7)}
HALF, MINUS, THIRD = Fraction(1, 2), Fraction(-1, 3), Fraction(3, 7)


def bias(beta: Fraction) -> object:
    return lambda n: (1 - beta) / (1 - beta ** (n + 1))


CORRECTED = (1 - P) / (1 - P ** (STEP + 1))
KERNELS: dict[str, tuple[Kernel, Memory]] = {
    "instant": (Instant(factor=C), instant(lambda _: THIRD)),
    "instant, its factor settles": (
        Instant(factor=1 + P**STEP, settled=S.One),
        instant(lambda n: 1 + HALF**n),
    ),
    "geometric": (Geometric(P), geometric(HALF)),
    "geometric, negative": (Geometric(Q, factor=C), geometric(MINUS, lambda _: THIRD)),
    "bias-corrected": (Geometric(P, factor=CORRECTED, settled=1 - P), geometric(HALF, bias(HALF))),
    "geometric, a number": (Geometric(Rational(1, 4)), geometric(Fraction(1, 4))),
    "delay 1": (Delay(1), delay(1)),
    "delay 3": (Delay(3, factor=C), delay(3, lambda _: THIRD)),
    "delay 2, empty": (Delay(2, starts_empty=True), delay(2, empty=True)),
    "delay 2, empty, its factor settles": (
        Delay(2, starts_empty=True, factor=1 + P**STEP, settled=S.One),
        delay(2, lambda n: 1 + HALF**n, empty=True),
    ),
    "nesterov": (
        Mixture((Geometric(P, factor=P), Instant())),
        mixture(geometric(HALF, lambda _: HALF), instant()),
    ),
    "a difference": (
        Mixture((Instant(), Delay(1, factor=S.NegativeOne))),
        mixture(instant(), delay(1, lambda _: Fraction(-1))),
    ),
    "geometric of geometric": (
        Composition(Geometric(P), Geometric(Q, factor=C)),
        composed(geometric(HALF), geometric(MINUS, lambda _: THIRD)),
    ),
    "equal decays": (Composition(Geometric(P), Geometric(P)), composed(geometric(HALF), geometric(HALF))),
    "1/2 and 1/4": (
        Composition(Geometric(Rational(1, 2)), Geometric(Rational(1, 4))),
        composed(geometric(HALF), geometric(Fraction(1, 4))),
    ),
    "of a bias-corrected one": (
        Composition(Geometric(Q), Geometric(P, factor=CORRECTED, settled=1 - P)),
        composed(geometric(MINUS), geometric(HALF, bias(HALF))),
    ),
    "delay of geometric": (Composition(Delay(2), Geometric(P)), composed(delay(2), geometric(HALF))),
    "delay of a scaled one": (
        Composition(Delay(2), Geometric(P, factor=C)),
        composed(delay(2), geometric(HALF, lambda _: THIRD)),
    ),
    "geometric of delay": (Composition(Geometric(P), Delay(2)), composed(geometric(HALF), delay(2))),
    "empty delay of geometric": (
        Composition(Delay(2, starts_empty=True), Geometric(P)),
        composed(delay(2, empty=True), geometric(HALF)),
    ),
    "delay of delay": (Composition(Delay(1), Delay(2)), composed(delay(1), delay(2))),
    "geometric of a difference": (
        Composition(Geometric(P), Mixture((Instant(), Delay(1, factor=S.NegativeOne)))),
        composed(geometric(HALF), mixture(instant(), delay(1, lambda _: Fraction(-1)))),
    ),
    "three deep": (
        Composition(Geometric(Q), Composition(Geometric(P), Delay(1))),
        composed(geometric(MINUS), composed(geometric(HALF), delay(1))),
    ),
    "three deep, open sums": (
        Composition(Composition(Geometric(Q), Delay(1)), Geometric(P, factor=CORRECTED, settled=1 - P)),
        composed(composed(geometric(MINUS), delay(1)), geometric(HALF, bias(HALF))),
    ),
}


def fraction(expression: Expr, **places: int) -> Fraction:
    """The exact value at the test's decays, and at these steps."""
    symbols = {"n": STEP, "k": AGO, "s": PAST}
    placed = expression.xreplace({symbols[name]: Integer(value) for name, value in places.items()})
    value = written_out(placed.xreplace(VALUES))
    assert value.is_Rational, value
    return Fraction(int(value.p), int(value.q))
