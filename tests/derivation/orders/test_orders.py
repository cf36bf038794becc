"""Any order, in the limit of many steps: what is known in closed form, as symbolic zeros; the rest by another route.

Heavy ball against Narayana and Eulerian polynomials; methods linear in the gradient against the exact root on a
quadratic loss; the whole zoo against Lie series; modified losses against their own gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from math import comb, factorial

import mpmath
import pytest
from lie_series import lie_series
from linear_methods import BETAS, LINEAR, linear_method, log_series, root_series, values_of
from mpmath import mpf
from sympy import Add, Expr, Function, Integer, Rational, S, Symbol, cancel, expand
from sympy.core.function import AppliedUndef
from truth import FIRST, literal_of, load, number_of, shown_first

import symmem
from symmem.algebra.results import Advice, Missing
from symmem.derivation.derivation import Derivation
from symmem.derivation.loss.verdicts import ModifiedLoss, Obstruction
from symmem.derivation.quadratic import quadratic
from symmem.errors import DerivationError
from symmem.method.reading import method_of
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.vectors import relative_error

beta, theta, grad, lr = Symbol("beta"), Symbol("theta"), Symbol("grad"), Symbol("lr")
D2L, D3L, D4L = Function("D2L"), Function("D3L"), Function("D4L")
EXACT = mpf("1e-20")


@cache
def derived(name: str, order: int) -> Derivation:
    return symmem.derive(load(name), order=order)


def is_zero(expression: Expr) -> bool:
    """Zero as a rational function of the parameters, vector by vector."""
    return cancel(expression) == 0


# Heavy ball ------------------------------------------------------------------------------------------------


def test_heavy_ball_to_third_order() -> None:
    """mathematics.md section 4, "checks that have to come out"."""
    Hg, ggg = D2L(grad), D3L(grad, grad)
    HHg = D2L(Hg)
    known = [
        grad / (1 - beta),
        beta / (1 - beta) ** 3 * Hg,
        beta * (1 + beta) / (1 - beta) ** 5 * (HHg + ggg / 2),
        (
            beta * (1 + 3 * beta + beta**2) * (D2L(HHg) + contraction3(grad, Hg))
            + beta * (1 + 4 * beta + beta**2) * (D2L(ggg) / 2 + D4L(grad, grad, grad) / 6)
        )
        / (1 - beta) ** 7,
    ]
    found = derived("heavyball", 3).coefficients
    assert len(found) == 4
    assert all(is_zero(value - truth) for value, truth in zip(found, known, strict=True))


def contraction3(u: Expr, v: Expr) -> Expr:
    """``D3L[u, v]``, which is symmetric, with its arguments in the engine's order."""
    return D3L(*sorted((u, v), key=lambda vector: vector.sort_key()))


@pytest.mark.parametrize("order", range(1, 7))
def test_narayana_and_eulerian_polynomials(order: int) -> None:
    """The tall tree of F_j has a Narayana polynomial, the bushy one an Eulerian polynomial over j!."""
    tall: Expr = grad
    for _ in range(order):
        tall = D2L(tall)
    bushy = Function(f"D{order + 1}L")(*[grad] * order)
    narayana = Add(
        *(Rational(comb(order, k) * comb(order, k - 1), order) * beta**k for k in range(1, order + 1))
    )
    eulerian = Add(*(eulerian_number(order, k) * beta ** (k + 1) for k in range(order)))
    value = expand(derived("heavyball", 6).coefficients[order])
    power = (1 - beta) ** (2 * order + 1)
    assert is_zero(value.coeff(tall) * power - narayana)
    if order > 1:
        assert is_zero(value.coeff(bushy) * power - eulerian / factorial(order))


def eulerian_number(n: int, k: int) -> int:
    return sum((-1) ** i * comb(n + 1, i) * (k + 1 - i) ** n for i in range(k + 1))


def test_the_modified_equation_of_heavy_ball() -> None:
    """The paper's: ``theta' = -(g + h (1 + beta)/(2 (1 - beta)^2) Hg)/(1 - beta)``."""
    G0, G1 = derived("heavyball", 1).modified_equation
    assert is_zero(G0 + grad / (1 - beta))
    assert is_zero(G1 + (1 + beta) / (2 * (1 - beta) ** 3) * D2L(grad))


