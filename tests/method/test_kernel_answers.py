"""What kernels answer about values that depend on the lag, about signs, and about each other."""

from __future__ import annotations

from fractions import Fraction

import pytest
from kernel_cases import CORRECTED, KERNELS, C, P, Q, fraction
from literal_memory import Memory, weights
from sympy import Add, Expr, Integer, Rational, S, Sum, Symbol, oo, together

from symmem.algebra.atoms import AGO, PAST, STEP
from symmem.declaration.interval import Interval
from symmem.method.composition import Composition
from symmem.method.delay import Delay
from symmem.method.geometric import Geometric
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel
from symmem.method.kernel_sum import kernel_sum
from symmem.method.mixture import Mixture
from symmem.method.numbers import scalars_of

EIGHTH, FAR = Rational(1, 8), 40
"""(1/16)^40 is below 10^-48."""
UNIT = Interval(S.Zero, S.One, False, True)
WIDE = Interval(S.NegativeOne, S.One, True, True)


@pytest.fixture(params=KERNELS, ids=str)
def pair(request: pytest.FixtureRequest) -> tuple[Kernel, Memory]:
    return KERNELS[request.param]


def test_values_by_their_lags(pair: tuple[Kernel, Memory]) -> None:
    kernel, memory = pair
    found = kernel.applied(STEP, lambda k: 1 / (k + 2))
    for n in range(5):
        c = weights(memory, n)
        assert fraction(found, n=n) == sum(x / Fraction(k + 2) for k, x in enumerate(c)), n


def cut(expression: Expr) -> Expr:
    return expression.replace(
        lambda part: isinstance(part, Sum),
        lambda part: Sum(
            part.function, *((i, low, FAR if high == oo else high) for i, low, high in part.limits)
        ),
    )


def test_the_tail_by_spans(pair: tuple[Kernel, Memory]) -> None:
    """``tail(n, s)`` is the weight of all that lies before the step from theta_s, in the parts that reach there."""
    kernel, memory = pair
    spans = kernel.spans(STEP, PAST)
    for n in range(6):
        c = weights(memory, n)
        for s in range(n):
            at = {STEP: Integer(n), PAST: Integer(s)}
            reached = [part for part, *ends in spans if ends[0].xreplace(at) <= s <= ends[1].xreplace(at)]
            assert fraction(Add(*reached).xreplace(at)) == sum(c[n - s :], Fraction(0)), (n, s)


def test_values_by_their_lags_in_the_limit(pair: tuple[Kernel, Memory]) -> None:
    """``sum_k c(k) z^k`` is the transform."""
    kernel, _ = pair
    found = cut(kernel.limit_applied(lambda k: EIGHTH**k))
    assert abs(fraction(found) - fraction(together(kernel.transform(EIGHTH)))) < Fraction(1, 10**30)


@pytest.mark.parametrize("inner", [Geometric(C), Composition(Geometric(C), Delay(1))], ids=str)
def test_weights_of_a_memory_of_a_memory_have_a_value_without_the_outer_one(inner: Kernel) -> None:
    """They are in powers of n - s: ``p^n / p^s`` has none at p = 0, where the outer memory is the present alone."""
    kernel = Composition(Geometric(P), inner)
    values = {P: S.Zero, C: Rational(3, 7)}
    for n, s in ((1, 0), (4, 1), (5, 4)):
        at = {**values, STEP: Integer(n), PAST: Integer(s)}
        assert kernel.tail(STEP, PAST).subs(at) == inner.tail(STEP, PAST).subs(at)
        at = {**values, STEP: Integer(n), AGO: Integer(n - s)}
        assert kernel.weight(STEP, AGO).subs(at).doit() == inner.weight(STEP, AGO).subs(at).doit()


def test_indices_of_a_composition_of_compositions_are_apart() -> None:
    half = Composition(Geometric(P), Geometric(Q))
    kernel = Composition(half, Composition(Geometric(Q), Delay(1)))
    found = kernel.limit_applied(lambda k: EIGHTH**k).xreplace({P: Rational(1, 2), Q: S.Zero})
    assert abs(fraction(cut(found)) - Fraction(1, 8) / (1 - Fraction(1, 16))) < Fraction(1, 10**30)
    assert len({index for each in found.atoms(Sum) for index in each.variables}) == 3


@pytest.mark.parametrize(
    ("kernel", "one_sign"),
    [
        (Geometric(P), True),
        (Geometric(Q), False),
        (Delay(3, factor=S.NegativeOne), True),
        (Mixture((Geometric(P), Geometric(P, factor=S.NegativeOne))), False),
        (Mixture((Geometric(P), Instant(factor=S.NegativeOne))), False),
        (Composition(Geometric(P), Geometric(P)), True),
        (Composition(Geometric(P), Geometric(Q)), False),
        (Composition(Geometric(Q), Geometric(P)), False),
        (Composition(Geometric(P), Instant(factor=1 - STEP)), False),  # 1, then 0, then below
    ],
)
def test_one_sign(kernel: Kernel, one_sign: bool) -> None:
    assert kernel.has_one_sign({P: UNIT, Q: WIDE}) is one_sign


def test_what_joins() -> None:
    """Kernels of one shape add up to one, weight by weight and in the limit; others stay apart."""
    scalars = scalars_of((), (Geometric(P, factor=CORRECTED),), ())
    first, second = Geometric(P, factor=CORRECTED, settled=1 - P), Geometric(P, factor=2 * P)
    both = kernel_sum([first, Instant(), second], scalars)
    assert isinstance(both, Mixture)
    assert [type(part) for part in both.parts] == [Geometric, Instant]
    for k in range(4):
        expected = sum(fraction(each.limit_weight(k)) for each in (first, Instant(), second))
        assert fraction(both.limit_weight(k)) == expected
        at = [fraction(each.weight(Integer(5), Integer(k))) for each in (first, Instant(), second, both)]
        assert sum(at[:3]) == at[3]
    gone = kernel_sum([second, second.scaled(S.NegativeOne)], scalars)
    assert fraction(gone.gain(Integer(3))) == 0


def test_memories_of_different_memories_do_not_join() -> None:
    outer = Geometric(P)
    one, other = Composition(outer, Geometric(Q)), Composition(outer, Delay(1))
    assert one.joined(other) is None
    twice = one.joined(one.scaled(Integer(2)))
    assert twice is not None
    assert fraction(twice.gain(Integer(4))) == 3 * fraction(one.gain(Integer(4)))


def test_what_is_remembered_and_what_has_no_tail() -> None:
    memory = Geometric(P, factor=P)
    assert Mixture((memory, Instant())).remembered == memory
    assert Mixture((memory, Delay(2))).limit_tail(AGO) is None
    tail = Mixture((memory, Instant())).limit_tail(AGO)
    assert fraction(tail, k=3) == Fraction(1, 2) * Fraction(1, 8) / (1 - Fraction(1, 2))
    assert Symbol("p") in tail.free_symbols
