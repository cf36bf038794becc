"""``symmem same``: identities with their proof, differences with a witness, and nothing else called either."""

from __future__ import annotations

import pytest
from command import output, run
from sympy import Dummy, Rational, Symbol, cancel, sqrt, symbols
from truth import load

from symmem.algebra.intervals import POSITIVE
from symmem.checks.difference import RATE, STEPS
from symmem.checks.maps import candidates
from symmem.checks.runs import Trial, parting
from symmem.checks.same import Verdict, proved_scale, same
from symmem.checks.same_text import same_text
from symmem.checks.verify import dimension_of, literal_of
from symmem.checks.zero import Normal
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.toml import read_toml
from symmem.documents.columns import Style
from symmem.verification import bruteforce
from symmem.verification.literal import Literal
from symmem.verification.losses import probe_point
from symmem.verification.vectors import Vector

beta, share, mu_x, mu_y, nu = symbols("beta share mu_x mu_y nu")


def own(phi: str, *momentum: tuple[str, str, str], **parameters: float | tuple[float, str]) -> Optimizer:
    """Parameters by their defaults, or by these and their ranges."""
    variables = [{"g": g, "beta": decay, "b": b} for g, decay, b in momentum]
    table = {
        name: {"default": value[0], "range": value[1]} if isinstance(value, tuple) else {"default": value}
        for name, value in parameters.items()
    }
    return Optimizer("own", phi, variables, table)


IDENTICAL = {
    ("heavyball", "heavyball"): (Verdict.IDENTICAL, 1, {}),
    ("heavyball", "ema-momentum"): (Verdict.RESCALED, 1 / (1 - beta), {}),
    ("ema-momentum", "heavyball"): (Verdict.RESCALED, 1 - beta, {}),
    ("gpa", "qhm"): (Verdict.RENAMED, 1, {"nu": mu_y, "beta": mu_x}),
    ("error-feedback", "ema-momentum"): (Verdict.RENAMED, 1, {"beta": 1 - share}),
    ("error-feedback", "heavyball"): (Verdict.BOTH, share, {"beta": 1 - share}),
    ("adam", "adamw"): (Verdict.RENAMED, 1, {"weight_decay": 0}),
    ("ema-momentum", "qhm"): (Verdict.RENAMED, 1, {"nu": 1}),
    ("adam-torch", "adam-optax"): (Verdict.RENAMED, 1, {"eps_root": 0}),
    ("signum", "lion"): (Verdict.RENAMED, 1, {"beta1": beta, "beta2": beta, "weight_decay": 0}),
}


@pytest.mark.parametrize("pair", IDENTICAL, ids="-is-".join)
def test_identical(pair: tuple[str, str]) -> None:
    verdict, scale, values = IDENTICAL[pair]
    found = same(load(pair[0]), load(pair[1]))
    assert (found.verdict, found.swapped) == (verdict, False)
    assert (found.scale - scale).cancel() == 0
    assert {name.name: value for name, value in found.values} == values


def test_the_other_way_round() -> None:
    """AdamW is not Adam, but Adam is AdamW without decay."""
    found = same(load("adamw"), load("adam"))
    assert (found.verdict, found.swapped, found.first.name) == (Verdict.RENAMED, True, "adam")


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("adam-torch", "adam-keras", Verdict.SETTLED),
        ("bert-adam", "adamw-torch", Verdict.SETTLED),
        ("adamd", "adam-torch", Verdict.SETTLED),
        ("adam", "adam-torch", Verdict.DIFFERENT),
        ("adam-optax", "adam-keras", Verdict.DIFFERENT),
        ("nesterov", "heavyball", Verdict.DIFFERENT),
    ],
)
def test_different(first: str, second: str, verdict: Verdict) -> None:
    """The witness is a pair of runs; after many steps the same means that F and M do not differ."""
    found = same(load(first), load(second))
    assert found.verdict is verdict
    told = found.difference
    assert told.witness.gap > 1e-6
    assert (told.F.formula == 0 and told.M.formula == 0) == (verdict is Verdict.SETTLED)


