"""Exponential polynomials: closed sums, limits, round trip, against explicit sums with exact rationals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import mpmath
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sympy import Expr, Integer, Max, Min, Rational, S, Symbol, cancel, exp, sqrt, symbols

from symmem.algebra.exponential import ExponentialField, exponential_field
from symmem.algebra.factored import write
from symmem.algebra.late_form import late_form
from symmem.algebra.powers import linear_exponent
from symmem.algebra.rational import Quotient
from symmem.algebra.results import Missing
from symmem.algebra.sums import definite_sum, limit

n, s, p, q, eps, beta = symbols("n s p q eps beta")
AT = {p: Fraction(3, 7), q: Fraction(5, 11), eps: Fraction(2, 9)}
QUIET = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
BASES: list[tuple[Expr, ...]] = [
    (p,),
    (Rational(2, 3),),
    (p, q),
    (p, q, Rational(3, 5)),
    (Rational(2, 3), Rational(4, 9)),  # one is the square of the other
    (Rational(2, 3), Rational(3, 2)),  # their product is 1
    (Rational(2, 3), Rational(3, 5), Rational(2, 5)),  # the third is the product of the first two
    (Rational(1, 2), Rational(1, 4)),
    (Rational(1, 2), Integer(2)),
    (p, 1 - p),
]


def exact(expression: Expr, step: int, past: int = 0) -> Fraction:
    """The value of a scalar expression in rationals, by Python's own arithmetic."""
    if expression.is_Rational:
        return Fraction(int(expression.p), int(expression.q))
    if isinstance(expression, Symbol):
        return {n: Fraction(step), s: Fraction(past), **AT}[expression]
    parts = [exact(part, step, past) for part in expression.args]
    if expression.is_Add:
        return sum(parts, Fraction(0))
    if expression.is_Mul:
        return reduce(lambda x, y: x * y, parts, Fraction(1))
    assert expression.is_Pow
    assert parts[1].denominator == 1
    return Fraction(parts[0] ** int(parts[1]))


@dataclass(frozen=True)
class Term:
    """``coefficient * s^degree * n^power * prod_i bases[i]^(past[i] s + step[i] n + fixed[i])``."""

    coefficient: Expr
    degree: int
    power: int
    past: tuple[int, ...]
    step: tuple[int, ...]
    fixed: tuple[int, ...]

    def element(self, field: ExponentialField, bases: tuple[Expr, ...]) -> Quotient:
        """Generator by generator: SymPy never sees the product, so it cannot merge the bases."""
        result = _known(field.read(self.coefficient)) * _known(field.read(s)) ** self.degree
        result = result * _known(field.read(n)) ** self.power
        for base, past, step, fixed in zip(bases, self.past, self.step, self.fixed, strict=True):
            at = field.bases.index(base)
            for index, slope in ((s, past), (n, step)):
                result = result * field.rationals.generator(field.power_position(at, index)) ** slope
            result = result * _known(field.read(base)) ** fixed
        return result

    def value(self, bases: tuple[Expr, ...], step: int, past: int) -> Fraction:
        result = exact(self.coefficient, 0) * Fraction(past) ** self.degree * Fraction(step) ** self.power
        for base, a, b, c in zip(bases, self.past, self.step, self.fixed, strict=True):
            result *= exact(base, 0) ** (a * past + b * step + c)
        return result


def is_zero(expression: Expr) -> bool:
    """Whether it cancels to 0, with a symbol of its own for each power ``base^n`` and ``base^s``."""

    def apart(power: Expr) -> Expr:
        result = S.One
        for factor in power.base.as_ordered_factors():
            root, times = factor.as_base_exp()
            slopes = linear_exponent((power.exp * times).expand(), (n, s))
            assert slopes is not None
            result *= Symbol(f"{root}_n") ** slopes[0] * Symbol(f"{root}_s") ** slopes[1] * root ** slopes[2]
        return result

    return bool(cancel(expression.replace(lambda e: e.is_Pow and not e.exp.is_Rational, apart)) == 0)


def _known(element: Quotient | None) -> Quotient:
    assert element is not None
    return element


def field_of(bases: tuple[Expr, ...]) -> ExponentialField:
    """Made by hand, so that 1/2 stays 1/2; constants are the parameters."""
    return ExponentialField((eps, p, q), bases)


@st.composite
def sums(draw: st.DrawFn) -> tuple[tuple[Expr, ...], list[Term]]:
    bases = draw(st.sampled_from(BASES))
    slopes = st.tuples(*(st.integers(-2, 2) for _ in bases))
    coefficients = st.sampled_from([S.One, S(-2) / 3, eps, eps / (1 - p), p * q - 1])
    term = st.builds(Term, coefficients, st.integers(0, 4), st.integers(0, 2), slopes, slopes, slopes)
    return bases, draw(st.lists(term, min_size=1, max_size=4))


