"""The table of heads against numbers: derivative, degree, antiderivative, image and kind of every record.

Truth is mpmath's own function of the same name, differences of a tiny step at 100 digits, and random points.
"""

from __future__ import annotations

import random

import mpmath
import pytest
from mpmath import mpf
from sympy import Abs, Expr, Function, Integer, Rational, S, Sum, lambdify, sqrt, symbols, tanh

from symmem.algebra.atoms import GRAD, LR, THETA, Kind, contraction, slot, total
from symmem.algebra.directional import along, derivative
from symmem.algebra.families import TOTAL, contraction_head, opaque_head
from symmem.algebra.functions import FUNCTIONS, entrywise
from symmem.algebra.head import Head, Roughness, Scope
from symmem.algebra.heads import HEADS, Heads

x, u, v, p, n, s = symbols("x u v p n s")
theta, grad, m1 = symbols("theta grad m1")
TINY = mpf(10) ** -30
TRUTH = {
    "sqrt": mpmath.sqrt,
    "abs": abs,
    "sign": mpmath.sign,
    "exp": mpmath.exp,
    "log": mpmath.log,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "atan": mpmath.atan,
    "erf": mpmath.erf,
}
ONLY_POSITIVE = {"sqrt", "log"}


def points(name: str, count: int = 6) -> list[mpf]:
    source = random.Random(name)
    return [
        mpf(source.randint(1, 10**9)) / 10**9 * 2 * (1 if name in ONLY_POSITIVE else source.choice([-1, 1]))
        for _ in range(count)
    ]


def number(expression: Expr, at: mpf) -> mpf:
    return lambdify(x, expression, "mpmath")(at)


def slope(function: object, at: mpf) -> mpf:
    return (function(at + TINY) - function(at - TINY)) / (2 * TINY)  # type: ignore[operator]


@pytest.fixture(autouse=True)
def _digits() -> object:
    with mpmath.workdps(100):
        yield


ENTRYWISE = [pytest.param(head, id=head.name) for head in FUNCTIONS]


def test_the_language_has_exactly_these_functions() -> None:
    assert [head.name for head in FUNCTIONS] == list(TRUTH)
    assert {head.name for head in HEADS.records} == {
        *TRUTH,
        "total",
        "Sum",
        "slot",
        "min",
        "max",
        "where",
        "prod",
        "rate",
        *("variance_along", "variance_gradient", "noisy_hessian"),
        *("dot", "mean", "norm", "rms", "nuclear", "matmul", "transpose"),
        *("global_dot", "global_norm", "sum_tensors"),
    }
    assert len(HEADS.by_name) == len(HEADS.records)


@pytest.mark.parametrize("head", ENTRYWISE)
def test_value_and_derivative(head: Head) -> None:
    truth = TRUTH[head.name]
    assert head.derivative is not None
    for at in points(head.name):
        assert abs(number(head.function(x), at) - truth(at)) < 1e-50
        assert abs(number(head.derivative((x,), Integer(3)), at) - 3 * slope(truth, at)) < 1e-40
        assert abs(number(derivative(head.function(x), {x: Integer(3)}), at) - 3 * slope(truth, at)) < 1e-40


@pytest.mark.parametrize("head", ENTRYWISE)
def test_antiderivative_differentiates_back(head: Head) -> None:
    assert head.antiderivative is not None
    for at in points(head.name):
        inner = lambdify(x, head.antiderivative(x), "mpmath")
        assert abs(slope(inner, at) - TRUTH[head.name](at)) < 1e-40


@pytest.mark.parametrize("head", ENTRYWISE)
def test_degree_of_homogeneity(head: Head) -> None:
    """``f(c x) = c^p f(x)`` for c > 0; where the record names no p, none fits."""
    truth = TRUTH[head.name]
    at, factors = points(head.name)[0], (mpf(3) / 2, mpf(4))
    if head.degree is not None:
        power = mpf(head.degree.p) / head.degree.q
        assert all(abs(truth(c * at) - c**power * truth(at)) < 1e-50 for c in factors)
    else:
        fitted = [mpmath.log(abs(truth(c * at) / truth(at))) / mpmath.log(c) for c in factors]
        assert abs(fitted[0] - fitted[1]) > 1e-6


@pytest.mark.parametrize("head", ENTRYWISE)
def test_image_holds_every_value_and_is_not_wasteful(head: Head) -> None:
    values = [TRUTH[head.name](at) for at in points(head.name, 40)]
    assert all(head.image.lower <= mpf_to_rational(value) <= head.image.upper for value in values)
    if head.name in ("log", "sinh", "tan"):
        assert min(values) < 0 < max(values)
    else:
        assert head.image.lower > -3


