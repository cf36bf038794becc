"""The algebra against numbers: kinds, directional derivatives, contractions, potentials, antiderivatives.

Truth is a difference of a tiny step at a raised precision, on a coupled loss in 3 dimensions.
"""

from __future__ import annotations

from typing import Any

import mpmath
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mpmath import mpf
from sympy import (
    Abs,
    Add,
    Expr,
    Function,
    Max,
    Rational,
    S,
    Sum,
    Symbol,
    cos,
    cosh,
    exp,
    log,
    sign,
    sin,
    sinh,
    sqrt,
    symbols,
    tanh,
)

from symmem.algebra.antiderivatives import antiderivative
from symmem.algebra.atoms import Kind, contraction, kind, opaque_derivative, split_scalar, total
from symmem.algebra.directional import along, derivative
from symmem.algebra.potentials import potential
from symmem.verification.evaluation import VectorMap, evaluate
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.ridges import potential_map, skew_map

theta, grad, loss, m1, p, q, n, s = symbols("theta grad loss m1 p q n s")
D2L, D3L, D4L = (Function(f"D{order}L") for order in (2, 3, 4))
bend, bend_jvp, skew, skew_jvp, TOTAL = (
    Function(name) for name in ("gradK", "gradK_jvp", "skew", "skew_jvp", "total")
)
LOSS = coupled_loss(3)
POINT = probe_point(3)
FUNCTIONS: dict[str, VectorMap] = {"gradK": potential_map(3), "skew": skew_map(3)}
NUMBERS = {"p": Rational(3, 5), "q": Rational(7, 4), "n": 4}
DIGITS = 110
STEP = mpf(10) ** -35
CLOSE = mpf(10) ** -25
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def value(expression: Expr, point: Any = POINT) -> list[mpf]:
    """The expression as three numbers; a scalar stands for a constant vector."""
    found = evaluate(expression, NUMBERS, {"theta": point}, LOSS, FUNCTIONS, digits=DIGITS)
    return found if isinstance(found, list) else [found] * len(POINT)


def difference(expression: Expr, direction: list[mpf]) -> list[mpf]:
    """``d/dt expression(theta + t direction)`` at t = 0, by a central difference."""
    with mpmath.workdps(DIGITS):
        ahead, behind = (
            value(expression, [x + way * STEP * v for x, v in zip(POINT, direction, strict=True)])
            for way in (1, -1)
        )
        return [(up - down) / (2 * STEP) for up, down in zip(ahead, behind, strict=True)]


def gradient(scalar: Expr) -> list[mpf]:
    """The gradient of a scalar expression, one difference for each entry of theta."""
    return [difference(scalar, [mpf(i == j) for j in range(3)])[0] for i in range(3)]


def assert_close(found: list[mpf], truth: list[mpf]) -> None:
    with mpmath.workdps(DIGITS):
        scale = max(1, *(abs(x) for x in truth))
        assert max(abs(x - y) for x, y in zip(found, truth, strict=True)) < CLOSE * scale


def assert_derivative(expression: Expr, direction: Expr) -> None:
    truth = difference(expression, value(direction))
    assert_close(value(derivative(expression, along(direction))), truth)


# --- kinds


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (p, Kind.SCALAR),
        (S(2) / 3, Kind.SCALAR),
        (loss, Kind.SCALAR),
        (p ** (n + 1) + s, Kind.SCALAR),
        (total(grad**2), Kind.SCALAR),
        (TOTAL(D2L(grad)) * p, Kind.SCALAR),
        (theta, Kind.ENTRYWISE),
        (m1, Kind.ENTRYWISE),
        (Symbol("m12"), Kind.ENTRYWISE),
        (Symbol("m0"), Kind.SCALAR),  # momentum variables count from 1
        (Symbol("mass"), Kind.SCALAR),
        (p * grad / sqrt(grad**2 + q), Kind.ENTRYWISE),
        (Sum(p**s * tanh(p**s * grad), (s, 0, n)), Kind.ENTRYWISE),
        (Sum(p**s, (s, 0, n)), Kind.SCALAR),
        (D2L(grad), Kind.TENSOR),
        (D3L(grad, theta), Kind.TENSOR),
        (bend(grad), Kind.TENSOR),
        (bend_jvp(grad, theta), Kind.TENSOR),
        (grad * D2L(theta) + theta, Kind.TENSOR),
        (Sum(p**s * bend(p**s * grad), (s, 0, n)), Kind.TENSOR),
        (tanh(D2L(grad)), Kind.TENSOR),
    ],
)
def test_kind(expression: Expr, expected: Kind) -> None:
    assert kind(expression) is expected