def test_the_difference_is_that_of_the_formulas() -> None:
    """Nesterov and heavy ball have one F and corrections beta^2 and beta: a tenth of the first at beta = 0.9."""
    told = same(load("nesterov"), load("heavyball")).difference
    assert told.F.formula == 0
    assert abs(told.M.size - 1 / 9) < 1e-12


@pytest.mark.parametrize(("first", "second"), [("adam-keras", "adam-torch"), ("adam-noam", "adam-torch")])
def test_what_differs_in_the_first_steps_has_a_size(first: str, second: str) -> None:
    """F and M at step n against brute force, at the defaults of the first: relative to the largest entry of its own."""
    ours, theirs = load(first), load(second)
    told = same(ours, theirs).difference
    assert told.at_step is not None
    shared = theirs.defaults | {key: value for key, value in ours.defaults.items() if key in theirs.defaults}
    runs = [literal_of(ours, ours.defaults, None), literal_of(theirs, shared, None)]
    point = probe_point(dimension_of(None))
    for truth, part in zip((_frozen, _moved), told.at_step, strict=True):
        for step, size in list(zip(STEPS, part.sizes, strict=True))[:3]:
            left, right = ([run.rate(step, 40) * entry for entry in truth(run, point, step)] for run in runs)
            scale = max(map(abs, left)) or 1
            expected = float(max(abs(x - y) for x, y in zip(left, right, strict=True)) / scale)
            assert size.number == pytest.approx(expected, rel=1e-9, abs=1e-20)


def _frozen(run: Literal, point: Vector, step: int) -> Vector:
    return bruteforce.memoryless(run, point, step, 40)


def _moved(run: Literal, point: Vector, step: int) -> Vector:
    return bruteforce.correction(run, point, step, RATE, 40)


def test_different_defaults_are_told() -> None:
    """Keras has eps 1e-7 and PyTorch 1e-8: in the limit F differs by |g|/(|g| + eps) - |g|/(|g| + eps')."""
    told = same(load("adam-keras"), load("adam-torch")).difference
    slopes = [
        abs(entry)
        for entry in literal_of(load("adam"), {}, None).loss.gradient(probe_point(dimension_of(None)))
    ]
    left, right = ([x / (x + eps) for x in slopes] for eps in (1e-7, 1e-8))
    expected = max(abs(x - y) for x, y in zip(left, right, strict=True)) / max(left)
    assert told.F.size == 0
    assert told.F.own.number == pytest.approx(float(expected), rel=1e-6)


def test_keras_form_is_seen_through_its_roots() -> None:
    """lr sqrt(1 - beta2^t)/(1 - beta1^t) m/(sqrt(v) + eps) is the form with everything debiased and eps_t."""
    keras = own(
        "m3*m1/(sqrt(m2) + eps)",
        ("grad", "beta1", "1 - beta1"),
        ("grad**2", "beta2", "1 - beta2"),
        ("1", "0", "sqrt(1 - beta2**(n + 1))/(1 - beta1**(n + 1))"),
        beta1=0.9,
        beta2=0.999,
        eps=1e-7,
    )
    assert same(keras, load("adam-keras")).verdict is Verdict.IDENTICAL


def test_the_same_first_order_is_not_the_same_optimizer() -> None:
    """Adam with beta1 = beta2 and Signum with one eps agree in F and M of the limit, and are different."""
    adam, signum = load("adam").with_values(beta1=0.5, beta2=0.5), load("signum").with_values(beta=0.5)
    found = same(adam, signum)
    assert found.verdict is Verdict.DIFFERENT
    assert found.difference.witness is not None
    assert abs(found.difference.M.size) < 1e-20