@given(sums())
@QUIET
def test_closed_sum_is_the_explicit_sum(case: tuple[tuple[Expr, ...], list[Term]]) -> None:
    bases, terms = case
    field = field_of(bases)
    summand = reduce(lambda x, y: x + y, (term.element(field, bases) for term in terms))
    closed = definite_sum(field, summand, s, n)
    assert closed is not None
    assert not closed.depends_on(field.positions(s))
    written = write(field, closed)
    for step in range(6):
        truth = sum((t.value(bases, step, past) for t in terms for past in range(step)), Fraction(0))
        assert exact(written, step) == truth


def test_powers_that_cancel_leave_none_behind() -> None:
    """(4/9)^s (2/3)^(-2s) = 1: the sum is n, and no power stands in the way of a limit."""
    bases = (Rational(2, 3), Rational(4, 9))
    field = field_of(bases)
    ones = Term(S.One, 0, 0, (-2, 1), (0, 0), (0, 0)).element(field, bases)
    assert definite_sum(field, ones, s, n) == field.read(n)


@pytest.mark.parametrize("degree", range(7))
@pytest.mark.parametrize("ratio", [S.One, beta, 1 / beta, 2 * beta**2, Rational(-1, 3)], ids=str)
def test_power_sums(degree: int, ratio: Expr) -> None:
    """sum s^d r^s symbolically: the difference of neighbours is the summand, and the empty sum is 0."""
    body = s**degree * ratio**s if ratio != 1 else s**degree
    field = exponential_field([body, beta, body.xreplace({s: n})])
    element = _known(field.read(body))
    closed = write(field, _known(definite_sum(field, element, s, n)))
    assert cancel(closed.subs(n, 0)) == 0
    assert is_zero(closed.xreplace({n: n + 1}) - closed - body.xreplace({s: n}))


@pytest.mark.parametrize(
    "body", [1 / (s + 1), 1 / (1 - p ** (s + 1)), s / (1 + p**s), p**s / (n + s), 1 / (p**s + q**s)], ids=str
)
def test_a_sum_that_does_not_close_is_none(body: Expr) -> None:
    field = exponential_field([body, p**n])
    assert definite_sum(field, _known(field.read(body)), s, n) is None


def test_a_gain_is_cancelled_by_its_own_weight_only() -> None:
    """w carries 1 - p^(s+1): a bias correction with the same beta closes, another one does not."""
    weight = p ** (n - s) * (1 - p ** (s + 1)) / (1 - p)
    field = exponential_field([weight, q**s])
    closed = definite_sum(field, _known(field.read(weight / (1 - p ** (s + 1)))), s, n)
    assert closed is not None
    assert is_zero(write(field, closed) - p * (1 - p**n) / (1 - p) ** 2)
    assert definite_sum(field, _known(field.read(weight / (1 - q ** (s + 1)))), s, n) is None


def test_heavy_ball_double_sum() -> None:
    """The paper's closed form, beta (1 - (2n+1) beta^n (1-beta) - beta^(2n+1)) / (1-beta)^3."""
    gain = (1 - beta ** (s + 1)) / (1 - beta)
    field = exponential_field([beta ** (n - s) * gain])
    closed = definite_sum(field, _known(field.read(beta ** (n - s) * gain * gain)), s, n)
    printed = beta * (1 - (2 * n + 1) * beta**n * (1 - beta) - beta ** (2 * n + 1)) / (1 - beta) ** 3
    assert is_zero(write(field, _known(closed)) - printed)
    for step in range(5):
        double = sum(
            beta**k * gain.subs(s, past) for k in range(1, step + 1) for past in range(step - k, step)
        )
        assert cancel(double - printed.subs(n, step)) == 0


# --- limits

DECAYS = (p, q, Rational(2, 3))
VANISHING = frozenset(DECAYS)


@st.composite
def ratios(draw: st.DrawFn) -> tuple[Expr, Expr]:
    """Numerator and denominator: polynomials in n, and in powers p^n, q^n, (2/3)^n."""

    def polynomial() -> Expr:
        return sum(
            draw(st.sampled_from([1, -2, eps, p]))
            * n ** draw(st.integers(0, 2))
            * draw(st.sampled_from(powers))
            for _ in range(draw(st.integers(1, 4)))
        )

    powers = [S.One, p**n, q ** (2 * n + 1), Rational(2, 3) ** n, p**n * q**n]
    return polynomial(), polynomial()