def test_split_scalar() -> None:
    assert split_scalar(p * q * grad * D2L(theta)) == (p * q, grad * D2L(theta))
    assert split_scalar(p + q) == (p + q, 1)
    assert split_scalar(grad + theta) == (1, grad + theta)
    assert split_scalar(total(grad) * theta) == (TOTAL(grad), theta)


# --- contractions


def test_contraction_is_symmetric() -> None:
    assert contraction(grad, theta) == contraction(theta, grad)
    assert contraction(theta, grad, D2L(grad)) == contraction(D2L(grad), theta, grad)
    assert contraction() == grad


def test_contraction_is_linear_over_scalars() -> None:
    assert contraction(p * grad, -q * theta) == -p * q * contraction(grad, theta)
    assert contraction(total(grad**2) * theta) == TOTAL(grad**2) * D2L(theta)
    assert contraction(grad, S.Zero) == 0
    assert opaque_derivative("gradK", grad, p * theta) == p * bend_jvp(grad, theta)
    assert opaque_derivative("gradK", p * grad, theta) != p * opaque_derivative("gradK", grad, theta)
    assert total(p * grad + 2 * theta) == p * TOTAL(grad) + 2 * TOTAL(theta)


def test_contraction_is_not_linear_over_vectors() -> None:
    assert contraction(grad * theta) == D2L(grad * theta)
    assert (
        max(abs(a - b) for a, b in zip(value(D2L(grad * theta)), value(grad * D2L(theta)), strict=True))
        > 1e-3
    )


# --- the directional derivative, rule by rule

RULES = {
    "theta": theta,
    "gradient": grad,
    "constant": p**n + 3,
    "contraction of order 1": D2L(grad),
    "contraction of order 2": D3L(grad, theta),
    "contraction of order 3": D4L(grad, theta, tanh(theta)),
    "contraction of a contraction": D2L(D2L(theta * grad)),
    "opaque": bend(grad),
    "opaque, not a gradient": skew(theta),
    "opaque derivative": bend_jvp(grad, theta),
    "opaque derivative, not a gradient": skew_jvp(theta, D2L(grad)),
    "opaque second derivative": Function("gradK_jvp2")(grad, theta, grad**2),
    "total": total(grad**2) * theta,
    "total of a contraction": TOTAL(grad * D2L(grad)) + 0 * theta,
    "finite sum": Sum(p ** (n - s) * bend((1 - p ** (s + 1)) * grad), (s, 0, n - 1)),
    "product": theta * grad * D2L(theta),
    "integer power": grad**5 + theta**-3,
    "root": sqrt(grad**2 + p),
    "symbolic exponent": (theta**2 + q) ** p,
    "exponent that moves": (theta**2 + q) ** grad,
    "constant base": p ** (theta * grad),
    "exp": exp(sin(grad)),
    "log": log(grad**2 + p),
    "tanh": tanh(p * grad),
    "sinh, cosh": sinh(theta) * cosh(theta),
    "sin, cos": sin(grad) - cos(theta * grad),
    "Abs, off its kink": Abs(grad) ** 3 + Abs(theta),
    "sign, off its jump": sign(grad) * theta,
}


@pytest.mark.parametrize("direction", [theta, grad**2, D2L(theta) - bend(grad)], ids=str)
@pytest.mark.parametrize("rule", RULES)
def test_rule(rule: str, direction: Expr) -> None:
    assert_derivative(RULES[rule], direction)