def test_a_root_of_a_square_is_no_identity() -> None:
    """sqrt(m^2) is |m|: sign momentum is not a constant step, although the roots cancel where m > 0."""
    sign = own("m1/sqrt(m1**2)", ("grad", "beta", "1 - beta"), beta=0.9)
    one = own("m1/m2", ("grad", "beta", "1 - beta"), ("grad", "beta", "1 - beta"), beta=0.9)
    assert same(sign, one).verdict is Verdict.DIFFERENT
    x, y = Symbol("x"), Dummy("y")
    assert Normal({x: POSITIVE}).is_zero(sqrt(4 * x**2) - 2 * x)
    assert not Normal({}).is_zero(sqrt(4 * y**2) - 2 * y)


def test_numbers_confirm_and_refute() -> None:
    first, second = load("heavyball"), load("ema-momentum")
    trial = Trial.of(first, second, {})
    assert abs(float(trial.scale) * float(1 - trial.ours["beta"]) - 1) < 1e-14
    assert parting(Trial.of(first, first, {})) is None
    assert parting(Trial.of(first, second, {})).step == 1
    assert proved_scale(load("adam"), load("adam-torch"), {}) is None


def test_runs_that_diverge_are_run_with_a_smaller_rate() -> None:
    """With lr = 1/100 both leave every bound at once."""
    first, second = (own(phi, ("grad", "0", "1")) for phi in ("10**12*m1", "10**12*m1 + m1**3"))
    assert parting(Trial.of(first, first, {})) is None
    assert parting(Trial.of(first, second, {})).step == 1


def test_maps_begin_with_the_names() -> None:
    first = next(candidates(load("adam"), load("adamw")))
    assert [str(value) for value in first.values()][:3] == ["beta1", "beta2", "eps"]


def test_same_on_the_command_line() -> None:
    assert output("same", "gpa", "qhm").startswith("gpa is qhm with nu = mu_y, beta = mu_x.\n")
    assert output("same", "heavyball", "ema-momentum").startswith(
        "heavyball is ema-momentum with lr times 1/(1 - beta)."
    )
    assert output("same", "ema-momentum", "heavyball").startswith(
        "ema-momentum is heavyball with lr times (1 - beta)."
    )
    text = output("same", "adam", "adam-torch", PYTHONIOENCODING="ascii")
    assert text.isascii()
    assert "Witness" in text
    done = run("same", "adam", "nothing")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def with_range(phi: str, interval: str | None, b: str = "1") -> Optimizer:
    parameter = {"default": 1} if interval is None else {"default": 0.5, "range": interval}
    return Optimizer("own", phi, [{"g": "grad", "beta": "0.5", "b": b}], {"c": parameter})


@pytest.mark.parametrize("interval", [None, "(-inf, inf)", "(-1, 1)", "(-inf, 1)"])
@pytest.mark.parametrize(("phi", "b"), [("sqrt(c**2)*m1", "1"), ("m1", "sqrt(c**2)"), ("abs(c)*m1", "1")])
def test_a_parameter_may_be_negative(phi: str, b: str, interval: str | None) -> None:
    """|c| is not c at c = -1, nor c with a factor of lr: a learning rate below 0 is none."""
    found = same(with_range(phi, interval, b), with_range("c*m1", interval))
    assert found.verdict is Verdict.DIFFERENT
    assert found.difference.witness.values["c"] < 0


@pytest.mark.parametrize("interval", ["(0, inf)", "[0, 1)"])
@pytest.mark.parametrize(("phi", "b"), [("sqrt(c**2)*m1", "1"), ("m1", "sqrt(c**2)"), ("abs(c)*m1", "1")])
def test_a_declared_sign_is_used(phi: str, b: str, interval: str) -> None:
    assert same(with_range(phi, interval, b), with_range("c*m1", interval)).verdict is Verdict.IDENTICAL


def test_roots_of_negative_products_stay_together() -> None:
    """sqrt(x y) is real where x and y are both negative, and sqrt(x) sqrt(y) is not."""
    x, y = symbols("x y")
    unsigned, negative = Normal({}), Normal({x: -POSITIVE})
    assert not unsigned.is_zero(sqrt(x * y) - sqrt(x) * sqrt(y))
    assert unsigned.is_zero(sqrt(x**3 * y) ** 2 - x**3 * y)
    assert unsigned.is_zero(sqrt(x**4) - x**2)
    assert negative.is_zero(sqrt(x**2) + x)


