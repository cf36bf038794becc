"""The simplification passes: each keeps the value at random points, and does what its name says."""

from __future__ import annotations

import mpmath
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mpmath import mpf
from sympy import Abs, Add, Expr, Function, Mul, Pow, Rational, S, Sum, exp, sign, sqrt, symbols, tanh

from symmem.algebra.atoms import contraction, is_contraction, is_scalar, opaque_derivative, terms_of, total
from symmem.algebra.grouping import coefficient, group
from symmem.algebra.passes import collect, distribute, divide_out
from symmem.algebra.reals import real_power, real_product
from symmem.declaration.optimizer import Momentum, Optimizer
from symmem.method.reading import method_of
from symmem.verification.evaluation import VectorMap, evaluate
from symmem.verification.losses import coupled_loss
from symmem.verification.ridges import skew_map

theta, grad, p, q, eps, n, s = symbols("theta grad p q eps n s")
D2L, D3L, bend, bend_jvp = (Function(name) for name in ("D2L", "D3L", "gradK", "gradK_jvp"))
HALF = Rational(1, 2)
LOSS = coupled_loss(3)
FUNCTIONS: dict[str, VectorMap] = {"gradK": skew_map(3)}
SCALARS = method_of(
    Optimizer(
        "two-decays",
        "m1/sqrt(m2 + eps)",
        [Momentum("grad", "p", "(1 - p)/(1 - p**(n + 1))"), Momentum("grad**2", "q", "1 - q")],
        {
            "p": {"default": HALF},
            "q": {"default": HALF},
            "eps": {"default": Rational(1, 9), "range": "(0, inf)"},
        },
    )
).numbers
"""The field with the powers p^n, q^n and the constant eps."""
QUIET = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(QUIET, max_examples=15)
"""Of the longest expressions."""
CLOSE = mpf(10) ** -35


@st.composite
def points(draw: st.DrawFn) -> tuple[dict[str, object], dict[str, list[object]]]:
    """Parameters in their ranges, a step, and a theta; no entry is 0, where signs are undecided."""
    fraction = st.integers(1, 96).map(lambda k: Rational(k, 97))
    entry = st.integers(-60, 60).filter(bool).map(lambda k: Rational(k, 61))
    values = {"p": draw(fraction), "q": draw(fraction), "eps": draw(fraction), "n": draw(st.integers(0, 6))}
    return values, {"theta": draw(st.lists(entry, min_size=3, max_size=3))}


def value(expression: Expr, point: tuple[dict[str, object], dict[str, list[object]]]) -> list[mpf]:
    found = evaluate(expression, *point, LOSS, FUNCTIONS, digits=50)
    return found if isinstance(found, list) else [found] * 3


def assert_same(new: Expr, old: Expr, point: tuple[dict[str, object], dict[str, list[object]]]) -> None:
    with mpmath.workdps(60):
        pairs = list(zip(value(new, point), value(old, point), strict=True))
        scale = max(1, *(abs(truth) for _, truth in pairs))
        assert max(abs(found - truth) for found, truth in pairs) < CLOSE * scale


COEFFICIENTS = [
    S.One,
    p,
    -q / (1 - q),
    (1 - p**2) / (1 - p),
    (1 - p ** (n + 1)) / (1 - p),
    n * p**n - q ** (n + 1),
    p / (1 - p) - q / (1 - q),
    eps,
    sqrt(1 - p ** (n + 1)),  # not in the field
    Rational(-2, 3),
]
ENTRYWISE = [
    grad,
    theta,
    grad**2 / (grad**2 + eps),
    grad**2 * (grad**2 + eps) ** Rational(-3, 2),
    grad**3 / (p * grad**2 + eps) ** 2,
    Abs(grad) / (Abs(grad) + eps) ** 2,
    sign(grad) * grad,
    sqrt(p * grad**2) * sign(theta),
    tanh(theta) / sqrt(theta**2 + eps),
    grad / Abs(grad),
    Abs(theta) ** 3 / theta**2,
    (grad + p * theta) ** 2,
]


@st.composite
def vectors(draw: st.DrawFn, depth: int = 2) -> Expr:
    """A random vector expression of the kinds that a derivation meets."""
    if depth == 0:
        return draw(st.sampled_from(COEFFICIENTS)) * draw(st.sampled_from(ENTRYWISE))
    a = draw(vectors(depth=depth - 1))
    b = draw(vectors(depth=draw(st.integers(0, depth - 1))))
    c = draw(st.sampled_from(COEFFICIENTS))
    shapes = [
        lambda: a + b,
        lambda: c * (a - b),
        lambda: a * b,
        lambda: contraction(a),
        lambda: c * contraction(a, b),
        lambda: opaque_derivative("gradK", tanh(a), b),
        lambda: a / sqrt(b**2 + eps),
        lambda: a * (b**2) ** HALF,
        lambda: exp(-(tanh(a) ** 2)) * b,
        lambda: total(a / (1 + a**2)) * b,
        lambda: a + Sum(c * p ** (n - s) * q * tanh(p**s * b), (s, 0, n - 1)),
    ]
    return draw(st.sampled_from(shapes))()