@given(ratios())
@QUIET
def test_limit_is_approached(case: tuple[Expr, Expr]) -> None:
    """At n = 10^12 powers are gone and 1/n is 1e-12; a growing ratio is refused and does grow."""
    above, below = case
    field = exponential_field([p**n, q**n, Rational(2, 3) ** n, eps])
    bottom = _known(field.read(below))
    assume(not bottom.is_zero())
    element = _known(field.read(above)) / bottom

    def at(step: int) -> mpmath.mpf:
        with mpmath.workdps(40):
            numbers = {symbol: mpmath.mpf(x.numerator) / x.denominator for symbol, x in AT.items()}
            return _numeric(write(field, element), {**numbers, n: mpmath.mpf(step)})

    value = limit(field, element, n, VANISHING)
    if isinstance(value, Missing):
        if "grows" in str(value):
            assert abs(at(10**6)) > 10**4
            assert abs(at(10**12)) > abs(at(10**6)) * 10**3
        return
    found = write(field, value)
    assert not found.has(n)
    truth = mpmath.mpf(exact(found, 0).numerator) / exact(found, 0).denominator
    assert abs(at(10**12) - truth) < 1e-8 * max(1, abs(truth))


def _numeric(expression: Expr, numbers: dict[Expr, mpmath.mpf]) -> mpmath.mpf:
    if expression.is_Rational:
        return mpmath.mpf(int(expression.p)) / int(expression.q)
    if isinstance(expression, Symbol):
        return numbers[expression]
    parts = [_numeric(part, numbers) for part in expression.args]
    if expression.is_Add:
        return mpmath.fsum(parts)
    return mpmath.fprod(parts) if expression.is_Mul else parts[0] ** parts[1]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (p**n, 0),
        (n**3 * p**n, 0),
        ((1 - p) / (1 - p ** (n + 1)), 1 - p),
        ((2 * n + 1) / (n + p), 2),
        (n * eps / (n**2 + 1), 0),
        ((p**n + p ** (2 * n)) / (3 * p**n), Rational(1, 3)),
        (2 - Rational(2, 3) ** n, 2),
        (q, q),
    ],
    ids=str,
)
def test_limit(expression: Expr, expected: Expr) -> None:
    field = exponential_field([expression, p**n, q, Rational(2, 3) ** n])
    found = limit(field, _known(field.read(expression)), n, VANISHING)
    assert cancel(write(field, found) - expected) == 0


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (n, "grows"),
        (n**2 / (n + 1), "grows"),
        (p**-n, "grows"),
        (n / (1 + p**n), "grows"),
        (eps**n, "not known to vanish"),
        (Integer(2) ** n, "not known to vanish"),
        (p**n / q**n, "fastest"),
        ((p**n + n * q**n) / (p**n - q**n), "fastest"),
    ],
    ids=str,
)
def test_no_limit(expression: Expr, reason: str) -> None:
    field = exponential_field([expression, p**n, q**n])
    found = limit(field, _known(field.read(expression)), n, VANISHING)
    assert isinstance(found, Missing)
    assert reason in str(found)


def test_a_base_that_cancels_is_not_asked_about() -> None:
    field = exponential_field([eps**n])
    element = _known(field.read(eps**n)) / _known(field.read(eps ** (n + 1)))
    assert cancel(write(field, limit(field, element, n, frozenset())) - 1 / eps) == 0


# --- reading and writing


@st.composite
def scalars(draw: st.DrawFn, depth: int = 2) -> Expr:
    if depth == 0:
        leaves = [
            p,
            q,
            n,
            s,
            eps,
            p**n,
            p ** (n - s),
            q ** (2 * n + 1),
            (p * q) ** s,
            (p**2) ** n,
            S(3) / 7,
        ]
        return draw(st.sampled_from(leaves))
    a, b = draw(scalars(depth=depth - 1)), draw(scalars(depth=draw(st.integers(0, depth - 1))))
    shapes = [lambda: a + b, lambda: a * b, lambda: a - 2 * b, lambda: a / (1 + p + b**2), lambda: a**2 + b]
    return draw(st.sampled_from(shapes))()


@given(scalars())
@settings(QUIET, max_examples=60)
def test_round_trip(expression: Expr) -> None:
    field = exponential_field([expression])
    element = field.read(expression)
    if element is None:  # the expression itself may have no value, such as 1/0
        assume(False)
    written = write(field, _known(element))
    assert is_zero(written - expression)
    assert field.read(written) == element


@pytest.mark.parametrize(
    "expression", [exp(n), p ** (n**2), p ** (n / 2), sqrt(1 - p**n), (p + q) ** (n * s)]
)
def test_what_is_not_in_the_field_is_none(expression: Expr) -> None:
    assert exponential_field([expression, p**n]).read(expression) is None