def test_a_difference_in_the_limit_is_a_proof() -> None:
    """No short run reaches step 10^6, where the second changes; F and M of the limit differ by 1/2 and 3/4."""
    found = same(
        own("m1", ("grad", "0.5", "1 - 0.5")), own("m1", ("grad", "0.5", "where(n < 1000000, 0.5, 0.25)"))
    )
    assert found.verdict is Verdict.DIFFERENT
    assert found.difference.witness is None
    assert abs(found.difference.F.size - 1 / 2) < 1e-12
    assert abs(found.difference.M.size - 3 / 4) < 1e-12


def test_a_warm_up_is_seen_at_its_default() -> None:
    """Random numbers of (0, inf) are below 1, where a warm-up is over at its first step: no difference was seen."""
    momentum = [{"g": "grad", "beta": "beta", "b": "1 - beta"}]
    beta = {"beta": {"default": 0.9, "range": "[0, 1)"}}
    warmup = {"warmup": {"default": 5, "range": "(0, inf)"}}
    warm = Optimizer("warm", "m1", momentum, beta | warmup, schedule="min(1, (n + 1)/warmup)")
    plain = Optimizer("plain", "m1", momentum, beta)
    for first, second in ((warm, plain), (plain, warm)):
        found = same(first, second)
        assert found.verdict is Verdict.DIFFERENT
        values = {name: Rational(value) for name, value in found.difference.witness.values.items()}
        # By hand: after one step 4/5 of the step without a warm-up are missing.
        assert values["warmup"] == 5
        assert found.difference.witness.step == 1


def test_the_witness_says_its_parameters() -> None:
    text = output("same", "nesterov", "heavyball")
    beta_of_the_run = same(load("nesterov"), load("heavyball")).difference.witness.values["beta"]
    assert f"beta = {float(beta_of_the_run)}." in " ".join(text.split())


DEBIASED = "(1 - {0})/(1 - {0}**(n + 1))"
RATIONAL = {
    "triple momentum and QHM": (
        load("triple-momentum"),
        load("qhm"),
        1 / (1 - beta),
        {"nu": 1 - symbols("gamma") * (1 - beta) / beta},
    ),
    "QHM and triple momentum": (
        load("qhm"),
        load("triple-momentum"),
        1 - beta,
        {"gamma": beta * (1 - nu) / (1 - beta)},
    ),
    "AccSGD and QHM": (
        load("accsgd"),
        load("qhm"),
        symbols("c") * (symbols("xi") + 1) / (symbols("c") + 1),
        {
            "nu": (symbols("c") * symbols("xi") - 1) / (symbols("c") * (symbols("xi") + 1)),
            "beta": (symbols("kappa") - symbols("c") ** 2 * symbols("xi"))
            / (symbols("kappa") + symbols("c") * symbols("xi")),
        },
    ),
    "a gradient added to Adam and QHAdam": (
        own(
            "(m1 + alpha*m3)/(sqrt(m2) + eps)",
            ("grad", "beta1", DEBIASED.format("beta1")),
            ("grad**2", "beta2", DEBIASED.format("beta2")),
            ("grad", "0", "1"),
            beta1=(0.9, "[0, 1)"),
            beta2=(0.99, "[0, 1)"),
            alpha=(0.5, "[0, inf)"),
            eps=(1e-8, "(0, inf)"),
        ),
        load("qhadam"),
        1 + symbols("alpha"),
        {"nu1": 1 / (1 + symbols("alpha")), "nu2": 1},
    ),
    "a root with a factor": (
        own(
            "(m1 + a*m2)/sqrt((m1 + a*m2)**2 + eps)",
            ("grad", "beta", "1 - beta"),
            ("grad", "0", "1"),
            beta=(0.9, "(0, 1)"),
            a=(0.5, "[0, inf)"),
            eps=(1e-6, "(0, inf)"),
        ),
        load("lion"),
        1,
        {
            "beta1": beta / (1 + symbols("a")),
            "beta2": beta,
            "eps": symbols("eps") / (1 + symbols("a")) ** 2,
            "weight_decay": 0,
        },
    ),
}