# --- values are kept


@given(vectors(), points())
@FEW
def test_collect_keeps_the_value(old: Expr, point: tuple) -> None:
    assert_same(collect(old, SCALARS), old, point)


@given(vectors(), points())
@QUIET
def test_distribute_keeps_the_value(old: Expr, point: tuple) -> None:
    assert_same(distribute(old), old, point)


@given(vectors(depth=1), points())
@QUIET
def test_divide_out_keeps_the_value(old: Expr, point: tuple) -> None:
    for term in terms_of(distribute(old)):
        assert_same(divide_out(term, SCALARS), term, point)


@given(st.lists(vectors(depth=1), min_size=1, max_size=4), points())
@QUIET
def test_group_keeps_the_value(contributions: list[Expr], point: tuple) -> None:
    assert_same(group(contributions, SCALARS), Add(*contributions), point)


@given(st.lists(st.sampled_from(COEFFICIENTS), min_size=1, max_size=5), points())
@QUIET
def test_coefficient_keeps_the_value(parts: list[Expr], point: tuple) -> None:
    assert_same(coefficient(parts, SCALARS), Add(*parts), point)


FACTORS = [grad, theta, Abs(grad), Abs(theta), sign(grad), sign(theta), grad**2 + eps, p, 1 - q]


@given(
    st.lists(st.tuples(st.sampled_from(FACTORS), st.integers(-4, 4)), min_size=1, max_size=6),
    points(),
)
@QUIET
def test_real_product_keeps_the_value(powers: list[tuple[Expr, int]], point: tuple) -> None:
    factors = [base**exponent for base, exponent in powers]
    assert_same(real_product(factors), Mul(*factors), point)


@given(
    st.lists(st.tuples(st.sampled_from(FACTORS), st.sampled_from([-4, -2, 2, 4])), min_size=1, max_size=4),
    st.sampled_from([Rational(k, 2) for k in (-5, -3, -1, 1, 3)]),
    points(),
)
@QUIET
def test_real_power_keeps_the_value(powers: list[tuple[Expr, int]], exponent: Rational, point: tuple) -> None:
    base = Mul(*(factor**power for factor, power in powers))
    assert_same(real_power(base, exponent), Pow(base, exponent, evaluate=False), point)


# --- the textbook cases


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (p * grad / (1 - p) + grad, grad / (1 - p)),
        ((1 - p**2) / (1 - p) * grad, (p + 1) * grad),
        ((1 - p) / (1 - p ** (n + 1)) * (1 - p ** (n + 1)) / (1 - p) * grad, grad),
        (p * grad - p * theta, p * (grad - theta)),
        (p * grad - grad * p, S.Zero),
        (D2L(p * grad - p * theta), p * D2L(grad - theta)),
        (bend_jvp(grad, p * theta + p * grad), p * bend_jvp(grad, theta + grad)),
        (sqrt(p * grad**2), sqrt(p) * Abs(grad)),
        (grad * sign(grad), Abs(grad)),
        (Sum(p**n * q**s * grad, (s, 0, n)), p**n * grad * Sum(q**s, (s, 0, n))),
    ],
    ids=str,
)
def test_collect(old: Expr, new: Expr) -> None:
    assert collect(old, SCALARS) - new == 0


def test_collect_keeps_decays_apart() -> None:
    """A person writes p/(1-p) - q/(1-q): no common denominator of two decays."""
    kept = (p / (1 - p) - q / (1 - q)) * grad
    assert collect(kept, SCALARS) == kept


def test_distribute() -> None:
    assert distribute((grad + theta) * D2L(grad)) == grad * D2L(grad) + theta * D2L(grad)
    assert distribute(p * (grad + theta) * (grad - theta)).func is Add
    assert len(distribute((grad + 1) * (theta + tanh(grad))).args) == 4


def test_distribute_leaves_sums_of_scalars_and_inner_sums() -> None:
    for kept in ((p + q) * grad, D2L(grad + theta) * p, grad / sqrt(grad**2 + eps), (grad + theta) ** 2):
        assert distribute(kept) == kept