def test_division_by_zero_is_an_error() -> None:
    field = exponential_field([p**n])
    with pytest.raises(ZeroDivisionError):
        field.number(1) / (_known(field.read(p ** (n + 1))) - _known(field.read(p * p**n)))


def test_writing_prefers_one_minus_beta() -> None:
    field = exponential_field([beta**n])
    assert write(field, _known(field.read((beta - 1) ** -2))) == (1 - beta) ** -2
    assert write(field, _known(field.read((1 - beta ** (n + 1)) / (1 - beta)))) == (1 - beta ** (n + 1)) / (
        1 - beta
    )
    assert write(field, _known(field.read(beta * beta**n))) == beta ** (n + 1)


@pytest.mark.parametrize("base", [Rational(1, 2), Rational(1, 3)])
def test_unit_fractions_are_one_base(base: Expr) -> None:
    field = exponential_field([base**n, base**s])
    weight = base ** (n - s) * (1 - base ** (s + 1)) / (1 - base)
    assert field.read(weight) is not None


def test_a_root_knows_its_square() -> None:
    field = exponential_field([sqrt(eps), eps])
    assert _known(field.read(sqrt(eps))) ** 2 == field.read(eps)


@pytest.mark.parametrize("base", [sqrt(Rational(1, 2)), exp(-1 / eps)])
def test_a_base_that_is_a_generator_itself_can_be_summed(base: Expr) -> None:
    field = exponential_field([base**n])
    summand = field.read(base**s)
    assert summand is not None
    closed = definite_sum(field, summand, s, n)
    assert closed is not None
    value = write(field, closed).xreplace(
        {n: Integer(3), beta: Rational(4, 9), q: Rational(1, 3), eps: Integer(2)}
    )
    power = base.xreplace({beta: Rational(4, 9), q: Rational(1, 3), eps: Integer(2)})
    assert abs(mpmath.mpf((value - 1 - power - power**2).evalf(30))) < 1e-25


R = Symbol("r")


@pytest.mark.parametrize(
    "expression",
    [
        Max(0, Min(1, 3 - R)),
        Min(2, Max(R - 4, 1 - R)),
        Max(Min(R, 5 - R), -2),
        Min(Max(2 - R, 1), R + 1, 7 - R),
        Max(0, R - 2) ** 2 + Min(3, R),
    ],
    ids=str,
)
def test_minima_and_maxima_are_gone_from_their_step_on(expression: Expr) -> None:
    found = late_form(expression, R)
    assert found is not None
    settled, step = found
    assert not settled.has(Min, Max)
    for r in range(step, step + 12):
        assert settled.xreplace({R: Integer(r)}) == expression.xreplace({R: Integer(r)}), r


def test_a_minimum_of_two_unknowns_stays() -> None:
    assert late_form(Min(R, Symbol("k")), R) is None
    assert late_form(Min(2 * R, 5), R) is None


HALF_LIFE = 2 ** (-p)
POWERS_OF_NUMBERS: list[tuple[Expr, Expr]] = [
    (sqrt(2) / 2, p),
    (sqrt(2) / 2, Rational(1, 2)),  # the square of the first is the second: their ratio is 1
    (2 ** Rational(-1, 3), Rational(2, 3)),
    (HALF_LIFE, sqrt(2) / 2),
    (Rational(1, 2) ** p, HALF_LIFE),  # one decay in two spellings
    (HALF_LIFE, 2 ** (-3 * p / 2)),
    (Rational(2, 3) ** p, Rational(3, 2) ** p / 2),
]


@pytest.mark.parametrize(("first", "second"), POWERS_OF_NUMBERS, ids=str)
@pytest.mark.parametrize("rates", [(1, 0), (1, -1), (2, -1), (1, 1)], ids=str)
def test_powers_of_numbers_that_sympy_draws_together(
    first: Expr, second: Expr, rates: tuple[int, int]
) -> None:
    """``sum_{s<n} s a^(i s) b^(n - s + j s)`` is that sum, added up in 40 digits: a ratio of 1 is seen."""
    field = exponential_field([first**n, second**n])
    summand = s * first ** (rates[0] * s) * second ** (rates[1] * s) * second ** (n - s) / 2
    closed = write(field, _known(definite_sum(field, _known(field.read(summand)), s, n)))
    with mpmath.workdps(40):
        for step in (1, 2, 7):
            at = {p: Rational(3, 7), n: step}
            direct = sum(summand.xreplace({**at, s: past}).evalf(40) for past in range(step))
            assert abs(closed.xreplace(at).evalf(40) - direct) < 1e-35 * max(1, abs(direct))
