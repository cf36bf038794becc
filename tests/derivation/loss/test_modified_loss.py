"""The modified loss and the modified equation against numbers that use no formula of the engine.

Gradients and Jacobians are differences of a tiny step at a raised precision.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import mpmath
import pytest
from differences import DIGITS, asymmetry, jacobian, value
from mpmath import mpf
from sympy import Add, Expr, Rational, Symbol
from truth import FIRST, LOSS, THETA, literal_of, load

import symmem
from symmem import Momentum, Optimizer
from symmem.algebra.results import Missing
from symmem.derivation.derivation import Derivation
from symmem.program.lowering import lower
from symmem.verification.error_orders import fit_order
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.vectors import distance

EXACT = 1e-20
THETA_SYMBOL, GRAD = Symbol("theta"), Symbol("grad")

DECAY = {"default": Rational(4, 5), "range": "[0, 1)"}
WEIGHT = {"default": Rational(3, 10), "range": "[0, inf)"}
SMALL = {"default": Rational(1, 50), "range": "(0, inf)"}
AVERAGE = "(1 - beta)/(1 - beta**(n + 1))"

EXACT_CASES = {
    "coupled weight decay": Optimizer(
        "coupled",
        "m1",
        [Momentum("grad + weight_decay*theta", "beta", "1")],
        {"beta": DECAY, "weight_decay": WEIGHT},
    ),
    "coupled weight decay, Nesterov": Optimizer(
        "coupled-nesterov",
        "m1 + m2",
        [
            Momentum("grad + weight_decay*theta", "beta", "beta"),
            Momentum("grad + weight_decay*theta", "0", "1"),
        ],
        {"beta": DECAY, "weight_decay": WEIGHT},
    ),
    "decoupled weight decay": Optimizer(
        "decoupled",
        "m1 + m2",
        [Momentum("grad", "beta", "1"), Momentum("theta", "0", "weight_decay")],
        {"beta": DECAY, "weight_decay": WEIGHT},
    ),
    "weight decay with a memory of its own": Optimizer(
        "remembered",
        "m1 + m2",
        [Momentum("grad", "beta", "1 - beta"), Momentum("weight_decay*theta", "gamma", "1")],
        {"beta": DECAY, "gamma": {"default": Rational(1, 4)}, "weight_decay": WEIGHT},
    ),
    "three decays": Optimizer(
        "three",
        "m1 + 2*m2 - m3/3",
        [Momentum("grad", "beta", "1"), Momentum("grad", "gamma", AVERAGE), Momentum("grad", "3/4", "1")],
        {"beta": DECAY, "gamma": {"default": Rational(3, 5)}},
    ),
    "entrywise function of the average, no memory": Optimizer(
        "odd", "tanh(m1)*m1", [Momentum("grad", "0", "1")], {}
    ),
    "a sign": Optimizer("jump", "sign(m1)", [Momentum("grad", "beta", "1")], {"beta": DECAY}),
    "a signed root": Optimizer(
        "root", "sign(m1)*sqrt(abs(m1))", [Momentum("grad", "beta", "1 - beta")], {"beta": DECAY}
    ),
    "a signed power that is remembered": Optimizer(
        "power",
        "m1",
        [Momentum("abs(grad)**q*sign(grad)", "beta", "1 - beta")],
        {"beta": DECAY, "q": {"default": Rational(1, 3), "range": "(0, 1]"}},
    ),
    "an arc tangent of a sign": Optimizer(
        "atan2",
        "atan(m1/sqrt(m2))",
        [Momentum("grad", "beta", AVERAGE), Momentum("grad**2", "9/10", "1/10")],
        {"beta": DECAY},
    ),
    "equal decays": Optimizer(
        "equal",
        "m1 + 3*m2",
        [Momentum("grad", "beta", "1 - beta"), Momentum("weight_decay*theta", "beta", "2*(1 - beta)")],
        {"beta": DECAY, "weight_decay": WEIGHT},
    ),
    "the sign of a coupled decay": Optimizer(
        "coupled-sign",
        "sign(m1)*abs(m1)**(1/3)",
        [Momentum("grad + weight_decay*theta", "beta", "1 - beta")],
        {"beta": DECAY, "weight_decay": WEIGHT},
    ),
}
HIGHER_CASES = (
    "coupled weight decay",
    "decoupled weight decay",
    "equal decays",
    "a sign",
    "entrywise function of the average, no memory",
)
"""They have a modified loss at every order."""
SMALL_CASES = {
    "eps outside": Optimizer(
        "outside",
        "m1/(sqrt(m2) + eps) + weight_decay*m3",
        [Momentum("grad", "beta", AVERAGE), Momentum("grad**2", "9/10", "1/10"), Momentum("theta", "0", "1")],
        {"beta": DECAY, "eps": SMALL, "weight_decay": WEIGHT},
    ),
    "a decay that is remembered": Optimizer(
        "remembered-decay",
        "m1/sqrt(m2 + eps) + weight_decay*m3",
        [
            Momentum("grad", "beta", AVERAGE),
            Momentum("grad**2", "9/10", "1/10"),
            Momentum("theta", "beta", "1 - beta"),
        ],
        {"beta": DECAY, "eps": SMALL, "weight_decay": WEIGHT},
    ),
    "partial adaptivity": Optimizer(
        "padam",
        "m1/(m2 + eps)**p",
        [Momentum("grad", "beta", AVERAGE), Momentum("grad**2", "9/10", "1/10")],
        {"beta": DECAY, "eps": SMALL, "p": {"default": Rational(1, 5), "range": "(0, 0.5]"}},
    ),
    "eps squared": Optimizer(
        "squared",
        "m1/sqrt(m2 + eps**2)",
        [Momentum("grad", "beta", AVERAGE), Momentum("grad**2", "9/10", "1/10")],
        {"beta": DECAY, "eps": SMALL},
    ),
    "eps without a range": Optimizer(
        "unranged",
        "m1/sqrt(m2 + eps) + weight_decay*m3",
        [Momentum("grad", "beta", AVERAGE), Momentum("grad**2", "9/10", "1/10"), Momentum("theta", "0", "1")],
        {"beta": DECAY, "weight_decay": {"default": Rational(3, 10)}, "eps": {"default": Rational(1, 50)}},
    ),
    "eps that may be 0": Optimizer(
        "closed",
        "m1/(sqrt(m2) + 2*eps)",
        [Momentum("grad", "beta", AVERAGE), Momentum("grad**2", "9/10", "1/10")],
        {"beta": DECAY, "eps": {"default": Rational(1, 50), "range": "[0, 1]"}},
    ),
}
OBSTRUCTED_CASES = {
    "a rate that depends on theta": Optimizer(
        "relative", "m1*m2", [Momentum("grad", "beta", "1"), Momentum("theta**2", "0", "1")], {"beta": DECAY}
    ),
    "tanh": Optimizer("bounded", "tanh(m1)", [Momentum("grad", "beta", "1 - beta")], {"beta": DECAY}),
    "cubed": Optimizer("cubed", "m1 + m1**3", [Momentum("grad", "beta", "1 - beta")], {"beta": DECAY}),
}


@cache
def derived(optimizer: Optimizer, order: int = 1) -> Derivation:
    return symmem.derive(optimizer, order)


def gap(derivation: Derivation, literal: Literal, **numbers: Any) -> mpf:
    """The difference of ``P grad Ltilde + decay theta`` and ``F + M``, the gradient by differences."""
    found = derivation.modified_loss
    assert found is not None
    slope = jacobian(found.potential, literal, **numbers)[0]
    factor = value(found.preconditioner, literal, **numbers)
    decay = value(found.decay, literal, **numbers)
    truth = value(derivation.limit.F + derivation.limit.M, literal, **numbers)
    with mpmath.workdps(DIGITS):
        step = [p * g + d * x for p, g, d, x in zip(factor, slope, decay, THETA, strict=True)]
        return distance(step, truth)


def zoo_with(regime: str) -> list[Optimizer]:
    """By what the derivation says, not by name; the counts are checked below."""
    losses = [(load(name), symmem.derive(load(name)).modified_loss) for name in FIRST]
    return [optimizer for optimizer, found in losses if found is not None and str(found.regime) == regime]


ZOO_EXACT, ZOO_SMALL = zoo_with("exact"), zoo_with("eps -> 0")


def test_every_zoo_entry_is_in_one_of_the_tests() -> None:
    obstructed = [name for name in FIRST if symmem.derive(load(name)).obstruction is not None]
    assert obstructed == ["lion-k"]
    assert len(ZOO_EXACT) + len(ZOO_SMALL) + len(obstructed) == len(FIRST)
    assert len(ZOO_EXACT) >= 5
    assert len(ZOO_SMALL) >= 10


@pytest.mark.parametrize("optimizer", [*ZOO_EXACT, *EXACT_CASES.values()], ids=lambda o: o.name)
def test_exact(optimizer: Optimizer) -> None:
    derivation = derived(optimizer)
    assert derivation.modified_loss is not None
    assert str(derivation.modified_loss.regime) == "exact"
    assert derivation.modified_loss.rate is None
    assert gap(derivation, literal_of(optimizer)) < EXACT


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("case", HIGHER_CASES)
def test_exact_at_higher_orders(case: str, order: int) -> None:
    derivation = derived(EXACT_CASES[case], order)
    assert derivation.modified_loss is not None
    assert str(derivation.modified_loss.regime) == "exact"
    assert gap(derivation, literal_of(EXACT_CASES[case])) < EXACT


def test_two_small_parameters_together() -> None:
    """optax's eps and eps_root: none of the two alone, both at the stated rate."""
    optimizer = Optimizer(
        "both",
        "m1/(sqrt(m2 + eps_root) + eps)",
        [Momentum("grad", "beta", AVERAGE), Momentum("grad**2", "9/10", "1/10")],
        {"beta": DECAY, "eps": SMALL, "eps_root": SMALL},
    )
    found = derived(optimizer).modified_loss
    assert found is not None
    assert (str(found.regime), str(found.rate)) == ("eps, eps_root -> 0", "O(eps + eps_root)")
    sizes = [Rational(1, 10**k) for k in (4, 6, 8)]
    for ratio in (Rational(1, 7), Rational(3)):
        gaps = [gap(derived(optimizer), literal_of(optimizer), eps=e, eps_root=ratio * e) for e in sizes]
        assert fit_order(sizes, gaps).slope == pytest.approx(1, abs=0.02)
    alone = [gap(derived(optimizer), literal_of(optimizer), eps=e, eps_root=Rational(1, 50)) for e in sizes]
    assert alone[-1] > 1e-3