B = grad**2 + eps


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (grad**2 * B ** Rational(-3, 2), B ** Rational(-1, 2) - eps * B ** Rational(-3, 2)),
        (p * grad**3 / B, p * grad - p * eps * grad / B),
        (Abs(grad) / (Abs(grad) + eps) ** 2, 1 / (Abs(grad) + eps) - eps / (Abs(grad) + eps) ** 2),
        (grad**2 * B**-2 * D2L(grad), D2L(grad) / B - eps * D2L(grad) / B**2),
    ],
    ids=str,
)
def test_divide_out(old: Expr, new: Expr) -> None:
    assert (divide_out(old, SCALARS) - new).expand() == 0


def test_divide_out_leaves_what_would_grow() -> None:
    """Dividing by p grad^2 + eps would bring in 1/p."""
    for kept in (grad * B ** Rational(-3, 2), grad**2 / (p * grad**2 + eps), grad**2 * theta, p * D2L(grad)):
        assert divide_out(kept, SCALARS) == kept
    once = divide_out(p * grad**2 / (p * grad**2 + eps), SCALARS)
    assert (once - 1 + eps / (p * grad**2 + eps)).expand() == 0


def test_group_needs_one_hessian_product() -> None:
    found = group([p * D2L(grad), q * D2L(theta)], SCALARS)
    assert len([atom for atom in found.atoms(Function) if is_contraction(atom)]) == 1
    assert group([p * D2L(grad), -p * D2L(grad)], SCALARS) == 0


def test_group_factors_the_tensor_out() -> None:
    found = group([p * D2L(grad) / sqrt(B), q * grad**2 * D2L(grad) * B ** Rational(-3, 2)], SCALARS)
    assert isinstance(found, Mul)
    assert D2L(grad) in found.args
    rest = found / D2L(grad)
    assert (rest - (p + q) / sqrt(B) + q * eps * B ** Rational(-3, 2)).expand() == 0


def test_coefficient_is_limit_plus_transient() -> None:
    """kappa(p) = p/(1-p) - (n+1) p^(n+1)/(1-p^(n+1)), as the paper writes it."""
    kappa = p / (1 - p) - (n + 1) * p ** (n + 1) / (1 - p ** (n + 1))
    assert coefficient([kappa.together()], SCALARS) == kappa


@pytest.mark.parametrize(
    ("factors", "product"),
    [
        ([grad, sign(grad)], Abs(grad)),
        ([grad**2, 1 / Abs(grad)], Abs(grad)),
        ([sign(grad), sign(grad)], S.One),
        ([Abs(grad) ** 2], grad**2),
        ([Abs(grad) ** 3, theta], Abs(grad) ** 3 * theta),
        ([Abs(grad), grad], Abs(grad) * grad),
        ([p, q], p * q),
    ],
    ids=str,
)
def test_real_product(factors: list[Expr], product: Expr) -> None:
    assert real_product(factors) == product


@pytest.mark.parametrize(
    "x", [p * theta / (1 - p) + grad, grad - p * theta / (p - 1), -theta - grad], ids=str
)
def test_a_sign_of_a_sum_is_no_quotient(x: Expr) -> None:
    """SymPy turns the sum inside ``|x|`` round; ``|-x|^(q + 1)/x`` would be 0/0 at x = 0, where sign(x) |x|^q is 0."""
    product = real_product([Abs(x) ** q, sign(x)])
    for value in (-4, 0, 9):
        numbers = {p: HALF, q: HALF, grad: S(value), theta: S(0)}
        size = x.xreplace(numbers)
        assert product.xreplace(numbers) == sign(size) * sqrt(Abs(size))
    assert real_product([x, sign(x)]) == Abs(x)


@pytest.mark.parametrize(
    ("base", "exponent", "power"),
    [
        (grad**2, HALF, Abs(grad)),
        (p * grad**2, -HALF, 1 / (sqrt(p) * Abs(grad))),
        (grad**4, HALF, grad**2),
        (grad**2 * B, HALF, Abs(grad) * sqrt(B)),
        (grad**3, HALF, sqrt(grad**3)),
        (p**2, HALF, sqrt(p**2)),  # scalars may be of any sign, and keep their roots
        (grad**2, Rational(1, 3), Abs(grad) ** Rational(2, 3)),
        (grad, S(2), grad**2),
    ],
    ids=str,
)
def test_real_power(base: Expr, exponent: Expr, power: Expr) -> None:
    assert real_power(base, exponent) == power


def test_scalars_stay_scalars() -> None:
    assert is_scalar(collect(p / (1 - p) + q, SCALARS))
    assert collect(S.Zero, SCALARS) == 0


def test_a_sign_has_one_spelling() -> None:
    assert real_product([sign(grad)]) == real_product([grad / Abs(grad)])
    assert collect(grad / Abs(grad) - Abs(grad) / grad, SCALARS) == 0
