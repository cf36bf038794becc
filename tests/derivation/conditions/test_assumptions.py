"""The warnings appear exactly where Phi or a g is not smooth, and numbers show what they say.

The evidence is one-sided difference quotients as an entry of the gradient goes through 0.
"""

from __future__ import annotations

import mpmath
import pytest
from mpmath import mpf
from sympy import Expr, Rational, Symbol, nan, zoo
from truth import FIRST, load, values_of

import symmem
from symmem import Momentum, Optimizer
from symmem.algebra.results import Missing
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import coupled_loss, probe_point

DECAYS = {"beta": {"default": Rational(4, 5), "range": "[0, 1)"}}
EPS = {"eps": {"default": Rational(1, 50), "range": "(0, inf)"}}
AVERAGE = "(1 - beta)/(1 - beta**(n + 1))"
GRAD, SQUARE = Momentum("grad", "beta", AVERAGE), Momentum("grad**2", "beta", AVERAGE)


def declared(phi: str, *momentum: Momentum) -> Optimizer:
    used = DECAYS | (EPS if "eps" in phi or any("eps" in str(m.g) for m in momentum) else {})
    return Optimizer("declared", phi, momentum or (GRAD,), used)


def warnings(optimizer: Optimizer) -> list[str]:
    return [str(item.advised) for item in symmem.derive(optimizer).unknown if item.warning]


KINKED_ZOO = {"rmsprop-torch", "adam-torch", "adamw-torch"}
KINKED = {
    "sign": (declared("sign(m1)"), "Phi contains sign(m1), which jumps"),
    "abs": (declared("m1 + abs(m1)"), "Phi contains Abs(m1), which has a kink"),
    "log": (declared("log(m2)*m1", GRAD, SQUARE), "Phi contains log(m2), which is singular"),
    "pole": (declared("1/m1"), "Phi contains 1/m1, which is singular"),
    "root": (declared("sqrt(m1)", SQUARE), "Phi contains sqrt(m1), which is not differentiable"),
    "inverse root": (declared("m1/sqrt(m2)", GRAD, SQUARE), "Phi contains 1/sqrt(m2), which is singular"),
    "abs in g": (declared("m1", Momentum("abs(grad)", "beta", "1")), "g_1 contains Abs(grad)"),
    "root in g": (
        declared("m1", Momentum("sqrt(grad**2)", "beta", "1")),
        "g_1 contains sqrt(grad**2)",
    ),
    "abs of theta": (
        declared("m1 + m2", GRAD, Momentum("abs(theta)", "0", "1")),
        "g_2 contains Abs(theta)",
    ),
}
SMOOTH = {
    "eps inside": declared("m1/sqrt(m2 + eps)", GRAD, SQUARE),
    "soft sign": declared("m1/sqrt(m1**2 + eps)"),
    "log with eps": declared("m1*log(m2 + eps)", GRAD, SQUARE),
    "abs off its kink": declared("m1*abs(m2 + eps)", GRAD, SQUARE),
    "pole off zero": declared("m1/(m2 + eps)", GRAD, SQUARE),
    "functions": declared("tanh(m1) + sin(m1)*exp(m1) + m1**3"),
    "smooth g": declared("m1", Momentum("grad**3 + theta/sqrt(theta**2 + 1)", "beta", "1")),
    "a root of parameters": declared("m1*sqrt(eps)"),
}


@pytest.mark.parametrize("name", FIRST)
def test_zoo(name: str) -> None:
    found = warnings(load(name))
    assert bool(found) == (name in KINKED_ZOO)
    for sentence in found:
        assert "Phi contains sqrt(m2)" in sentence
        assert "not differentiable where an entry of the gradient is 0" in sentence
        assert "eps inside the root" in sentence