DENIED = {
    "nesterov, from the second order on": (load("nesterov"), 2),
    "adam, from the second order on": (load("adam"), 2),
    "adamw, also at a tiny eps": (load("adamw").with_values({"eps": Rational(1, 10**6)}), 1),
    "a sign beside its argument": (
        Optimizer("both", "sign(m1) + m1", [Momentum("grad", "beta", "1")], {"beta": DECAY}),
        1,
    ),
    "a sign of the present beside a memory": (
        Optimizer(
            "present",
            "sign(m1) + m2",
            [Momentum("grad", "0", "1"), Momentum("-grad", "beta", "1 - beta")],
            {"beta": DECAY},
        ),
        1,
    ),
    "a signed root, from the second order on": (EXACT_CASES["a signed root"], 2),
    **{name: (optimizer, 1) for name, optimizer in OBSTRUCTED_CASES.items() if "theta" not in name},
}


@pytest.mark.parametrize("case", DENIED)
def test_a_denial_has_a_witness(case: str) -> None:
    """And it is right: by differences, at another point and with another loss, no decay makes F_j / P a gradient."""
    optimizer, order = DENIED[case]
    derivation, literal = derived(optimizer, order), literal_of(optimizer)
    assert derivation.modified_loss is None
    found = derivation.obstruction
    assert found is not None
    assert found.is_denial
    weight = Symbol("weight_decay") if "weight_decay" in optimizer.symbols else Rational(0)
    factor = (derivation.coefficients[0] - weight * THETA_SYMBOL) / GRAD
    field = jacobian(derivation.coefficients[order] / factor, literal)
    decay = jacobian(THETA_SYMBOL / factor, literal)
    pairs = [(0, 1), (0, 2), (1, 2)]
    with mpmath.workdps(DIGITS):
        gaps = [(field[i][j] - field[j][i], decay[i][j] - decay[j][i]) for i, j in pairs]
        minors = [abs(a * d - b * c) for (a, b), (c, d) in ((gaps[0], gaps[1]), (gaps[0], gaps[2]))]
        assert max(minors) > 1e-30 if any(b != 0 for _, b in gaps) else max(abs(a) for a, _ in gaps) > 1e-12


