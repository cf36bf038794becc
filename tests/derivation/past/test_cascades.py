"""Cascades, delays and negative decays against the real optimizer: finite n, the limit at order 2, error orders."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import pytest
from cascades import (
    CASCADES,
    DELAYS,
    EVERY,
    SEEN_TOGETHER,
    adabelief,
    adan,
    adopt,
    average,
    delayed,
    label,
    laprop,
    optimistic,
    pid,
    pnm,
    rmsprop_momentum,
    seen_together,
    smoothed_adam,
)
from mpmath import mpf
from sympy import Add, Expr, Max, Min, Rational, Sum, Symbol
from truth import load

import symmem
from symmem.algebra.atoms import GRAD, LR, contraction
from symmem.algebra.results import Missing
from symmem.checks.verify import as_theory_sees, sees_tensors
from symmem.declaration import catalogue
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.conditions.small_steps import largest_step, small_steps
from symmem.derivation.derivation import derive
from symmem.derivation.past.cascade import reads_constants
from symmem.method.merging import merged
from symmem.method.reading import method_of
from symmem.verification import bruteforce
from symmem.verification.error_orders import fit_order
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.vectors import Vector, distance, relative_error

LOSS, THETA = coupled_loss(2), probe_point(2)
RATE = Rational(1, 100)
DIGITS = 20
EXACT = mpf("1e-15")
every = pytest.mark.parametrize("optimizer", EVERY, ids=label)
SMALL = Rational(1, 100)
ZOO = [name for name in catalogue.names() if method_of(load(name)).is_cascade]


def number(
    expression: Expr, optimizer: Optimizer, theta: Vector = THETA, *, n: int = 0, lr: object = RATE
) -> list[mpf]:
    values = {**optimizer.defaults, "n": n, "lr": lr}
    found = evaluate(expression, values, {"theta": theta}, LOSS, digits=DIGITS)
    return found if isinstance(found, list) else [found] * len(theta)


def assert_same(found: list[mpf], true: Vector, tolerance: mpf = EXACT) -> None:
    with mpmath.workdps(DIGITS):
        if any(true):
            assert relative_error(found, true) < tolerance
        else:
            assert distance(found, true) < tolerance


@pytest.mark.parametrize(
    "optimizer", [*EVERY, smoothed_adam(), *map(seen_together, SEEN_TOGETHER)], ids=label
)
def test_finite_n(optimizer: Optimizer) -> None:
    """F and M at symbolic n and at a given step, against the derivative of the optimizer along its own past."""
    derivation, literal = derive(optimizer), Literal(optimizer, {}, LOSS)
    for n in (0, 1, 2, 5):
        placed = derivation.at(n)
        update = bruteforce.memoryless(literal, THETA, n, DIGITS)
        assert_same(number(derivation.F, optimizer, n=n), update)
        assert_same(number(placed.F, optimizer), update)
        memory = bruteforce.correction(literal, THETA, n, RATE, DIGITS)
        assert_same(number(derivation.M, optimizer, n=n), memory)
        assert_same(number(placed.M, optimizer), memory)


@every
def test_the_limit_to_order_two(optimizer: Optimizer) -> None:
    """Taylor coefficients of the run that is at theta, after so many steps that the start has faded."""
    derivation = derive(optimizer, 2)
    small = {p.name: Rational(1, 5) for p in optimizer.parameters if p.name.startswith("beta")}
    true = bruteforce.expansion(Literal(optimizer, small, LOSS), THETA, 26, 2, digits=15)
    values = {**optimizer.defaults, **small}
    for coefficient, expected in zip(derivation.coefficients, true, strict=True):
        found = evaluate(coefficient, values, {"theta": THETA}, LOSS, digits=DIGITS)
        assert_same(found, expected, mpf("1e-11"))


@pytest.mark.parametrize("optimizer", [laprop(), adan(), adabelief(), pid()], ids=label)
def test_the_residual_of_the_limit_falls_with_one_order_more(optimizer: Optimizer) -> None:
    """The memoryless iteration run backwards is a past; the optimizer on it departs by h^(order + 1)."""
    short = {p.name: Rational(1, 5) for p in optimizer.parameters if p.name.startswith("beta")}
    numbers = optimizer.with_values({**optimizer.defaults, **short})
    coefficients = derive(numbers, 2).coefficients
    literal = Literal(numbers, {}, LOSS)
    rates = [mpf(1) / 800, mpf(1) / 1600]
    for order in (0, 1, 2):
        errors = [_residual(literal, coefficients[: order + 1], h) for h in rates]
        assert abs(fit_order(rates, errors).slope - (order + 1)) < 0.12


@pytest.mark.prove
@pytest.mark.parametrize("name", [name for name in ZOO if not sees_tensors(load(name))])
def test_the_residuals_of_the_zoo_fall_so(name: str) -> None:
    """Decays of 1/5, an eps that is felt, smooth functions; those of whole tensors are in tests/zoo."""
    optimizer = as_theory_sees(load(name))
    short = {p.name: Rational(1, 5) for p in optimizer.parameters if str(p.range) == "[0, 1)"}
    felt = {
        p.name: Rational(1, 2)
        for p in optimizer.parameters
        if str(p.range) == "(0, inf)" and p.default < SMALL
    }
    numbers = optimizer.with_values({**optimizer.defaults, **short, **felt})
    coefficients, literal = derive(numbers, 2).coefficients, Literal(numbers, {}, LOSS)
    rates = [mpf(1) / 800, mpf(1) / 1600]
    for order in (0, 1, 2):
        errors = [_residual(literal, coefficients[: order + 1], h) for h in rates]
        slope = fit_order(rates, errors).slope
        assert slope > order + 0.85
        assert slope < order + 1.15 or 0 in coefficients[order + 1 : order + 2]  # ACProp has no F_1


def _residual(literal: Literal, coefficients: tuple[Expr, ...], h: mpf) -> mpf:
    with mpmath.workdps(30):

        def direction(theta: Vector) -> list[mpf]:
            scale = [h**j for j in range(len(coefficients))]
            return evaluate(Add(*(c * Symbol(f"h{j}") for j, c in enumerate(coefficients))),
                            {f"h{j}": x for j, x in enumerate(scale)}, {"theta": theta}, LOSS, digits=25)  # fmt: skip

        history = [tuple(THETA)]
        while len(history) < 24:
            back = history[-1]
            for _ in range(8):  # theta = back + h G(back), a contraction
                move = direction(back)
                back = tuple(x + h * g for x, g in zip(history[-1], move, strict=True))
            history.append(back)
        true = literal.direction(history, 30)
        return distance(true, direction(THETA))


DEEP = {
    "a delay at the end of a chain of three": (
        "m1 + m2 + m3 + m4",
        (
            average("grad*theta", "q", debiased=False),
            {"g": "tanh(m1)", "beta": "q", "b": 1},
            {"g": "tanh(m2)", "beta": 0, "b": 2},
            {"g": "tanh(m3)", "delay": 1},
        ),
    ),
    "a delay that starts empty reads what reads": (
        "m1 + m2 + m3",
        (
            {"g": "grad*theta", "beta": "q", "b": 1},
            {"g": "m1*theta", "beta": "-q", "b": "1 + q"},
            {"g": "(grad + m2)**2/3", "delay": 2, "start": 0},
        ),
    ),
    "an average of what reads an average of a sum": (
        "m4",
        (
            {"g": "grad", "beta": "q", "b": 1},
            {"g": "2*m1 + theta", "beta": "-q", "b": "1 + q"},
            {"g": "grad/(m2**2 + 1)", "beta": 0, "b": 1},
            average("tanh(m3)", "q"),
        ),
    ),
    "delays of delays in an average": (
        "m1 + m2 + m3 + m4",
        (
            average("theta", "q"),
            {"g": "tanh(m1)", "delay": 2},
            {"g": "m2", "delay": 2},
            average("grad - m3", "q"),
        ),
    ),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_cascades_at_finite_n(name: str) -> None:
    """Sums inside sums: the present step stays what it is where a kernel further down is asked at an earlier one."""
    phi, momentum = DEEP[name]
    optimizer = Optimizer("deep", phi, momentum, {"q": {"default": Rational(1, 4), "range": "(0, 1)"}})
    derivation, literal = derive(optimizer), Literal(optimizer, {}, LOSS)
    for n in (1, 4):
        assert_same(number(derivation.F, optimizer, n=n), bruteforce.memoryless(literal, THETA, n, DIGITS))
        true = bruteforce.correction(literal, THETA, n, RATE, DIGITS)
        assert_same(number(derivation.M, optimizer, n=n), true)


@pytest.mark.parametrize("optimizer", [rmsprop_momentum(), adan(), optimistic(start=0)], ids=label)
def test_under_a_schedule(optimizer: Optimizer) -> None:
    """Past rates weigh past steps, also in sums that are written out."""
    warmed = replace(optimizer, schedule="min(1, (n + 1)/3)")
    derivation, literal = derive(warmed), Literal(warmed, {}, LOSS)
    for n in (1, 4):
        assert_same(number(derivation.M, warmed, n=n), bruteforce.correction(literal, THETA, n, RATE, DIGITS))


@pytest.mark.parametrize(
    ("phi", "g"), [("m2", "grad/(norm(m1) + 1)"), ("m2/(1 + norm(m2))", "m1/(1 + norm(grad))")]
)
def test_functions_of_a_tensor_in_a_cascade(phi: str, g: str) -> None:
    momentum = (average("grad", "beta", debiased=False), {"g": g, "beta": "beta", "b": 1})
    optimizer = Optimizer("tensors", phi, momentum, {"beta": Rational(2, 5)})
    derivation, literal = derive(optimizer), Literal(optimizer, {}, LOSS)
    for n in (1, 4):
        assert_same(
            number(derivation.M, optimizer, n=n), bruteforce.correction(literal, THETA, n, RATE, DIGITS)
        )


def test_rmsprop_with_momentum_is_the_known_formula() -> None:
    """mathematics.md section 9: ``M = h/(1-beta1) (k1 eps - k2 g^2)/q^(3/2) H F``, ``F = g/((1-beta1) sqrt(q))``."""
    found = derive(rmsprop_momentum()).limit
    one, two, eps = (Symbol(name) for name in ("beta1", "beta2", "eps"))
    q = GRAD**2 + eps
    update = GRAD / ((1 - one) * q ** Rational(1, 2))
    strength = (one / (1 - one) * eps - two / (1 - two) * GRAD**2) / q ** Rational(3, 2)
    correction = LR / (1 - one) * strength * contraction(update)
    optimizer = rmsprop_momentum()
    assert_same(number(found.F - update, optimizer), (mpf(0), mpf(0)))
    assert_same(number(found.M, optimizer), number(correction, optimizer))


def test_a_linear_reader_is_one_memory_and_what_is_read_stays() -> None:
    assert [len(merged(method_of(o)).channels) for o in (pid(), optimistic(), pnm())] == [1, 1, 1]
    assert not merged(method_of(adopt())).channels[-1].kernel.unsettled
    assert (
        len(merged(method_of(adopt())).channels) == 2
    )  # the delayed second moment is one memory of the square
    one = merged(method_of(adan()))
    assert one.is_cascade
    assert Symbol("m1") in {channel.symbol for channel in one.channels}
    twice = Optimizer(
        "twice",
        "m3 + m4",
        (
            average("grad**2", "beta"),
            average("grad**2", "beta"),
            {"g": "grad/(m1 + 1)", "beta": 0, "b": 1},
            {"g": "grad/(m2 + 1)", "beta": 0, "b": 1},
        ),
        {"beta": Rational(1, 2)},
    )
    assert len(merged(method_of(twice)).channels) == 2


def test_a_memory_that_phi_sees_together_with_another_is_not_merged_away_where_it_is_read() -> None:
    """Phi has ``m1 + m2`` with one g; m3 reads m1 alone."""
    momentum = (
        average("grad", "beta"),
        {"g": "grad", "beta": 0, "b": 1},
        {"g": "grad/sqrt(m1**2 + 1)", "beta": "beta", "b": 1},
    )
    optimizer = Optimizer("together", "m1 + m2 + m3", momentum, {"beta": Rational(2, 5)})
    derivation, literal = derive(optimizer), Literal(optimizer, {}, LOSS)
    true = bruteforce.correction(literal, THETA, 4, RATE, DIGITS)
    assert_same(number(derivation.M, optimizer, n=4), true)


def test_closed_where_gains_are_constant() -> None:
    """Adan, AdaBelief and a delay have no sum left; what reads values that depend on the step keeps one.

    So does an average of what was ten steps ago: in the first ten it is that of the start (AdaShift).
    """
    zoo = [load(name) for name in ZOO if method_of(load(name)).is_settled]
    assert {optimizer.name for optimizer in zoo} == {"adan", "adashift", "grokfast-adamw", "optimistic-adam"}
    near = [optimizer for optimizer in zoo if max(each.delay for each in optimizer.momentum) <= 1]
    for optimizer in (adan(), adabelief(), delayed(), optimistic(), pid(), *near):
        derivation = derive(optimizer)
        assert not derivation.M.has(Sum)
    assert not reads_constants(merged(method_of(rmsprop_momentum())))
    assert derive(rmsprop_momentum()).M.has(Sum)


@pytest.mark.parametrize("optimizer", [adan(), adabelief(), optimistic()], ids=label)
def test_a_given_step_to_order_two(optimizer: Optimizer) -> None:
    derivation = derive(optimizer.with_values({p.name: p.default for p in optimizer.parameters}), 2)
    true = bruteforce.expansion(Literal(optimizer, {}, LOSS), THETA, 3, 2, digits=15)
    found = derivation.at(3)
    with mpmath.workdps(DIGITS):
        h = mpf(1) / 100
        expected = [h * a + h * h * b for a, b in zip(true[1], true[2], strict=True)]
    assert_same(number(found.M, derivation.optimizer), expected, mpf("1e-11"))


@pytest.mark.parametrize("optimizer", [rmsprop_momentum(), adopt(), pnm(), optimistic(start=0)], ids=label)
def test_the_shifted_start_makes_the_limit_form_second_order(optimizer: Optimizer) -> None:
    derivation, literal = derive(optimizer), Literal(optimizer, {}, LOSS)
    (first,) = derivation.shift
    moved = evaluate(first, optimizer.defaults, {"theta": THETA}, LOSS, digits=8)
    rates = [mpf(1) / 2000, mpf(1) / 4000]
    errors: dict[bool, list[mpf]] = {False: [], True: []}
    for h in rates:
        true = literal.run(THETA, h, 40, 20)[-1]
        for shifted in (False, True):
            theta = tuple(x + h * d for x, d in zip(THETA, moved, strict=True)) if shifted else tuple(THETA)
            for _ in range(40):
                step = number(derivation.limit.F + derivation.limit.M, optimizer, theta, lr=h)
                theta = tuple(x - h * f for x, f in zip(theta, step, strict=True))
            errors[shifted].append(distance(true, theta))
    assert abs(fit_order(rates, errors[False]).slope - 1) < 0.1
    assert abs(fit_order(rates, errors[True]).slope - 2) < 0.1


def test_the_shift_is_its_sum() -> None:
    """``d_1 = sum_s (F - F^(s))``, also where a scalar in F^(s) is a sum without a closed form."""
    momentum = (
        {"g": "grad**2", "beta": "q", "b": 1},
        {"g": "grad", "beta": "q", "b": 1},
        average("m2 - m1/2", "q"),
        {"g": "m3*theta", "beta": "q", "b": "1 - q"},
    )
    mixed = Optimizer("mixed", "m2 + m4", momentum, {"q": {"default": Rational(1, 4), "range": "(0, 1)"}})
    for optimizer in (mixed, adopt()):
        updates = Literal(optimizer, {}, LOSS).frozen(THETA, 160, DIGITS)
        with mpmath.workdps(DIGITS):
            columns = zip(*updates, strict=True)
            true = [mpmath.fsum(column[-1] - x for x in column) for column in columns]
        (first,) = derive(optimizer).shift
        found = evaluate(first, optimizer.defaults, {"theta": THETA}, LOSS, digits=10)
        assert_same(found, true, mpf("1e-9"))


def test_a_frozen_value_without_the_gradient_asks_for_small_steps() -> None:
    """AdaBelief: h^2 against eps; with the square root of a difference inside a g, the same."""
    (said,) = small_steps(method_of(adabelief()), 1)
    assert "m2 + eps is eps on a constant history" in str(said).replace("eps + m2", "m2 + eps")
    assert "of the order of lr**2, to be much smaller" in str(said)
    inside = Optimizer(
        "inside",
        "m3",
        (
            average("grad", "beta"),
            average("(grad - m1)**2", "beta"),
            {"g": "grad/sqrt(m2 + eps)", "beta": "beta", "b": 1},
        ),
        {"beta": Rational(1, 2), "eps": {"default": Rational(1, 4), "range": "(0, inf)"}},
    )
    (said,) = small_steps(method_of(inside), 1)
    assert "of the order of lr**2, to be much smaller" in str(said)
    # F = grad/((1 - beta) sqrt(eps)) = 4, and grad - m1 lags by one step: (4 h)^2 against 1/4.
    assert largest_step(method_of(inside)) == pytest.approx(1 / 8)


def test_a_small_parameter_that_keeps_a_root_from_0_asks_for_small_steps() -> None:
    """The gradient stays as a factor: (m1 - m2)^2 + delta m1 m2 is delta grad^2, and 0 without delta.

    A root of delta times the square has no such place.
    """
    momentum = (average("grad", "beta"), {"g": "grad", "beta": 0, "b": 1})
    phi = "(m1 + m2 - sqrt((m1 - m2)**2 + delta*(m1**2 + m2**2)))/2"
    parameters = {"beta": Rational(1, 2), "delta": {"default": Rational(1, 4), "range": "(0, inf)"}}
    optimizer = Optimizer("lower", phi, momentum, parameters)
    (said,) = small_steps(method_of(optimizer), 1)
    assert "of the order of lr**2, to be much smaller" in str(said)
    # F = 1 - sqrt(1/2)/2, and m1 - m2 lags by one step: (F h)^2 against delta (1 + 1).
    assert largest_step(method_of(optimizer)) == pytest.approx(0.5**0.5 / (1 - 0.5**0.5 / 2))
    scaled = Optimizer("scaled", "m2*sqrt(delta*m1**2)", momentum, parameters)
    assert list(small_steps(method_of(scaled), 1)) == []


def test_a_root_of_nothing_is_refused_with_its_place() -> None:
    outside = Optimizer(
        "outside",
        "m1/(sqrt(m2) + eps)",
        (average("grad", "beta"), average("(grad - m1)**2", "beta")),
        {"beta": Rational(1, 2), "eps": Rational(1, 4)},
    )
    found = derive(outside).F
    assert isinstance(found, Missing)
    assert "m2 is 0 there, whatever the gradient" in str(found)
    nested = Optimizer(
        "nested",
        "m2",
        (average("grad", "beta"), {"g": "grad/sqrt((grad - m1)**2)", "beta": "beta", "b": 1}),
        {"beta": Rational(1, 2)},
    )
    assert isinstance(derive(nested).F, Missing)
    quotient = Optimizer(
        "quotient",
        "m2",
        ({"g": "grad", "delay": 1}, {"g": "grad**2/(grad - m1)", "beta": "beta", "b": 1}),
        {"beta": Rational(1, 2)},
    )
    assert "momentum 2: g = grad**2/(grad - m1) is singular" in str(derive(quotient).F)


def test_what_is_not_known_says_so() -> None:
    derivation = derive(rmsprop_momentum(), 2)
    assert "symbolic n is known to order 1" in str(derivation.M)
    assert "beyond order 1 a given step needs values that, on a constant history" in str(derivation.at(3))
    assert "the start is known to order 1" in str(derivation.shift)
    assert not any("O(h^3)" in str(each) or "d_2" in str(each) for each in derivation.conclusions)
    assert any("how close the limit form comes is not known" in str(each) for each in derivation.unknown)
    assert not any("is not 0" in str(each) for each in derive(laprop(debiased=False)).assumptions)
    assert derivation.gradient_map_loss is None


def test_a_beta_set_to_zero_has_no_memory() -> None:
    plain = symmem.derive(laprop().with_values(beta1=0, beta2=0))
    assert plain.M == 0
    assert number(plain.F, plain.optimizer, n=3) == number(plain.limit.F, plain.optimizer)


def test_the_sets_are_what_they_say() -> None:
    assert all(method_of(optimizer).is_cascade for optimizer in CASCADES)
    assert all(merged(method_of(optimizer)).is_linear for optimizer in DELAYS)


def test_a_delay_inside_an_average_leaves_no_sum() -> None:
    """ADOPT has a closed M at symbolic n; tests/zoo holds its numbers against brute force."""
    found = derive(load("adopt")).M
    assert not found.has(Sum, Min, Max)