@pytest.mark.parametrize("case", KINKED)
def test_warned(case: str) -> None:
    optimizer, expected = KINKED[case]
    assert any(expected in sentence for sentence in warnings(optimizer))
    said = [str(item) for item in symmem.derive(optimizer).assumptions]
    assert not any("Phi and the g_l are twice differentiable" in sentence for sentence in said)
    assert not any("warning" in sentence for sentence in said)
    assert any(str(item).startswith("warning: ") for item in symmem.derive(optimizer).unknown)


OF_PARTS = ("Phi contains sign(m1),", "Phi contains Abs(m1),")


@pytest.mark.parametrize(
    ("phi", "exponent"),
    [
        ("sign(m1)*abs(m1)**(3/2)", 1.5),
        ("sign(m1)*abs(m1)**p", 1.25),
        ("m1*(m1**2)**(3/4)", 1.5),
        ("abs(m1)**(1/2)", 0.5),
        ("abs(m1)**p", 0.75),
        ("m1*(m1**2)**(1/4)", 0.5),
        ("abs(m1)", 1.0),
    ],
)
def test_what_has_one_slope_is_not_said_to_have_none(phi: str, exponent: float) -> None:
    """The slopes of ``|x|^p`` at 0 from both sides are one number for p above 1."""
    parameter = {"p": {"default": Rational(exponent), "range": "(0, 2)"}} if "p" in phi else {}
    found = warnings(Optimizer("power", phi, (Momentum("grad", "beta", "1"),), DECAYS | parameter))
    step = 1e-12
    has_slope = abs(step**exponent / step - (-(step**exponent) / step)) < 1e-2
    power = [each for each in found if exponent == 1 or not each.startswith(OF_PARTS)]
    assert power
    assert all(("is not twice differentiable" in each) == has_slope for each in power)
    assert not any(("is not differentiable" in each or "a kink" in each) and has_slope for each in power)


@pytest.mark.parametrize("case", SMOOTH)
def test_not_warned(case: str) -> None:
    assert warnings(SMOOTH[case]) == []
    said = [str(item) for item in symmem.derive(SMOOTH[case]).assumptions]
    assert "Phi and the g_l are twice differentiable at the frozen point" in said


@pytest.mark.parametrize(
    ("phi", "variable", "place"),
    [
        ("sqrt(m1)", Momentum("(grad + theta)**2", "beta", AVERAGE), "m1"),
        ("sqrt(m1)", Momentum("theta**2", "beta", "1"), "m1"),
        ("sqrt(4 - m1**2)", GRAD, "4 - m1**2"),
        ("abs(m1 + 1)**(1/3)", GRAD, ""),
    ],
)
def test_a_root_names_what_is_0(phi: str, variable: Momentum, place: str) -> None:
    """The gradient was named where another vector is 0, such as grad + theta of a coupled decay."""
    found = warnings(declared(phi, variable))
    assert found
    assert not any("entry of the gradient" in sentence for sentence in found)
    places = f"where an entry of {place} is 0", f"where an entry of {place} is below 0, and"
    assert any(words in sentence for words in places for sentence in found) or not place


@pytest.mark.parametrize(
    ("b", "poles"),
    [
        ("1/(2*n - 5)", []),
        ("1/(n**2 - 2)", []),
        ("1/(n**2 - 3*n + 3)", []),
        ("1/(n - beta - 1)", ["beta - n + 1 is not 0"]),
    ],
)
def test_poles_between_the_steps_are_none(b: str, poles: list[str]) -> None:
    """``5 - 2 n is not 0`` stood among the assumptions, which no n can break; a past step s is a step n, said once."""
    said = [
        str(each.sentence) for each in symmem.derive(declared("m1", Momentum("grad", "beta", b))).assumptions
    ]
    assert sorted(each for each in said if each.endswith(" is not 0")) == poles