def test_momentum_variables_move_on_their_own() -> None:
    """d_l Phi[v]: only m1 moves, and theta stays."""
    m2 = Symbol("m2")
    assert derivative(m1 * m2 + theta, {m1: grad}) == m2 * grad
    assert derivative(bend(m1 + m2), {m1: grad}) == bend_jvp(m1 + m2, grad)


def test_functions_of_two_arguments_have_no_rule() -> None:
    with pytest.raises(NotImplementedError, match="max"):
        derivative(Max(grad, theta), along(theta))


@st.composite
def expressions(draw: st.DrawFn, depth: int = 4) -> Expr:
    """A random smooth vector expression; functions keep the numbers of moderate size."""
    if depth == 0:
        return draw(st.sampled_from([theta, grad, p * grad, theta / 2, S.One, q - grad]))
    a = draw(expressions(depth=depth - 1))
    b = draw(expressions(depth=draw(st.integers(0, depth - 1))))
    shapes = [
        lambda: a + b,
        lambda: a * b,
        lambda: p * a - b / 3,
        lambda: contraction(tanh(a)),
        lambda: contraction(tanh(a), sin(b)),
        lambda: contraction(tanh(a), sin(b), theta),
        lambda: bend(a),
        lambda: opaque_derivative("gradK", a, tanh(b)),
        lambda: opaque_derivative("skew", a, b),
        lambda: total(tanh(a)) * b,
        lambda: Sum(p**s * tanh((s + 1) * a), (s, 0, n - 1)) + b,
        lambda: (a**2 + 1) ** p,
        lambda: 1 / sqrt(a**2 + q),
        lambda: tanh(a) ** 3,
        lambda: exp(-sin(a)) * b,
        lambda: log(a**2 + 1),
    ]
    return draw(st.sampled_from(shapes))()


@given(expressions(), expressions(depth=1))
@QUIET
def test_random_expressions(expression: Expr, direction: Expr) -> None:
    assert_derivative(expression, direction)


@given(expressions(depth=2), expressions(depth=1), expressions(depth=1))
@settings(QUIET, max_examples=20)
def test_second_derivatives_commute(expression: Expr, u: Expr, v: Expr) -> None:
    """Along constant directions: D(D f[u])[v] = D(D f[v])[u]; the directions are frozen as m1, m2."""
    m2 = Symbol("m2")
    vectors = {"theta": POINT, "m1": value(u), "m2": value(v)}
    mixed = [
        derivative(derivative(expression, along(first)), along(second))
        for first, second in ((m1, m2), (m2, m1))
    ]
    found = [evaluate(e, NUMBERS, vectors, LOSS, FUNCTIONS, digits=DIGITS) for e in mixed]
    pair = [x if isinstance(x, list) else [x] * 3 for x in found]
    assert_close(pair[0], pair[1])


# --- potentials and antiderivatives


def functions_of(x: Symbol) -> list[Expr]:
    """Functions with an antiderivative that the rules know."""
    return [
        S.One,
        x,
        x**3,
        x**-2,
        1 / x,
        p * x**2 - x / q,
        sign(x),
        x / Abs(x),
        exp(p * x),
        sin(x + q),
        cos(-x),
        sinh(p * x),
        cosh(x),
        tanh(q * x),
        x / sqrt(x**2 + p),
        x * (x**2 + p) ** Rational(-3, 2),
        x / (x**2 + p),
        x * (x**2 + p) ** q,
        x / (Abs(x) + p),
        sign(x) / (Abs(x) + p),
    ]


UNKNOWN = [Abs(grad) * sin(grad), exp(grad**2), 1 / (grad**2 + p), grad * sin(grad), log(grad**2 + p)]


@pytest.mark.parametrize("function", functions_of(grad), ids=str)
def test_antiderivative(function: Expr) -> None:
    """By differences in one real variable, and not by the engine's own derivative."""
    found = antiderivative(function, grad)
    assert found is not None
    for x in (mpf(-2), mpf(-1) / 3, mpf(5) / 4):
        with mpmath.workdps(DIGITS):
            around = [{"grad": [x + h]} for h in (STEP, -STEP)]
            ahead, behind = (evaluate(found, NUMBERS, at, digits=DIGITS)[0] for at in around)
            truth = evaluate(function + 0 * grad, NUMBERS, {"grad": [x]}, digits=DIGITS)
            truth = truth[0] if isinstance(truth, list) else truth
            assert abs((ahead - behind) / (2 * STEP) - truth) < CLOSE