def test_the_start_of_heavy_ball() -> None:
    """mathematics.md section 6."""
    d1, d2 = derived("heavyball", 2).shift
    assert is_zero(d1 - beta / (1 - beta) ** 2 * grad)
    assert is_zero(d2 - beta * (2 + beta) / (1 - beta) ** 4 * D2L(grad))


# Quadratic losses --------------------------------------------------------------------------------------------


def on_quadratic(expression: Expr) -> Expr:
    """The value at theta = 1 on the loss ``a theta^2 / 2`` with a = 1: every D2L is the identity, D3L is 0."""
    if isinstance(expression, AppliedUndef):
        return on_quadratic(expression.args[0]) if expression.func == D2L else S.Zero
    if expression == grad:
        return S.One
    return expression.func(*map(on_quadratic, expression.args)) if expression.args else expression


def check_on_quadratic(derivation: Derivation, name: str, betas: tuple[Fraction, Fraction]) -> None:
    """``mu = 1 - h a (F_0 + ...)`` and ``log(mu) = h (G_0 + ...)``, exactly."""
    mu = root_series(LINEAR[name](*betas), derivation.order + 2)
    numbers = {Symbol(symbol): Rational(value) for symbol, value in values_of(betas).items()}
    assert mu[0] == 1
    steps = [on_quadratic(value).xreplace(numbers) for value in derivation.coefficients]
    assert steps == [-Rational(c) for c in mu[1:]]
    flows = [on_quadratic(value).xreplace(numbers) for value in derivation.modified_equation]
    assert flows == [Rational(c) for c in log_series(mu)[1:]]


FAR = pytest.mark.prove
"""Order 8 of every method; one of them is enough to see whether it is reached."""


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("heavyball", 8),
        *((name, 6) for name in LINEAR),
        *(pytest.param(name, 8, marks=FAR) for name in LINEAR if name != "heavyball"),
    ],
)
def test_the_exact_root_to_high_order(name: str, order: int) -> None:
    """With numbers for the decays, which makes it affordable."""
    optimizer = linear_method(name)
    for betas in BETAS[: 2 if order < 8 else 1]:
        values = {p.name: values_of(betas)[p.name] for p in optimizer.parameters}
        check_on_quadratic(symmem.derive(optimizer.with_values(values), order=order), name, betas)


@pytest.mark.parametrize("name", LINEAR)
def test_the_exact_root_with_symbols(name: str) -> None:
    derivation = symmem.derive(linear_method(name), order=5)
    for betas in BETAS:
        check_on_quadratic(derivation, name, betas)


# Lie series --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shown_first(FIRST))
def test_the_zoo_against_lie_series(name: str) -> None:
    """F_0..F_3 and G_0..G_3 at the probe point in three dimensions."""
    optimizer = load(name)
    optimizer = optimizer.with_values(literal_of(optimizer).numbers)
    literal, derivation = literal_of(optimizer), symmem.derive(optimizer, order=3)
    steps, flows = lie_series(optimizer, 3)
    for value, truth in zip(derivation.coefficients, steps, strict=True):
        assert relative_error(number_of(value, literal), number_of(truth, literal)) < EXACT
    for value, truth in zip(derivation.modified_equation, flows, strict=True):
        assert relative_error(number_of(value, literal), number_of(truth, literal)) < EXACT


@pytest.mark.parametrize("name", ["heavyball", "nesterov", "adamw", "lion-k"])
def test_lie_series_with_symbols(name: str) -> None:
    """The same with symbols for the parameters; the numbers come last."""
    literal, derivation = literal_of(load(name)), derived(name, 2)
    steps, flows = lie_series(load(name), 2)
    for value, truth in zip(
        (*derivation.coefficients, *derivation.modified_equation), (*steps, *flows), strict=True
    ):
        assert relative_error(number_of(value, literal), number_of(truth, literal)) < EXACT


# Modified losses ---------------------------------------------------------------------------------------------

RATE = Rational(1, 10)
VALUES = {"beta": Rational(2, 5), "lr": RATE}


def value_at(expression: Expr, point: Sequence[mpf], digits: int = 60) -> list[mpf]:
    found = evaluate(expression, VALUES, {"theta": point}, coupled_loss(len(point)), digits=digits)
    return found if isinstance(found, list) else [found]