def mpf_to_rational(value: mpf) -> Rational:
    return Rational(str(mpmath.nstr(value, 40)))


@pytest.mark.parametrize(
    ("name", "roughness"),
    [("sign", Roughness.JUMP), ("abs", Roughness.KINK), ("sqrt", Roughness.ROOT), ("log", Roughness.SINGULAR),
     ("tan", Roughness.POLES)],
)  # fmt: skip
def test_roughness_by_numbers(name: str, roughness: Roughness) -> None:
    """A jump, a kink, an unbounded slope, an unbounded value at 0; a pole at pi/2."""
    assert HEADS.by_name[name].roughness is roughness
    f, h = TRUTH[name], mpf(10) ** -20
    seen = {
        Roughness.JUMP: lambda: abs(f(h) - f(-h)) > 1,
        Roughness.KINK: lambda: abs(f(h) - f(-h)) < 1e-15 and abs(slope_at(f, h) - slope_at(f, -h)) > 1,
        Roughness.ROOT: lambda: abs(f(h)) < 1e-9 and slope_at(f, h) > 1e5,
        Roughness.SINGULAR: lambda: abs(f(h)) > 40,
        Roughness.POLES: lambda: abs(f(mpmath.pi / 2 - h)) > 1e15,
    }
    assert [kind for kind in Roughness if kind is roughness and seen[kind]()] == [roughness]


def slope_at(f: object, at: mpf) -> mpf:
    step = abs(at) / 10**10
    return (f(at + step) - f(at - step)) / (2 * step)  # type: ignore[operator]


def test_smooth_functions_say_so() -> None:
    rough = {head.name for head in HEADS.records if head.roughness is not None}
    assert rough == {"sqrt", "abs", "sign", "log", "tan"}


# --- the heads of vectors


def test_families_are_read_from_names() -> None:
    third = HEADS.of(Function("D3L")(u, v))
    assert third is contraction_head(3)
    assert (third.kind, third.scope, third.linear_from, third.degree) == (Kind.TENSOR, Scope.MODEL, 0, 2)
    jvp = HEADS.of(Function("gradK_jvp")(u, v))
    assert jvp is opaque_head("gradK", 1)
    assert (jvp.linear_from, jvp.has_point, jvp.is_linear_in(0), jvp.is_linear_in(1)) == (
        1,
        True,
        False,
        True,
    )
    assert HEADS.of(Function("gradK_jvp3")(u, v, v, v)) is opaque_head("gradK", 3)
    assert HEADS.of(theta + grad) is None
    assert HEADS.of(sqrt(theta)) is None  # a root is a power: arithmetic
    assert HEADS.of(tanh(theta)) is HEADS.by_name["tanh"]


def test_normal_form() -> None:
    d3, jvp = contraction_head(3), opaque_head("gradK", 1)
    assert HEADS.applied(d3, (2 * p * grad, theta)) == 2 * p * HEADS.applied(d3, (theta, grad))
    assert HEADS.applied(d3, (grad, S.Zero)) == 0
    assert HEADS.applied(contraction_head(2), (2 * grad + 2 * theta,)) == 2 * Function("D2L")(grad + theta)
    assert HEADS.applied(jvp, (p * grad, p * theta)) == p * Function("gradK_jvp")(p * grad, theta)
    assert HEADS.applied(HEADS.by_name["total"], (p * grad + theta,)) == p * TOTAL(grad) + TOTAL(theta)
    inner = Sum(p**s * grad, (s, 0, n))
    assert HEADS.rebuilt(inner, [p**s * theta, inner.args[1]]) == Sum(p**s * theta, (s, 0, n))
    assert HEADS.mapped(inner, lambda operand: 2 * operand) == Sum(2 * p**s * grad, (s, 0, n))
    assert HEADS.mapped(slot(3), lambda operand: operand + 1) == slot(3)


def test_a_slot_is_a_constant_vector() -> None:
    assert HEADS.kind(slot(0)) is Kind.TENSOR
    assert derivative(slot(0) * theta, along(grad)) == slot(0) * grad
    assert derivative(slot(0), along(grad)) == 0