@pytest.mark.parametrize("name", RATIONAL)
def test_parameters_are_solved_for(name: str) -> None:
    """The parameters of one as rational functions of the other's: equal in numbers, on runs of twenty steps."""
    first, second, scale, values = RATIONAL[name]
    found = same(first, second)
    assert (found.verdict, found.swapped) == (Verdict.RENAMED if scale == 1 else Verdict.BOTH, False)
    assert cancel(found.scale - scale) == 0
    assert {key.name for key, _ in found.values} == set(values)
    for key, value in found.values:
        assert cancel(value - values[key.name]) == 0
    numbers = first.defaults
    put = {Symbol(key): value for key, value in numbers.items()}
    theirs = {key.name: value.xreplace(put) for key, value in found.values}
    theirs = {each.name: theirs.get(each.name, numbers.get(each.name)) for each in second.parameters}
    start, rate = probe_point(dimension_of(None)), Rational(1, 100)
    left = literal_of(first, numbers, None).run(start, rate, 20, 40)
    right = literal_of(second, theirs, None).run(start, rate * found.scale.xreplace(put), 20, 40)
    for ours, other in zip(left, right, strict=True):
        assert max(abs(x - y) for x, y in zip(ours, other, strict=True)) < 1e-25


def test_where_a_solved_parameter_is_in_its_range() -> None:
    """1 - gamma (1 - beta)/beta is below 0 for a large gamma; 1 - share is always a decay."""
    (condition,) = same(load("triple-momentum"), load("qhm")).where
    assert condition == (nu, load("qhm").parameters[0].range)
    assert same(load("error-feedback"), load("ema-momentum")).where == ()
    text = " ".join(output("same", "triple-momentum", "qhm").split())
    assert "where nu lies in [0, 1]." in text


def test_what_is_not_the_same_for_any_parameters() -> None:
    """Two decays are not one, and a gradient of one step ago is no average."""
    for pair in (("aggmo", "qhm"), ("optimistic-gd", "qhm"), ("pnm", "nesterov")):
        assert same(load(pair[0]), load(pair[1])).verdict is Verdict.DIFFERENT


def test_a_positive_factor_inside_a_function_without_size() -> None:
    """sign and newton_schulz are of degree 0: a sum is as good as an average, and a negative factor is not."""
    total = own("sign(m1)", ("grad", "beta", "1"), beta=(0.9, "[0, 1)"))
    assert same(total, load("signum-exact")).verdict is Verdict.IDENTICAL
    muon = own("newton_schulz(m1 + m2)", ("grad", "beta", "beta"), ("grad", "0", "1"), beta=(0.9, "[0, 1)"))
    found = same(muon, load("muon-torch"))
    assert {key.name: value for key, value in found.values} == {"weight_decay": 0}
    flipped = own("sign(m1)", ("grad", "beta", "beta - 1"), beta=(0.9, "[0, 1)"))
    assert same(flipped, load("signum-exact")).verdict is Verdict.DIFFERENT


def test_what_fades_is_left_out_after_many_steps() -> None:
    """The rectification of RAdam tends to 1 and its plain momentum is left: F and M of the limit are Adam's."""
    found = same(load("radam"), load("adam-torch"))
    assert found.verdict is Verdict.SETTLED
    assert found.difference.has_one_limit


def test_equal_limits_of_different_optimizers_are_said() -> None:
    adam, signum = load("adam").with_values(beta1=0.5, beta2=0.5), load("signum").with_values(beta=0.5)
    text = same_text(same(adam, signum), Style())
    assert "F and M after many steps agree" in " ".join(text.split())


