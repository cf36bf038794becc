"""Property test: random declarations, derived symbolically, against brute force with numbers."""

from __future__ import annotations

import math

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sympy import Rational, Symbol
from truth import LR, number_of

import symmem
from symmem.algebra.results import Missing
from symmem.declaration.optimizer import Momentum, Optimizer
from symmem.verification import bruteforce
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.vectors import distance

LOSS = coupled_loss(3)
THETA = probe_point(3)
DECAYS = ["0", "1/2", "1/4", "2/3", "4/5", "9/10", "p", "p**2", "1 - p", "q", "p*q"]
FACTORS = [
    "1",
    "1 - {beta}",
    "(1 - {beta})/(1 - ({beta})**(n + 1))",
    "p",
    "1 + p**n",
    "1/(n + 1)",
    "2 - (1/2)**n",
    "sqrt(1 - p**(n + 2))",
    "(n + 2)/(n + 1)",
]
SOURCES = ["grad", "grad**2", "theta", "-grad", "grad + theta/3", "grad*theta", "tanh(grad)", "1", "grad**3"]
SMOOTH = ["{x}", "{x}/sqrt({y}**2 + 1)", "tanh({x})", "{x}*{y}", "exp(-{x}**2)", "{x}/({y}**2 + q)", "p*{x}"]


@st.composite
def optimizers(draw: st.DrawFn) -> Optimizer:
    count = draw(st.integers(1, 4))
    variables = []
    for _ in range(count):
        beta = draw(st.sampled_from(DECAYS))
        factor = draw(st.sampled_from(FACTORS)).format(beta=beta)
        variables.append(Momentum(draw(st.sampled_from(SOURCES)), beta, factor))
    names = [f"m{position}" for position in range(1, count + 1)]
    terms = [draw(st.sampled_from(SMOOTH)).format(x=name, y=draw(st.sampled_from(names))) for name in names]
    parameters = {
        "p": {"default": Rational(3, 5), "range": "(0, 1)"},
        "q": {"default": Rational(3, 10), "range": "(0, 1)"},
    }
    used = " ".join([*terms, *(f"{v.beta} {v.b}" for v in variables)])
    kept = {
        name: value
        for name, value in parameters.items()
        if name in used.replace("sqrt", "").replace("exp", "")
    }
    return Optimizer("random", " + ".join(terms), variables, kept)


@given(
    optimizers(),
    st.sampled_from([0, 1, 2, 5, 17]),
    st.sampled_from([Rational(3, 7), Rational(5, 11), Rational(8, 13)]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_finite_n(optimizer: Optimizer, n: int, p: Rational) -> None:
    """p stays off the other decays: where two are equal, the closed form is to be derived anew (next test)."""
    literal = Literal(optimizer, {q.name: p for q in optimizer.parameters if q.name == "p"}, LOSS)
    derivation = symmem.derive(optimizer)
    assert distance(number_of(derivation.F, literal, n=n), bruteforce.memoryless(literal, THETA, n)) < 1e-20
    truth = bruteforce.correction(literal, THETA, n, LR)
    assert distance(number_of(derivation.M, literal, n=n), truth) < 1e-20


@given(optimizers())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_limit_where_the_gains_settle_fast(optimizer: Optimizer) -> None:
    """After so many steps the slowest decay is below 1e-32; 9/10 needs 700.  Factors like 1/(n+1) are left out."""
    if any("n + 1)" in str(v.b).replace("**(n + 1)", "") or "/(n" in str(v.b) for v in optimizer.momentum):
        return
    literal = Literal(optimizer, {}, LOSS)
    limit = symmem.derive(optimizer).limit
    if isinstance(limit, Missing):
        return
    numbers = {Symbol(name): number for name, number in literal.numbers.items()}
    decays = [float(v.beta.xreplace(numbers)) for v in optimizer.momentum]
    steps = math.ceil(74 / -math.log(max(0.6, *decays)))  # p = 0.6 stands in the factors too
    truth = bruteforce.correction(literal, THETA, steps, LR, digits=30)
    assert distance(number_of(limit.M, literal), truth) < 1e-20


def test_equal_decays_are_derived_anew() -> None:
    """p = 4/5 meets the other decay: the generic closed form says that it does not hold; the set one does."""
    variables = [Momentum("grad", "4/5", "1"), Momentum("grad", "p", "1")]
    optimizer = Optimizer(
        "resonant", "m1 + m2", variables, {"p": {"default": Rational(1, 2), "range": "[0, 1)"}}
    )
    assert any("differ" in str(item) for item in symmem.derive(optimizer).assumptions)
    equal = optimizer.with_values({"p": Rational(4, 5)})
    literal = Literal(equal, {}, LOSS)
    for n in (0, 1, 6):
        truth = bruteforce.correction(literal, THETA, n, LR)
        assert distance(number_of(symmem.derive(equal).M, literal, n=n), truth) < 1e-20