@pytest.mark.parametrize("function", UNKNOWN, ids=str)
def test_no_antiderivative_is_guessed(function: Expr) -> None:
    assert antiderivative(function, grad) is None


SCALARS = [S.One, -p, q / (1 - p), p**n]


@st.composite
def gradient_fields(draw: st.DrawFn) -> Expr:
    terms = []
    for _ in range(draw(st.integers(1, 4))):
        inside = [
            draw(st.sampled_from(SCALARS)) * draw(st.sampled_from([theta, *functions_of(grad)]))
            for _ in range(draw(st.integers(1, 2)))
        ]
        vector = draw(st.sampled_from([grad, contraction(Add(*inside)), *functions_of(theta)]))
        terms.append(draw(st.sampled_from(SCALARS)) * vector)
    return Add(*terms)


KNOWN = [grad, *map(contraction, [theta, *functions_of(grad)]), *functions_of(theta)]


@pytest.mark.parametrize("field", KNOWN, ids=str)
def test_gradient_of_each_known_potential(field: Expr) -> None:
    ((scalar, part),), rest = potential(p * field)
    assert rest == ()
    assert_close(gradient(scalar * part), value(p * field))


@given(gradient_fields())
@QUIET
def test_gradient_of_the_potential_is_the_field(field: Expr) -> None:
    found, rest = potential(field)
    assert rest == ()
    assert_close(gradient(Add(*(scalar * part for scalar, part in found))), value(field))


NO_GRADIENTS = [
    grad**2,
    theta * grad,
    bend(grad),
    grad * D2L(grad),
    D2L(theta * grad),
    D2L(D2L(grad)),
    D3L(grad, grad),
    D2L(skew(grad)),
    Sum(p**s * tanh(p**s * grad), (s, 0, n)),
]


@pytest.mark.parametrize("field", NO_GRADIENTS, ids=str)
def test_what_is_no_gradient_is_the_rest(field: Expr) -> None:
    """By numbers the Jacobian of each is not symmetric, so the rest is not only unknown but right."""
    found, rest = potential(p * field + 2 * grad)
    assert found == ((2, loss),)
    assert rest == (p * field,)
    columns = [difference(field, [mpf(i == j) for i in range(3)]) for j in range(3)]
    assert max(abs(columns[i][j] - columns[j][i]) for i in range(3) for j in range(i)) > 1e-6


def test_the_potential_of_nothing_is_nothing() -> None:
    assert potential(S.Zero) == ((), ())


@pytest.mark.parametrize("scalar", [loss, total(grad**2), total(theta)], ids=str)
def test_moving_scalars_are_no_constant_factors(scalar: Expr) -> None:
    assert_split(scalar * theta)
    assert potential(scalar * theta)[0] == ()


@pytest.mark.parametrize("field", [D2L(theta**2), D2L(theta**3) + 3 * theta**2 * grad], ids=str)
def test_products_with_functions_of_theta_leave_what_does_not_cancel(field: Expr) -> None:
    """D2L(f(theta)) = grad(grad . f(theta)) - grad f'(theta)."""
    assert_split(field)
    assert bool(potential(field)[1]) == (field == D2L(theta**2))


def assert_split(field: Expr) -> None:
    """The gradient of what was found and the rest add up to the field."""
    found, rest = potential(field)
    with mpmath.workdps(60):
        claimed = gradient(Add(*(factor * part for factor, part in found))) if found else [mpf(0)] * 3
        left = value(Add(*rest)) if rest else [mpf(0)] * 3
        assert_close([a + b for a, b in zip(claimed, left, strict=True)], value(field))


def test_the_loss_moves_too() -> None:
    assert_derivative(loss * theta, grad)