def test_a_size_says_of_which_it_is_step_by_step() -> None:
    """At n = 0 the first one stands still, and nothing is a multiple of its update; at n = 1 it is a 50th."""
    warm = own("m1", ("grad", "beta", "(1 - beta)*min(n, 50)/50"), beta=(0.6, "[0, 1)"))
    plain = own("m1", ("grad", "beta", "1 - beta"), beta=(0.6, "[0, 1)"))
    text = " ".join(same_text(same(warm, plain), Style()).split())
    assert "1.0e+00 at n = 0 of the second one's, 4.9e+01 at n = 1," in text
    assert ", else of the first one's;" in text
    turned = " ".join(same_text(same(plain, warm), Style()).split())
    assert "1.0e+00 at n = 0, 9.8e-01 at n = 1," in turned
    assert "of the second one's" not in turned


def test_a_difference_that_is_0_is_shown_as_0() -> None:
    """A memory of a memory is a difference of two averages: M, once in partial fractions, was shown as three terms."""
    decays = "".join(
        f'{name} = {{ default = {value}, range = "[0, 1)" }}\n' for name, value in DECAYS.items()
    )
    average = '[[momentum]]\ng = "{}"\nbeta = "{beta}"\nb = "1 - {beta}"\n'
    nested = average.format("grad", beta="beta1") + average.format("m1", beta="beta2")
    beside = average.format("grad", beta="beta1") + average.format("grad", beta="beta2")
    split = "(beta2*(1 - beta1)*m2 - beta1*(1 - beta2)*m1)/(beta2 - beta1)"
    first, second = (
        read_toml(f'name = "{name}"\nphi = "{phi}"\n[parameters]\n{decays}{momentum}')
        for name, phi, momentum in (("nested", "m2", nested), ("beside", split, beside))
    )
    found = same(first, second).difference
    assert found is not None
    assert found.has_one_limit
    changed = same(
        first, read_toml(f'name = "other"\nphi = "m1 + m2"\n[parameters]\n{decays}{beside}')
    ).difference
    assert changed is not None
    assert changed.M.formula != 0


DECAYS = {"beta1": 0.4, "beta2": 0.3}


def test_roots_of_parameters_and_numbers_of_tensors_go_into_lr_and_eps() -> None:
    """The root of 1 - beta2 was taken for a function of the past, and the norm for one without a degree."""
    rates = {"beta1": (0.9, "[0, 1)"), "beta2": (0.99, "[0, 1)"), "eps": (0.001, "(0, inf)")}
    averaged, summed = (
        own("m1/(sqrt(m2) + eps)", ("grad", "beta1", first), ("grad**2", "beta2", second), **rates)
        for first, second in (("1 - beta1", "1 - beta2"), ("1", "1"))
    )
    found = same(averaged, summed)
    beta1, beta2, eps = symbols("beta1 beta2 eps")
    assert found.verdict is Verdict.BOTH
    truth = {beta1: Rational(3, 5), beta2: Rational(7, 16), eps: Rational(1, 7)}
    # sqrt(1 - beta2) = 3/4: lr (1 - beta1) X/(3/4 sqrt(Y) + eps) = lr 8/15 X/(sqrt(Y) + 4/21)
    assert found.scale.xreplace(truth) == Rational(8, 15)
    assert dict(found.values)[eps].xreplace(truth) == Rational(4, 21)

    decay = {"beta": (0.9, "[0, 1)")}
    whole, part = (own("m1/norm(m1)", ("grad", "beta", b), **decay) for b in ("1", "1 - beta"))
    assert same(whole, part).verdict is Verdict.IDENTICAL
    whole = own("m1/(1 + norm(m1))", ("grad", "beta", "1 - beta"), **decay)
    part = own("m1/(1 + (1 - beta)*norm(m1))", ("grad", "beta", "1"), **decay)
    found = same(whole, part)
    assert found.verdict is Verdict.RESCALED
    assert (found.scale - 1 + beta).cancel() == 0
    signed = {"c": (0.5, "(-1, 1)")}
    turned, plain = (own("m1/norm(m1)", ("grad", "0", b), **signed) for b in ("c", "c**2"))
    assert proved_scale(turned, plain, {}) is None  # the norm of c v is |c| |v|
