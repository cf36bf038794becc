"""Singular places: a value or a refusal in every output, never nan, zoo or oo."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mpmath import isfinite
from sympy import Expr, Rational
from truth import THETA, number_of

import symmem
from symmem import Momentum, Optimizer
from symmem.algebra.results import Missing
from symmem.documents import json_form
from symmem.documents.account import account_of
from symmem.documents.paper import paper, section
from symmem.errors import DeclarationError, DerivationError, SymmemError
from symmem.targets.jax.module import TARGET as JAX
from symmem.targets.numpy.module import TARGET as NUMPY
from symmem.targets.python.copied import copied
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss
from symmem.verification.vectors import VerificationError

LOSS = coupled_loss(3)
BETA = {"beta": {"default": Rational(4, 5), "range": "(0, 1)"}}
EPS = {"eps": {"default": Rational(1, 10**8), "range": "(0, 100)"}}
AVERAGE, DEBIASED = "1 - beta", "(1 - beta)/(1 - beta**(n + 1))"
CENTRED = (("grad", "0", "1"), ("grad**2", "beta", AVERAGE), ("grad", "beta", AVERAGE))


def declared(phi: str, *momentum: tuple[str, str, str], **parameters: object) -> Optimizer:
    return Optimizer("singular", phi, [Momentum(*each) for each in momentum], parameters)


NO_LIMIT = {
    "centred RMSProp without eps": declared("m1/sqrt(m2 - m3**2)", *CENTRED, **BETA),
    "a root that becomes 0": declared("m1/(sqrt(m2 - m3**2) + 1)", *CENTRED, **BETA),
    "1/m1 with b -> 0": declared("1/m1", ("grad", "beta", "1/(n + 1)"), **BETA),
    "the sign of what becomes 0": declared(
        "sign(m1 - m2)", ("grad", "beta", AVERAGE), ("grad", "0", "1"), **BETA
    ),
    "the size of what becomes 0": declared(
        "m2*abs(m1 - m2)", ("grad", "beta", AVERAGE), ("grad", "0", "1"), **BETA
    ),
    "m2/m1 with a fading b": declared("m2/m1", ("grad", "beta", "beta**n"), ("grad", "0", "1"), **BETA),
}
NOTHING = {
    "0/0 at every step": declared("m1/(m1 - m2)", ("grad", "0", "1"), ("grad", "beta", DEBIASED), **BETA),
    "b is 0 at step 3": declared("m2/m1", ("grad", "beta", "n - 3"), ("grad", "0", "1"), **BETA),
    "b is 0 at step 70": declared("m2/m1", ("grad", "beta", "n - 70"), ("grad", "0", "1"), **BETA),
    "b is 0 at the first step": declared(
        "m2/m1", ("grad", "beta", "1 - beta**n"), ("grad", "0", "1"), **BETA
    ),
    "a denominator is 0 at the first step": declared(
        "m2/(m1 - 1)", ("1", "beta", "1"), ("grad", "beta", "1"), **BETA
    ),
    "a root is 0 at the first step": declared(
        "m2/sqrt(m1**2 - m1)", ("1", "beta", "1"), ("grad", "0", "1"), **BETA
    ),
}
BAD = re.compile(r"(?<![A-Za-z_])(nan|zoo|-?oo|NaN|infty)(?![A-Za-z_])")
"""As SymPy, the terminal and LaTeX write them; the end of a sum, and n -> infinity in words, are no values."""
ENDS = (", oo))", r"n \to \infty", r"^{\infty}", r"^{(\infty)}", r"^{\\infty}")
TARGETS = ("numpy", "torch", "jax", "octave", "json")


def outputs(optimizer: Optimizer, targets: tuple[str, ...]) -> Iterator[str]:
    """Every output, or its refusal, which is one line."""
    for order in (1, 2):
        derivation = symmem.derive(optimizer, order)
        yield str(derivation)
        yield derivation.to_latex()
        yield derivation._repr_html_()
        yield json_form.json_text(json_form.json_data(account_of(derivation, parts=json_form.PARTS)))
    derivation = symmem.derive(optimizer)
    asked = [lambda at=at: derivation.to_latex(at) for at in (0, 1, 3, 6, "limit")]
    asked.append(lambda: paper.standalone(account_of(derivation, parts=section.PARTS)))
    asked.append(lambda: str(symmem.compare([derivation])))
    asked += [lambda target=target: symmem.emit(derivation, target) for target in targets]
    for ask in asked:
        try:
            yield ask()
        except SymmemError as refusal:
            yield str(refusal)


FIXED = tuple(part for each in (*JAX.helpers, *NUMPY.helpers) for part in copied(each.file, each.always))
"""Code that is the same for every optimizer, whatever its formulas are: JAX refuses a wrong gradient with a NaN."""


def assert_no_infinity(text: str) -> None:
    for end in (*ENDS, *FIXED):
        text = text.replace(end, "")
    found = [line for line in text.splitlines() if BAD.search(line)]
    assert not found, found[:3]


@pytest.mark.parametrize("case", [*NO_LIMIT, *NOTHING])
def test_no_output_holds_an_infinity(case: str) -> None:
    for text in outputs({**NO_LIMIT, **NOTHING}[case], TARGETS):
        assert_no_infinity(text)


@pytest.mark.parametrize("case", NO_LIMIT)
def test_a_singular_limit_is_missing_and_the_steps_are_there(case: str) -> None:
    derivation = symmem.derive(NO_LIMIT[case])
    for part in (derivation.limit, derivation.coefficients, derivation.modified_equation, derivation.shift):
        assert isinstance(part, Missing)
        assert "for n -> infinity" in str(part)
    assert isinstance(derivation.obstruction, Missing)
    assert not derivation.conclusions
    assert any("how close the iteration of step n stays is not known" in str(u) for u in derivation.unknown)
    literal = Literal(NO_LIMIT[case], {}, LOSS)
    found = number_of(derivation.at(4).F, literal)
    truth = literal.direction([THETA] * 5)
    assert max(abs(x - y) for x, y in zip(found, truth, strict=True)) < 1e-30


@pytest.mark.parametrize("case", NOTHING)
def test_an_update_without_a_value_is_refused_everywhere(case: str) -> None:
    derivation = symmem.derive(NOTHING[case])
    assert isinstance(derivation.F, Missing)
    assert isinstance(derivation.M, Missing)
    for target in TARGETS[:-1]:
        with pytest.raises(DerivationError, match=r"no value|singular"):
            symmem.emit(derivation, target)


POLES = {
    "1/(n - 5)": 5,
    "1/((n - 90)*(n + 1))": 90,
    "1/(n**2 - 49)": 7,
    "sqrt(5 - n)": 6,
    "sqrt(1000 - n)": 1024,
    "log(3 - n)": 3,
    "1/(n - a)": 4,
    "1/(1 + 1/(n - 5))": 4,
}


@pytest.mark.parametrize("b", POLES)
def test_a_factor_without_a_value_at_some_step_is_refused(b: str) -> None:
    parameters = {"a": {"default": 4}} if "a" in b else {}
    with pytest.raises(DeclarationError, match=f"b: .*n = {POLES[b]}"):
        declared("m1", ("grad", "1/2", b), **parameters)


@pytest.mark.parametrize(
    "b", ["1/(n + 1)", "1/(2*n - 5)", "sqrt(n + 1)", "log(n + 2)", "(n - 5)**2", "1/(n**2 + 1)"]
)
def test_a_factor_with_a_value_at_every_step_is_taken(b: str) -> None:
    assert declared("m1", ("grad", "1/2", b)).momentum[0].b


def test_a_small_eps_asks_for_a_small_step() -> None:
    """Centred RMSProp: m2 - m3^2 is O(h^2) on the true history, and 0 on a constant one."""
    said = [
        str(a)
        for a in symmem.derive(declared("m1/sqrt(m2 - m3**2 + eps)", *CENTRED, **BETA, **EPS)).assumptions
    ]
    assert [s for s in said if "is eps on a constant history" in s and "order of lr**2, to be" in s]
    two = (("grad", "beta", AVERAGE), ("grad", "0", "1"))
    said = [str(a) for a in symmem.derive(declared("m1/(m1 - m2 + eps)", *two, **BETA, **EPS)).assumptions]
    assert [s for s in said if "is eps on a constant history" in s and "order of lr, to be" in s]
    adam = [str(a) for a in symmem.derive("adam").assumptions]
    assert not [s for s in adam if "much smaller" in s]


def test_the_true_variance_is_of_that_size() -> None:
    """The numbers behind it: along a trajectory m2 - m3^2 falls by 4 when h is halved."""
    optimizer = declared("m1", ("grad", "0", "1"))
    beta, sizes = Rational(4, 5), []
    for lr in (Rational(1, 20000), Rational(1, 40000)):
        path = Literal(optimizer, {}, LOSS).run(THETA, lr, 80, 30)
        slopes = [LOSS.gradient(point)[0] for point in path]
        first = sum(float(1 - beta) * float(beta) ** k * g for k, g in enumerate(reversed(slopes)))
        second = sum(float(1 - beta) * float(beta) ** k * g**2 for k, g in enumerate(reversed(slopes)))
        rest = float(beta) ** len(slopes)
        sizes.append(second / (1 - rest) - (first / (1 - rest)) ** 2)
    assert abs(sizes[0] / sizes[1] - 4) < 0.2


# --- random declarations, singular ones among them

FACTORS = [
    "1",
    "1 - p",
    "1/(n + 1)",
    "p**n",
    "n",
    "n - 2",
    "1/(n - 4)",
    "(1 - p)/(1 - p**(n + 1))",
    "1 - p**n",
    "2 + sin(n)",
]
SOURCES = ["grad", "grad**2", "theta", "1", "-grad"]
PARTS = ["{x}", "1/{x}", "{x}/sqrt({y})", "{x}/({x} - {y})", "sqrt(abs({x}))", "log({x}**2)", "{x}/sqrt({y}**2 + q)",
         "{x}/sqrt({y} - {x}**2)", "tanh({x}/{y})", "sign({x})*{y}", "exp({x})",
         "{x}/({y}**2 - {y}*{y} + {x})"]  # fmt: skip


@st.composite
def declarations(draw: st.DrawFn) -> Optimizer | None:
    count = draw(st.integers(1, 3))
    momentum = [
        Momentum(
            draw(st.sampled_from(SOURCES)),
            draw(st.sampled_from(["0", "p", "1/2"])),
            draw(st.sampled_from(FACTORS)),
        )
        for _ in range(count)
    ]
    names = [f"m{k}" for k in range(1, count + 1)]
    phi = " + ".join(draw(st.sampled_from(PARTS)).format(x=x, y=draw(st.sampled_from(names))) for x in names)
    used = f"{phi.replace('sqrt', '').replace('exp', '')} {' '.join(f'{m.beta} {m.b}' for m in momentum)}"
    values = {
        "p": {"default": Rational(3, 5), "range": "(0, 1)"},
        "q": {"default": Rational(1, 3), "range": "(0, 1)"},
    }
    try:
        return Optimizer("random", phi, momentum, {k: v for k, v in values.items() if k in used})
    except SymmemError:
        return None


@given(declarations())
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_declarations_give_values_or_reasons(optimizer: Optimizer | None) -> None:
    if optimizer is None:
        return
    for text in outputs(optimizer, ("numpy",)):
        assert_no_infinity(text)
    derivation, literal = symmem.derive(optimizer), Literal(optimizer, {}, LOSS)
    results = [derivation.F, derivation.M]
    results += [] if isinstance(derivation.limit, Missing) else [derivation.limit.F, derivation.limit.M]
    for result in results:
        if isinstance(result, Expr):
            assert all(map(isfinite, _at_the_probe(result, literal)))


def _at_the_probe(result: Expr, literal: Literal) -> list[object]:
    """The value at a probe; none where a root or a logarithm is not real there, as for the optimizer itself."""
    try:
        return number_of(result, literal, n=5)
    except VerificationError as refusal:
        return [] if "real" in str(refusal) else [float("nan")]