def test_what_was_not_found_is_not_denied() -> None:
    found = derived(load("lion-k")).obstruction
    assert found is not None
    assert not found.is_denial


@pytest.mark.parametrize("optimizer", [*ZOO_SMALL, *SMALL_CASES.values()], ids=lambda o: o.name)
def test_vanishing_difference(optimizer: Optimizer) -> None:
    """The fitted slope of the difference over eps = 1e-4 .. 1e-8 is at least the rate that is stated."""
    found = derived(optimizer).modified_loss
    assert found is not None
    assert (str(found.regime), str(found.rate)) == ("eps -> 0", "O(eps)")
    sizes = [Rational(1, 10**k) for k in (4, 5, 6, 7, 8)]
    gaps = [gap(derived(optimizer), literal_of(optimizer), eps=eps) for eps in sizes]
    slope = fit_order(sizes, gaps).slope
    expected = 2 if optimizer.name == "squared" else 1
    assert slope == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("optimizer", [*ZOO_EXACT, *ZOO_SMALL, *EXACT_CASES.values()], ids=lambda o: o.name)
def test_the_loss_is_normalised(optimizer: Optimizer) -> None:
    """Ltilde = L + O(h), but for a decay that P, being a scalar, lets into the loss."""
    found = derived(optimizer).modified_loss
    assert found is not None
    base = found.potential.xreplace({Symbol("lr"): Rational(0)}) - Symbol("loss")
    assert not base.has(Symbol("loss"), GRAD)