def jacobian(field: Expr, point: Sequence[mpf]) -> list[list[mpf]]:
    """``rows[i][j]`` is the derivative of entry j of the field in theta_i: central differences, 1e-25 of 80 digits."""
    with mpmath.workdps(80):
        step, rows = mpf("1e-25"), []
        for i in range(len(point)):
            up, down = (
                value_at(field, [x + sign * step if i == j else x for j, x in enumerate(point)], 80)
                for sign in (1, -1)
            )
            rows.append([(u - d) / (2 * step) for u, d in zip(up, down, strict=True)])
        return rows


def asymmetry(field: Expr, dimension: int) -> mpf:
    rows = jacobian(field, probe_point(dimension))
    return max(abs(rows[i][j] - rows[j][i]) for i in range(dimension) for j in range(dimension))


def series(parts: Sequence[Expr]) -> Expr:
    return Add(*(lr**j * part for j, part in enumerate(parts)))


def is_descent_on(loss: ModifiedLoss, field: Expr, dimension: int) -> bool:
    """Whether ``preconditioner * grad potential = field``, by numbers; a scalar preconditioner and no decay."""
    point = probe_point(dimension)
    slope = [row[0] for row in jacobian(loss.potential, point)]
    scale = value_at(loss.preconditioner, point)[0]
    with mpmath.workdps(60):
        descent = [scale * entry for entry in slope]
    return loss.decay == 0 and relative_error(descent, value_at(field, point)) < EXACT


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("order", range(1, 6))
def test_heavy_ball_is_a_gradient_step_at_every_order(order: int, dimension: int) -> None:
    derivation = derived("heavyball", order)
    assert derivation.obstruction is None
    assert derivation.modified_loss is not None
    assert derivation.modified_loss.regime == "exact"
    assert is_descent_on(derivation.modified_loss, series(derivation.coefficients), dimension)


@pytest.mark.parametrize("name", ["gd", "heavyball", "ema-momentum", "nesterov"])
def test_the_modified_equation_is_a_gradient_flow_to_first_order(name: str) -> None:
    derivation = derived(name, 1)
    assert isinstance(derivation.flow_loss, ModifiedLoss)
    assert is_descent_on(derivation.flow_loss, -series(derivation.modified_equation), 3)
    assert derivation.modified_loss is not None
    assert is_descent_on(derivation.modified_loss, series(derivation.coefficients), 3)


def test_the_step_of_gradient_descent_is_a_gradient_at_every_order() -> None:
    loss = derived("gd", 5).modified_loss
    assert loss is not None
    assert loss.potential - Symbol("loss") == 0


OBSTRUCTED = {
    "heavy ball, flow": lambda order: (
        derived("heavyball", order).flow_loss,
        derived("heavyball", order).modified_equation,
    ),
    "nesterov, step": lambda order: (derived("nesterov", order).obstruction, derived("nesterov", order).coefficients),
    "gradient descent, flow": lambda order: (derived("gd", order).flow_loss, derived("gd", order).modified_equation),
}  # fmt: skip


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("name", OBSTRUCTED)
def test_obstructions_are_real_in_two_dimensions(name: str, order: int) -> None:
    """From h^2 on: the offending terms, and the whole field of that order, have a Jacobian that is not symmetric."""
    obstruction, fields = OBSTRUCTED[name](order)
    assert isinstance(obstruction, Obstruction)
    assert obstruction.order == 2
    assert obstruction.terms
    for dimension in (2, 3):
        assert asymmetry(Add(*obstruction.terms), dimension) > 1e-3
        assert asymmetry(fields[2], dimension) > 1e-3
        assert asymmetry(fields[1], dimension) < EXACT
        # What is not named is a gradient: without the offending terms nothing is left that is none.
        sign = -1 if "flow" in name else 1
        left = sign * fields[2] - Add(*obstruction.terms)
        assert is_zero(left) or asymmetry(left, dimension) < EXACT


@pytest.mark.parametrize("name", OBSTRUCTED)
def test_in_one_dimension_nothing_is_obstructed(name: str) -> None:
    """A field on the line is the slope of its integral: a Jacobian of one entry is symmetric."""
    obstruction, fields = OBSTRUCTED[name](2)
    assert asymmetry(Add(*obstruction.terms), 1) == 0
    assert "two or more dimensions" in str(obstruction.reason)
    low, high = mpf(-1) / 4, mpf(1) / 4
    with mpmath.workdps(30):
        field = lambda x: value_at(fields[2], [x], 30)[0]  # noqa: E731
        potential = lambda x: mpmath.quad(field, [low, x])  # noqa: E731
        slope = (potential(high + mpf("1e-8")) - potential(high - mpf("1e-8"))) / mpf("2e-8")
    assert abs(slope - field(high)) < 1e-10