TWO = {name: {"default": Rational(4, 5), "range": "[0, 1)"} for name in ("b1", "b2")}
POLES = {
    "second order": (
        Optimizer("two", "m1*m2", (Momentum("grad", "b1", "1"), Momentum("grad**2", "b2", "1")), TWO),
        2,
        ((Rational(1, 2), Rational(1, 4)), (Rational(1, 4), Rational(1, 2))),
    ),
    "a slow rate": (
        Optimizer(
            "cascade", "m2", (Momentum("grad**2", "b1", "1 - b1"), Momentum("grad/sqrt(m1 + 1)", "b2", "1")),
            TWO, schedule="min(1, (n + 1)/9)",
        ),
        1,
        ((Rational(1, 2), Rational(1, 2)),),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", POLES)
def test_every_pole_of_what_is_shown_is_told(case: str) -> None:
    """At decays where M, or its slow limit, is divided by 0 an assumption is broken, and at others none is."""
    optimizer, order, places = POLES[case]
    derivation = symmem.derive(optimizer, order)
    slow = derivation.slow_limit
    shown = derivation.M if slow is None else slow.M
    for place in (*places, (Rational(1, 3), Rational(1, 5))):
        values = dict(zip(map(Symbol, ("b1", "b2")), place, strict=True))
        broken = [
            each for each in derivation.assumptions if each.pole is not None and each.pole.subs(values) == 0
        ]
        assert bool(broken) == (place in places) == shown.subs(values).has(zoo, nan)


def test_no_pole_is_one_of_the_gradient() -> None:
    """``eps + (1 - beta^(n+1))^2 |grad|^2``, written out, was assumed not to be 0, which it is nowhere."""
    phi = "m1*global_dot(m1, m1)/(global_dot(m1, m1) + eps)"
    found = symmem.derive(declared(phi, Momentum("grad", "beta", "1 - beta"))).assumptions
    assert [each.pole for each in found if each.pole is not None] == []


def test_the_rate_of_a_limit_names_what_is_0() -> None:
    """With coupled decay the steps differ by O(eps) off the zeros of grad + wd theta, not of grad: numbers show it."""
    decay, plain = {"wd": {"default": Rational(1, 10), "range": "[0, inf)"}}, symmem.grad
    variables = (Momentum("grad + wd*theta", "0", "1"), Momentum("(grad + wd*theta)**2", "beta", AVERAGE))
    coupled = Optimizer("coupled", "m1/(sqrt(m2) + eps)", variables, DECAYS | EPS | decay)
    loss = symmem.derive(coupled).modified_loss
    assert loss.rough_at == (plain + Symbol("wd") * symmem.theta,)
    assert "Off the zeros of the entries of ∇L + wd θ the" in " ".join(str(symmem.derive(coupled)).split())
    assert symmem.derive(load("adam")).modified_loss.rough_at == (plain,)
    update, sharp = symmem.derive(coupled).limit.F, loss.preconditioner * loss.rough_at[0]
    values = {Symbol("wd"): Rational(1, 10), symmem.theta: Rational(1, 2)}
    misses = {
        slope: (update - sharp).subs(values | {plain: slope}).subs(Symbol("eps"), Rational(1, 10**6))
        for slope in (Rational(0), Rational(-1, 20) + Rational(1, 10**7))
    }
    assert abs(misses[Rational(0)]) < 1e-4 < abs(misses[Rational(-1, 20) + Rational(1, 10**7)])


# --- evidence by numbers: the frozen update and its correction as a function of one entry of the gradient


def frozen_part(optimizer: Optimizer, x: mpf) -> mpf:
    """F of the limit, with grad = theta = x in one dimension."""
    return _entry(symmem.derive(optimizer).limit.F, optimizer, x)


def _entry(expression: Expr, optimizer: Optimizer, x: mpf) -> mpf:
    at = {"theta": [x], "grad": [x]}
    found = evaluate(expression, values_of(optimizer), at, digits=60)
    return found[0] if isinstance(found, list) else found


def smooth_at_zero(optimizer: Optimizer) -> bool:
    """Whether value, first and second difference quotients from both sides meet as x -> 0."""
    with mpmath.workdps(60):
        step = mpf(10) ** -12
        try:
            right = [frozen_part(optimizer, k * step) for k in (1, 2, 3)]
            left = [frozen_part(optimizer, -k * step) for k in (1, 2, 3)]
        except symmem.SymmemError:
            return False
        sides = []
        for f, way in ((right, 1), (left, -1)):
            first = (f[1] - f[0]) / (way * step)
            second = (f[2] - 2 * f[1] + f[0]) / step**2
            sides.append((f[0], first, second))
        return all(abs(a) < 10**5 and abs(a - b) < mpf(10) ** -5 for a, b in zip(*sides, strict=True))


@pytest.mark.parametrize("case", KINKED)
def test_a_warned_update_is_not_twice_differentiable(case: str) -> None:
    assert not smooth_at_zero(KINKED[case][0])


@pytest.mark.parametrize("case", SMOOTH)
def test_an_update_without_warning_is(case: str) -> None:
    assert smooth_at_zero(SMOOTH[case])


@pytest.mark.parametrize("name", [name for name in FIRST if name != "lion-k"])
def test_zoo_by_numbers(name: str) -> None:
    assert smooth_at_zero(load(name)) == (name not in KINKED_ZOO)


@pytest.mark.parametrize("name", sorted(KINKED_ZOO))
def test_what_the_correction_is_made_of_jumps(name: str) -> None:
    """The correction needs DF: its slope in x jumps at grad = 0, by -4/eps^2 for x/(|x| + eps)."""
    optimizer = load(name)
    slopes = []
    with mpmath.workdps(60):
        for way in (1, -1):
            step = way * mpf(10) ** -20
            values = [frozen_part(optimizer, k * step) for k in (1, 2, 3)]
            slopes.append((values[2] - 2 * values[1] + values[0]) / step**2)
        expected = -4 / mpf(values_of(optimizer)["eps"].p) ** 2 * values_of(optimizer)["eps"].q ** 2
        assert abs(slopes[0] - slopes[1] - expected) < 1e-6


# --- the other sentences


def test_ranges_of_the_decays_are_named() -> None:
    said = [str(item) for item in symmem.derive(load("lion")).assumptions]
    assert "beta2 lies in (0, 1)" in said
    assert any("3 times continuously differentiable" in sentence for sentence in said)


def test_a_decay_of_0_asks_for_no_bounded_iterates() -> None:
    """AdamW without decay is Adam, and rests on what Adam rests on."""
    without = symmem.derive(load("adamw").with_values(weight_decay=0)).assumptions
    assert [str(each) for each in without] == [str(each) for each in symmem.derive(load("adam")).assumptions]
    assert len(symmem.derive(load("adamw")).assumptions) == len(without) + 1


def test_opaque_functions_are_named() -> None:
    assert "gradK is twice continuously differentiable" in [
        str(i) for i in symmem.derive(load("lion-k")).assumptions
    ]


@pytest.mark.parametrize("name", FIRST)
def test_the_start_is_mentioned_where_there_is_a_shift(name: str) -> None:
    derivation = symmem.derive(load(name))
    mentioned = any("theta_0 + h d_1 it is O(h^2)" in str(item) for item in derivation.conclusions)
    assert mentioned == (derivation.shift[0] != 0)
    assert not any("close" in str(item) for item in derivation.assumptions)


# --- what the engine misses


MISSED = {
    "kink at every frozen point": declared(
        "m1 + abs(m1 - m2)", GRAD, Momentum("grad", "2/5", "(3/5)/(1 - (2/5)**(n + 1))")
    ),
    "kink off zero": declared("m1", Momentum("abs(grad - 1)", "beta", "1")),
    "pole off zero": declared("m1/(m1 - eps)"),
}


@pytest.mark.parametrize("case", MISSED)
def test_kinks_elsewhere_are_warned_of(case: str) -> None:
    assert warnings(MISSED[case]) != []


SMOOTH_POWERS = {
    "the square of abs": declared("m1", Momentum("abs(grad)**2", "beta", "1")),
    "a root of an even power": declared("m1", Momentum("sqrt(grad**4)", "beta", "1")),
}


@pytest.mark.parametrize("case", SMOOTH_POWERS)
def test_smooth_powers_are_not_warned_of(case: str) -> None:
    assert smooth_at_zero(SMOOTH_POWERS[case])
    assert warnings(SMOOTH_POWERS[case]) == []


# --- what the ranges prove, what the defaults say, and what neither does

ROUGHER = {
    "an odd power of sign": declared("m1 + sign(m1)**3"),
    "the logarithm of a square": declared("m1*log(m1**2)"),
    "a pole of tan": declared("tan(100*m1)"),
}


@pytest.mark.parametrize("case", ROUGHER)
def test_a_power_does_not_hide_a_jump_or_a_pole(case: str) -> None:
    assert warnings(ROUGHER[case]) != []


def test_a_power_with_a_symbolic_exponent_is_warned_of() -> None:
    p = {"p": {"default": Rational(1, 4), "range": "(0, 1)"}}
    bare = Optimizer("bare", "m1*m2**p", (GRAD, SQUARE), {**DECAYS, **p})
    safe = Optimizer("safe", "m1*(m2 + eps)**p", (GRAD, SQUARE), {**DECAYS, **EPS, **p})
    assert ["Phi contains m2**p" in sentence for sentence in warnings(bare)] == [True]
    assert warnings(safe) == []


def test_tan_between_its_poles_is_smooth() -> None:
    assert warnings(declared("tan(tanh(m1))")) == []


@pytest.mark.parametrize("interval", ["[0, inf)", "(-inf, inf)"])
def test_what_only_the_defaults_say_is_listed(interval: str) -> None:
    """No range keeps eps away from 0: that the root is smooth is an assumption, not a warning and not silence."""
    loose = {"eps": {"default": Rational(1, 50), "range": interval}}
    optimizer = Optimizer("loose", "m1/sqrt(m2 + eps)", (GRAD, SQUARE), {**DECAYS, **loose})
    said = [str(item) for item in symmem.derive(optimizer).assumptions]
    assert [sentence for sentence in said if sentence.startswith("eps + m2 is not 0")]
    assert warnings(optimizer) == []
    assert not any("is not 0" in str(item) for item in symmem.derive(SMOOTH["eps inside"]).assumptions)


def test_a_parameter_under_a_root_moves_nothing() -> None:
    weight = {"w": {"default": Rational(1, 4), "range": "[0, inf)"}}
    assert warnings(Optimizer("rooted", "m1*sqrt(w)", (GRAD,), {**DECAYS, **weight})) == []


def test_poles_are_named_where_no_range_excludes_them() -> None:
    def poles(**ranges: str) -> list[str]:
        parameters = {
            name: {"default": Rational(1, k), "range": r}
            for k, (name, r) in enumerate(ranges.items(), start=2)
        }
        momentum = [Momentum("grad", name, "1") for name in ranges]
        optimizer = Optimizer(
            "poles", " + ".join(f"m{k + 1}" for k in range(len(ranges))), momentum, parameters
        )
        return [str(a) for a in symmem.derive(optimizer).assumptions if "is not 0" in str(a)]

    assert len(poles(p="[0, 1)", q="[0, 1)")) == 1
    assert poles(p="[0.4, 1)", q="[0, 0.4)") == []  # they cannot meet
    assert poles(p="[0, 1)") == []


def test_resonances_of_products_are_reported() -> None:
    optimizer = Optimizer(
        "product",
        "m1*m2 + m3",
        [Momentum("grad", name, "1") for name in ("p", "q", "v")],
        {name: {"default": Rational(1, k)} for name, k in (("p", 2), ("q", 3), ("v", 5))},
    )
    said = " ".join(str(item) for item in symmem.derive(optimizer).assumptions)
    assert "p*q" in said


def test_poles_of_a_loss_and_of_a_single_decay_are_named() -> None:
    """``1/(2 - 2 p)`` at p = 1, where the loss has a logarithm; ``1/beta``, where an average reads a delay."""
    power = {**DECAYS, **EPS, "p": {"default": Rational(1, 4), "range": "[0, 1]"}}
    root = symmem.derive(Optimizer("root", "m1/(m2 + eps)**p", [GRAD, SQUARE], power))
    assert [each.pole.subs("p", 1) for each in root.assumptions if each.pole is not None] == [0]
    below = {**power, "p": {"default": Rational(1, 4), "range": "[0, 1)"}}
    safe = symmem.derive(Optimizer("root", "m1/(m2 + eps)**p", [GRAD, SQUARE], below))
    assert not any(each.pole is not None for each in safe.assumptions)
    decays = {**DECAYS, "gamma": {"default": Rational(1, 2), "range": "[0, 1)"}}
    delay = Momentum("grad", delay=2, start=0)
    rows = [delay, Momentum("grad - m1", "beta", "1 - beta"), Momentum("m2 + grad", "gamma", "1 - gamma")]
    read = symmem.derive(Optimizer("read", "m3", rows, decays))
    assert any(each.pole is not None and each.pole.subs("beta", 0) == 0 for each in read.assumptions)


DELAYED = [Momentum("grad", None, None, 2, 0), Momentum("grad - m1", "beta", "1")]
AT_ZERO = {
    "a difference, scheduled": ("m2", DELAYED, "where(n < 3, 1/2, 2)"),
    "a difference": ("m2", DELAYED, None),
    "read with a delay": ("m2", [Momentum("grad", "beta", "beta"), Momentum("m1", None, None, 1, 0)], None),
    "an average": ("m1", [Momentum("grad", "beta", "1 - beta")], "1 - beta**(n + 1)"),
    "one before": ("m1", [Momentum("grad", "beta", "1 + n*beta**(n - 1)")], None),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_a_decay_of_zero_has_a_value_or_is_taken_out(name: str) -> None:
    """Where no assumption says that the decay is not 0, every formula of the report has a value there."""
    phi, momentum, rate = AT_ZERO[name]
    parameters = {"beta": {"default": Rational(3, 5), "range": "[0, 1)"}}
    derivation = symmem.derive(Optimizer("zero", phi, momentum, parameters, schedule=rate))
    if any(each.pole == Symbol("beta") for each in derivation.assumptions):
        return
    limit, shift = derivation.limit, derivation.shift
    formulas = [derivation.F, derivation.M, limit.F, limit.M, *(() if isinstance(shift, Missing) else shift)]
    for formula in formulas:
        for n in range(4):
            evaluate(formula, {"beta": 0, "lr": 1, "n": n}, {"theta": probe_point(3)}, coupled_loss(3))


def test_a_branch_that_begins_later_has_no_pole_at_the_first_step() -> None:
    """ACProp was said to rest on ``1 - beta2^n is not 0``, which is false at n = 0, in another branch."""

    def poles(b: str) -> set[Expr | None]:
        made = Optimizer(
            name="late", phi="m1", momentum=[{"g": "grad", "beta": "0", "b": b}],
            parameters={"beta": {"default": 0.9, "range": "[0, 1)"}},
        )  # fmt: skip
        return {each.pole for each in symmem.derive(made).assumptions}

    n, beta = Symbol("n"), Symbol("beta")
    assert 1 - beta**n not in poles("where(n < 1, 1, 1/(1 - beta**n))")
    assert 1 - Symbol("beta2") ** n not in {each.pole for each in symmem.derive(load("acprop")).assumptions}