@pytest.mark.parametrize("optimizer", ZOO_SMALL, ids=lambda o: o.name)
def test_obstruction_at_positive_eps(optimizer: Optimizer) -> None:
    """At a given eps there is no modified loss: the named terms over P are no gradient, the others are."""
    fixed = optimizer.with_values({"eps": Rational(1, 50)})
    derivation, literal = derived(fixed), literal_of(fixed)
    found = derivation.obstruction
    assert found is not None
    assert derivation.modified_loss is None
    assert found.order == 1
    weight = Symbol("weight_decay") if "weight_decay" in fixed.symbols else Rational(0)
    factor = (derivation.limit.F - weight * THETA_SYMBOL) / GRAD
    first, named = derivation.coefficients[1], Add(*found.terms)
    assert asymmetry(jacobian(first / factor, literal)) > 1e-4
    assert asymmetry(jacobian(named / factor, literal)) > 1e-4
    assert asymmetry(jacobian((first - named) / factor, literal)) < EXACT


@pytest.mark.parametrize("case", OBSTRUCTED_CASES)
def test_obstruction(case: str) -> None:
    """F_1 / P is no gradient, P being the factor in F = P grad, nor is F_1 itself."""
    optimizer = OBSTRUCTED_CASES[case]
    derivation, literal = derived(optimizer), literal_of(optimizer)
    assert derivation.modified_loss is None
    assert derivation.obstruction is not None
    first = derivation.coefficients[1]
    assert asymmetry(jacobian(first * GRAD / derivation.limit.F, literal)) > 1e-6
    assert asymmetry(jacobian(first, literal)) > 1e-6


def test_a_factor_that_depends_on_theta_is_no_preconditioner() -> None:
    """The update theta^2 grad itself is named: P may depend on the gradient alone."""
    derivation = derived(OBSTRUCTED_CASES["a rate that depends on theta"])
    assert derivation.obstruction is not None
    assert derivation.obstruction.order == 0
    assert Add(*derivation.obstruction.terms) == derivation.limit.F


def test_lion_k_has_no_diagonal_factor() -> None:
    """gradK(-grad) is no gradient, and its entry 0 depends on entry 1 of grad: no P(grad_i) exists."""
    optimizer = load("lion-k")
    derivation, literal = derived(optimizer), literal_of(optimizer)
    found = derivation.obstruction
    assert found is not None
    assert found.order == 0
    assert set(found.terms) == set(Add.make_args(derivation.limit.F))
    assert asymmetry(jacobian(derivation.limit.F, literal)) > 1e-4
    points = [{"theta": THETA, "grad": [1, second, 1]} for second in (1, 2)]
    entries = [evaluate(derivation.limit.F, literal.numbers, at, None, literal.functions)[0] for at in points]
    assert abs(entries[0] - entries[1]) > 1e-3


# --- the modified equation

# A sign moves by whole steps while no entry changes its sign: there the two agree exactly, and no order can be fitted.
FITTED_CASES = [optimizer for name, optimizer in EXACT_CASES.items() if name != "a sign"]
EQUATIONS = [*(load(name) for name in FIRST), *FITTED_CASES, *OBSTRUCTED_CASES.values()]


