"""Declarations of many kinds, each with a file that coqc accepts; equations without a proof; contradictions."""

from __future__ import annotations

from pathlib import Path

import pytest
from coq_runs import assert_accepted, broken, numbers_of, run
from sympy import Abs, Function, Rational, Symbol, exp, sqrt, symbols

import symmem
from symmem.algebra.atoms import GRAD, PAST, STEP
from symmem.declaration.records import Parameter
from symmem.targets.coq.conditions import conditions
from symmem.targets.coq.dialect import CoqPrinter, names_of, told_apart
from symmem.targets.coq.extent import Extent
from symmem.targets.coq.formal import is_formal
from symmem.targets.coq.module import coq_file, proved_file
from symmem.targets.coq.witness import is_met

UNIT = {"default": 0.5, "range": "[0, 1)"}
RANGES = {
    "beta": UNIT,
    "gamma": {"default": 0.25, "range": "[0, 1)"},
    "eps": {"default": 0.5, "range": "(0, inf)"},
    "p": {"default": 0.5, "range": "(0, inf)"},
    "t": {"default": 10, "range": "[1, inf)"},
    "d": {"default": -0.5, "range": "(-1, 1)"},
    "c": {"default": 0.5},
}
EMA, SUM, BIAS = ("grad", "beta", "1 - beta"), ("grad", "beta", "1"), "(1 - {0})/(1 - {0}**(n + 1))"
MEAN, SQUARES = ("grad", "beta", BIAS.format("beta")), ("grad**2", "gamma", BIAS.format("gamma"))
OF_THETA = ("theta", "gamma", "1 - gamma")
KINDS = {
    "size below": ("m1/(1 + abs(m1))", [SUM]),
    "size below, mean": ("m1/(eps + abs(m1))", [EMA]),
    "size under a root": ("m1/sqrt(eps + abs(m1))", [SUM]),
    "size of a sum": ("abs(m1 + 1)", [EMA]),
    "size with a free factor": ("abs(m1)", [("grad", "beta", "c")]),
    "sizes of several": ("m1*abs(m1) + abs(m2)*m2 + abs(m1 + m2)", [EMA, OF_THETA]),
    "sign of a product": ("sign(m1*m2)*m1", [EMA, OF_THETA]),
    "negative factor": ("abs(m1)*m1", [("grad", "beta", "-(1 - beta)")]),
    "tanh": ("tanh(m1/eps)", [MEAN]),
    "exponentials": ("m1*exp(-m1**2) + exp(m1)", [MEAN]),
    "logarithm": ("log(1 + m1**2)*m1", [MEAN]),
    "root of a gain": ("m1/sqrt(m1**2 + eps)", [("grad", "beta", "sqrt(1 - beta**2)")]),
    "root of the step": ("m1", [("grad", "beta", "1/sqrt(1 - beta**(2*n + 2))")]),
    "gain under a root": ("m1/sqrt(m2 + eps)", [EMA, ("grad**2", "gamma", "1/(1 - gamma**(n + 1))")]),
    "nested roots": ("m1/sqrt(sqrt(m2 + eps) + 1)", [MEAN, SQUARES]),
    "third root": ("m1/(m1**2 + eps)**(1/3)", [MEAN]),
    "symbolic power": ("m1/(m1**2 + eps)**p", [MEAN]),
    "symbolic power of a size": ("sign(m1)*abs(m1)**p", [EMA]),
    "quotient decay": ("m1", [("grad", "beta/(1 + beta)", "1")]),
    "square decay": ("m1", [("grad", "beta**2", "1 - beta**2")]),
    "decay with a time": ("m1/sqrt(m1**2 + 1)", [("grad", "1 - 1/t", "1/t")]),
    "negative decay": ("m1", [("grad", "-beta", "1 + beta")]),
    "decays of both signs": ("m1 + m2", [EMA, ("grad", "-beta", "1 + beta")]),
    "negative number": ("m1 + m2*c", [("grad", "9/10", "1/10"), ("grad", "-9/10", "1")]),
    "alternating bias": ("m1/(1 + m2**2)", [EMA, ("grad", "-beta", "1/(1 - (-beta)**(n + 1))")]),
    "a parameter called d": ("m1", [("grad", "d", "1")]),
    "cascade": ("m2 - m1", [EMA, ("m1", "gamma", "1")]),
    "factor with cases": ("m1", [("grad", "beta", "where(n < 5, 1, 1 - beta)")]),
    "factor with a power": ("m1/(1 + m1**2)", [("grad", "beta", "1 + gamma**n")]),
    "norm": ("m1/(norm(m1) + eps)", [MEAN]),
    "size in g": ("m1/(1 + abs(m1))", [("abs(grad)*grad", "beta", BIAS.format("beta"))]),
}  # fmt: skip
QUICK = ("size below", "size under a root", "gain under a root", "quotient decay", "decays of both signs")