# What holds between orders, and what is refused --------------------------------------------------------------


@pytest.mark.parametrize("name", FIRST)
def test_a_higher_order_only_adds(name: str) -> None:
    low, high = derived(name, 1), derived(name, 2)
    assert [len(low.coefficients), len(low.modified_equation), len(low.shift)] == [2, 2, 1]
    assert [len(high.coefficients), len(high.modified_equation), len(high.shift)] == [3, 3, 2]
    for lower, higher in (
        (low.coefficients, high.coefficients),
        (low.modified_equation, high.modified_equation),
        (low.shift, high.shift),
    ):
        assert all(x - y == 0 for x, y in zip(lower, higher, strict=False))
    F, M = low.limit.F, low.limit.M
    assert F - low.coefficients[0] == 0
    assert is_zero(M - lr * low.coefficients[1])
    assert low.F - high.F == 0
    assert high.limit.F - F == 0
    assert is_zero(high.limit.M - M - lr**2 * high.coefficients[2])


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_there_are_as_many_coefficients_as_powers(order: int) -> None:
    for name in ("heavyball", "nesterov"):
        assert len(derived(name, order).coefficients) == order + 1
        assert len(derived(name, order).modified_equation) == order + 1


def test_beta_zero_is_gradient_descent() -> None:
    at_zero = symmem.derive(load("heavyball").with_values({"beta": 0}), order=4)
    gd = derived("gd", 4)
    assert all(x - y == 0 for x, y in zip(at_zero.coefficients, gd.coefficients, strict=True))
    assert all(x - y == 0 for x, y in zip(at_zero.modified_equation, gd.modified_equation, strict=True))
    for j, value in enumerate(derived("heavyball", 4).modified_equation):
        assert is_zero(value.xreplace({beta: Integer(0)}) - gd.modified_equation[j])


@pytest.mark.parametrize("name", ["ema-momentum-debiased", "adamw"])
def test_unit_fractions_may_be_put_in(name: str) -> None:
    """SymPy writes (1/2)**(n + 1) as 2**(-n - 1): the number must still be seen to vanish."""
    optimizer = load(name)
    half = {p.name: Rational(1, 2) for p in optimizer.parameters if p.name.startswith("beta")}
    early = symmem.derive(optimizer.with_values(half), order=2)
    literal = literal_of(optimizer, half)
    for value, late in zip(early.coefficients, derived(name, 2).coefficients, strict=True):
        assert relative_error(number_of(value, literal), number_of(late, literal)) < EXACT


MISSING: dict[str, tuple[Callable[[], object], str]] = {
    "symbolic n at order 3": (lambda: derived("heavyball", 3).M, "order 2"),
    "a step at order 3 with rmsprop": (lambda: derived("rmsprop", 3).at(4), "rmsprop"),
    "a quadratic loss with adamw": (lambda: quadratic(method_of(load("adamw")), 3), "adamw"),
}
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "order 0": (lambda: symmem.derive(load("gd"), order=0), "order 0"),
    "a negative order": (lambda: symmem.derive(load("gd"), order=-1), "order -1"),
    "a negative step at order 3": (lambda: derived("heavyball", 3).at(-1), "heavyball"),
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_missing_says_why(name: str) -> None:
    ask, word = MISSING[name]
    found = ask()
    assert isinstance(found, Missing)
    assert word in str(found.reason)


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    ask, word = REFUSED[name]
    with pytest.raises(DerivationError, match=word):
        ask()


def test_a_far_step_with_symbolic_decays_is_refused_and_with_numbers_it_is_not() -> None:
    far = derived("adamw", 3).at(11)
    assert isinstance(far, Missing)
    assert Advice.NUMBERS in far.advice
    numbers = {"beta1": Rational(2, 5), "beta2": Rational(1, 4)}
    far = symmem.derive(load("adamw").with_values(numbers), 3)
    literal = literal_of(far.optimizer, {})
    limit = number_of(far.limit.M, literal)
    assert relative_error(number_of(far.at(30).M, literal), limit) < 1e-8