def flow(field: Expr, literal: Literal, lr: mpf, pieces: int = 4) -> list[mpf]:
    """``theta(lr)`` on ``theta' = field`` from the probe point, by Runge-Kutta steps of order 4."""
    point, step = list(THETA), lr / pieces

    def rate(at: list[mpf]) -> list[mpf]:
        scalars = {**literal.numbers, "lr": lr}
        found = evaluate(field, scalars, {"theta": at}, LOSS, literal.functions, digits=40)
        return found if isinstance(found, list) else [found] * len(at)

    def moved(slope: list[mpf], by: mpf) -> list[mpf]:
        return [x + by * k for x, k in zip(point, slope, strict=True)]

    for _ in range(pieces):
        k1 = rate(point)
        k2 = rate(moved(k1, step / 2))
        k3 = rate(moved(k2, step / 2))
        k4 = rate(moved(k3, step))
        mean = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)]
        point = moved(mean, step)
    return point


@pytest.mark.parametrize("optimizer", EQUATIONS, ids=lambda o: o.name)
def test_modified_equation(optimizer: Optimizer) -> None:
    """The flow for the time h and one memoryless step differ by O(h^3); with G_0 alone by O(h^2)."""
    derivation, literal = derived(optimizer), literal_of(optimizer)
    zeroth, first = derivation.modified_equation
    sizes = [mpf(2) ** -k for k in (12, 13, 14, 15)]
    errors: dict[int, list[mpf]] = {2: [], 3: []}
    with mpmath.workdps(50):
        for h in sizes:
            move = value(derivation.limit.F + derivation.limit.M, literal, lr=h)
            step = [x - h * f for x, f in zip(THETA, move, strict=True)]
            errors[2].append(distance(flow(zeroth, literal, h), step))
            errors[3].append(distance(flow(zeroth + Symbol("lr") * first, literal, h), step))
        for order, found in errors.items():
            assert fit_order(sizes, found).slope == pytest.approx(order, abs=0.15)


# --- what the engine misses

CUBIC = {
    "coupled": Optimizer("cubic-coupled", "m1", [Momentum("grad + theta**3", "beta", "1")], {"beta": DECAY}),
    "without memory": Optimizer(
        "cubic-plain", "m1 + m2", [Momentum("grad", "0", "1"), Momentum("theta**3", "0", "1")], {}
    ),
}


@pytest.mark.parametrize("case", CUBIC)
def test_a_cubic_term_has_a_potential(case: str) -> None:
    derivation, literal = derived(CUBIC[case]), literal_of(CUBIC[case])
    assert asymmetry(jacobian(derivation.limit.F, literal)) < EXACT
    assert asymmetry(jacobian(derivation.coefficients[1], literal)) < EXACT
    assert derivation.modified_loss is not None
    assert gap(derivation, literal) < EXACT


def test_the_small_parameter_is_not_a_decay() -> None:
    optimizer = Optimizer(
        "rmsprop-open",
        "m1/sqrt(m2 + eps)",
        [Momentum("grad", "0", "1"), Momentum("grad**2", "beta", "1 - beta")],
        {"beta": {"default": Rational(4, 5), "range": "(0, 1)"}, "eps": SMALL},
    )
    found = derived(optimizer).modified_loss
    assert found is not None
    assert found.regime == "eps -> 0"


@pytest.mark.parametrize("name", ["adam", "heavyball", "signum"])
def test_beta_may_be_one_half(name: str) -> None:
    optimizer = load(name)
    beta = next(parameter for parameter in optimizer.symbols if parameter.startswith("beta"))
    fixed = optimizer.with_values({beta: Rational(1, 2)})
    general = literal_of(optimizer, {**literal_of(optimizer).numbers, beta: Rational(1, 2)})
    assert (
        distance(value(derived(fixed).limit.M, literal_of(fixed)), value(derived(optimizer).limit.M, general))
        < EXACT
    )
    assert (
        distance(
            value(derived(fixed).shift[0], literal_of(fixed)), value(derived(optimizer).shift[0], general)
        )
        < EXACT
    )


@pytest.mark.parametrize(
    ("phi", "decays", "factors"),
    [("m1 - m2", ("1/2", "1/3"), ("1/2", "2/3")), ("m1", ("1/2",), ("1/(n + 1)",)), ("m1**3", ("0",), ("2**-n",))],
)  # fmt: skip
def test_an_update_that_vanishes_follows_no_loss(
    phi: str, decays: tuple[str, ...], factors: tuple[str, ...]
) -> None:
    """``0 = P grad L`` with P = 0 is true of every loss: it is no claim on one, and no code has such a P."""
    momentum = [Momentum("grad", beta, b) for beta, b in zip(decays, factors, strict=True)]
    found = symmem.derive(Optimizer("fading", phi, momentum, {}))
    assert found.limit.F == 0
    assert isinstance(found.modified_loss, Missing)
    assert not {"modified_loss", "preconditioner"} & set(lower(found).routines)