def declared(phi: str, momentum: list[tuple[str, str, str]]) -> symmem.Optimizer:
    text = " ".join((phi, *(part for each in momentum for part in each)))
    used = {name: RANGES[name] for name in RANGES if Symbol(name) in symbols_of(text)}
    return symmem.Optimizer(
        name="kind", phi=phi, momentum=[symmem.Momentum(*each) for each in momentum], parameters=used
    )


def symbols_of(text: str) -> set[Symbol]:
    words = "".join(letter if letter.isalnum() else " " for letter in text).split()
    return {Symbol(word) for word in words}


@pytest.mark.parametrize(
    "kind", [each if each in QUICK else pytest.param(each, marks=pytest.mark.prove) for each in KINDS]
)
def test_coqc_accepts_a_declaration_of_this_kind(kind: str, tmp_path: Path) -> None:
    assert_accepted(coq_file(symmem.derive(declared(*KINDS[kind]))), tmp_path)


@pytest.mark.prove
@pytest.mark.parametrize("values", [{"beta": 0}, {"beta": "1/3"}, {"beta": "9/10", "gamma": "999/1000"}])
def test_coqc_accepts_numbers_that_are_put_in(values: dict[str, object], tmp_path: Path) -> None:
    optimizer = declared("m1/sqrt(m2 + eps) + abs(m1)", [MEAN, SQUARES]).with_values(values)
    assert_accepted(coq_file(symmem.derive(optimizer)), tmp_path)


def test_a_wrong_number_behind_a_quotient_decay_is_rejected(tmp_path: Path) -> None:
    """Powers with exponents such as 1 - 2 n stand there as quotients: natural numbers have no negative ones."""
    text = coq_file(symmem.derive(declared(*KINDS["quotient decay"])))
    start = text.index("Theorem past1_1")
    number = next(each for each in numbers_of(text) if each.start() > text.index("\n  = ", start))
    assert run(broken(text, number), tmp_path).returncode != 0


def test_hypotheses_that_contradict_each_other_are_not_stated() -> None:
    """Both variables are the gradient at step 0, where the size of their difference is zero whatever the decays are."""
    pair = [SUM, ("grad", "gamma", "1")]
    made = proved_file(symmem.derive(declared("abs(m1 - m2)", pair)))
    assert made.extent is Extent.GAINS
    assert any("zero at a step" in each for each in made.missing)
    assert proved_file(symmem.derive(declared("m1/(1 + (m1 - m2)**2)", pair))).extent is Extent.UPDATE


@pytest.mark.parametrize(
    ("text", "met"), [("beta - 1/2", True), ("beta**(n + 1) - beta**2", False), ("beta - gamma", True)]
)
def test_a_witness_of_the_hypotheses(text: str, met: bool) -> None:
    """At the default beta the first one fails, at others it holds; the second fails at step 1 for every beta."""
    beta, gamma = symbols("beta gamma")
    formula = {
        "beta - 1/2": beta - Rational(1, 2), "beta - gamma": beta - gamma,
        "beta**(n + 1) - beta**2": beta ** (STEP + 1) - beta**2,
    }[text]  # fmt: skip
    parameters = [Parameter(name, Rational(1, 2), range="[0, 1)") for name in ("beta", "gamma")]
    ranges = {Symbol(each.name): each.range for each in parameters}
    found = conditions([1 / formula], [], ranges, CoqPrinter(names_of(("beta", "gamma"))))
    assert is_met(found, parameters) is met


def test_what_the_algebra_of_a_proof_can_show() -> None:
    x, y = symbols("x y")
    root, f = sqrt(x + y**2), Function("tanh")
    assert is_formal(root**3, (x + y**2) * root)
    assert is_formal(Abs(GRAD) ** 2 / GRAD, GRAD)
    assert is_formal(x ** (2 * STEP + 1), x * (x**STEP) ** 2)
    assert is_formal((x / y) ** STEP, x**STEP / y**STEP)
    assert is_formal(f(x) * y / y, f(x))
    assert not is_formal(root, -root)
    assert not is_formal(Abs(x * y), Abs(x) * Abs(y))
    assert not is_formal(exp(2 * x), exp(x) * exp(x + 1))
    assert not is_formal((x + y) ** STEP, (x**2 + x * y) ** STEP / x**STEP)
    assert not is_formal(x ** (STEP + 1), x**STEP)


def test_exponents_are_differences_of_natural_numbers() -> None:
    for exponent, below in ((2 * STEP + 1, 0), (STEP - PAST + 2, 0), (1 - 2 * STEP, 2 * STEP), (STEP - 1, 1),
                            (PAST - STEP - 1, STEP - PAST + 1)):  # fmt: skip
        upper, lower = told_apart(exponent)
        assert lower == below
        assert upper - lower == exponent