def test_derivatives_raise_the_head() -> None:
    velocities = along(v * theta)
    assert derivative(contraction(grad), velocities) == contraction(grad, v * theta) + contraction(
        contraction(v * theta)
    )
    gradient = Function("gradK")(theta)
    assert derivative(gradient, velocities) == v * Function("gradK_jvp")(theta, theta)
    assert derivative(total(theta**2), velocities) == 2 * v * TOTAL(theta**2)


# --- a new function costs one record

SOFTSIGN = entrywise("softsign", Function("softsign"), lambda y: 1 / (1 + Abs(y)) ** 2, degree=None)
MEAN = Head(
    "mean", Function("mean"), Kind.SCALAR, Scope.TENSOR, linear_from=0, is_additive=True, degree=Integer(1)
)
DOT = Head("dot", Function("dot"), Kind.SCALAR, Scope.TENSOR, linear_from=0, degree=Integer(2))
NORM = Head(
    "norm",
    Function("norm"),
    Kind.SCALAR,
    Scope.TENSOR,
    derivative=lambda operands, rate: MORE.applied(DOT, (operands[0], rate)) / NORM.function(operands[0]),
    degree=Integer(1),
)
MATMUL = Head(
    "matmul",
    Function("matmul"),
    Kind.TENSOR,
    Scope.TENSOR,
    linear_from=0,
    is_symmetric=False,
    degree=Integer(2),
)
POLAR = opaque_head("polar", degree=Integer(0))
MORE: Heads = HEADS.extended(SOFTSIGN, MEAN, DOT, NORM, MATMUL, POLAR)


def test_a_registered_head_has_kind_and_derivative() -> None:
    softsign, mean, dot, norm, matmul = (
        MORE.by_name[k].function for k in ("softsign", "mean", "dot", "norm", "matmul")
    )
    assert [
        MORE.kind(e) for e in (softsign(grad), softsign(p), mean(grad), norm(theta) * grad, matmul(u, v))
    ] == [
        Kind.ENTRYWISE,
        Kind.SCALAR,
        Kind.SCALAR,
        Kind.ENTRYWISE,
        Kind.TENSOR,
    ]
    moves = {theta: v * grad, m1: grad}
    assert derivative(softsign(theta), moves, MORE) == v * grad / (1 + Abs(theta)) ** 2
    assert derivative(mean(theta * m1), moves, MORE) == mean(theta * grad) + v * mean(m1 * grad)
    assert derivative(norm(theta), moves, MORE) == v * dot(
        *sorted((theta, grad), key=lambda e: e.sort_key())
    ) / norm(theta)
    assert (
        derivative(theta / norm(theta), {theta: theta}, MORE).subs(dot(theta, theta), norm(theta) ** 2) == 0
    )
    assert derivative(matmul(theta, m1), moves, MORE) == v * matmul(grad, m1) + matmul(theta, grad)
    assert derivative(Function("polar")(theta), moves, MORE) == v * Function("polar_jvp")(theta, grad)
    raised = MORE.of(Function("polar")(theta))
    assert raised is POLAR
    assert raised.degree == 0
    assert MORE.split_scalar(mean(grad) * theta) == (mean(grad), theta)


def test_the_table_of_the_language_is_not_changed_by_that() -> None:
    assert "softsign" not in HEADS.by_name
    assert HEADS.by_name["mean"] is not MEAN
    assert (
        HEADS.kind(Function("softsign")(grad)) is Kind.TENSOR
    )  # a name that the language does not know is opaque
    with pytest.raises(TypeError):
        HEADS.by_name["mean"] = MEAN  # type: ignore[index]


def test_a_head_without_a_rule_says_so() -> None:
    silent = Head("silent", Function("silent"), Kind.TENSOR, Scope.MODEL)
    with pytest.raises(NotImplementedError, match="silent"):
        derivative(Function("silent")(THETA), along(GRAD), HEADS.extended(silent))
    assert derivative(Function("silent")(LR), along(GRAD), HEADS.extended(silent)) == 0


def test_degrees_of_vector_heads() -> None:
    """All operands scaled by c: total by c, D3L by c^2; a Sum is linear in its summand."""
    assert HEADS.applied(HEADS.by_name["total"], (p * grad,)) == p ** HEADS.by_name["total"].degree * TOTAL(
        grad
    )
    for order in (2, 3, 4):
        head = contraction_head(order)
        vectors = [grad, theta, grad**2][: order - 1]
        scaled = HEADS.applied(head, [p * vector for vector in vectors])
        assert scaled == p**head.degree * HEADS.applied(head, vectors)
    assert HEADS.by_name["Sum"].degree == 1
