"""Declared smoothing: the theory sees the smooth function, the optimizer as it runs the other."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sympy import Abs, Function, Max, Min, Symbol, sign, sqrt, symbols

import symmem
from symmem import Optimizer
from symmem.declaration.kinks import EXAMPLES
from symmem.declaration.smoothing import Smooth
from symmem.declaration.toml import read_toml
from symmem.errors import DeclarationError
from symmem.method.reading import method_of
from symmem.verification.bruteforce import correction
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.vectors import relative_error

m1, m2, delta, beta, lr = symbols("m1 m2 delta beta lr")
FORM = """
name = "signs"
phi = "sign(m1) + max(m1, c) - clip(m2, -c, c)"

[parameters]
beta = { default = 0.5, range = "[0, 1)" }
delta = { default = 0.1, range = "(0, inf)" }
c = { default = 0.3, range = "(0, inf)" }

[[momentum]]
g = "grad"
beta = "beta"
b = "1 - beta"

[[momentum]]
g = "min(grad, theta)"
beta = "0"
b = "1"

[smooth]
sign = "x/sqrt(x**2 + delta)"
max = "(x + y + sqrt((x - y)**2 + delta))/2"
min = "(x + y - sqrt((x - y)**2 + delta))/2"
clip = "(lo + hi)/2 + (hi - lo)/2*tanh((2*x - lo - hi)/(hi - lo))"
"""
WRITTEN_OUT = (
    FORM[: FORM.index("[smooth]")]
    .replace("sign(m1)", "m1/sqrt(m1**2 + delta)")
    .replace("max(m1, c)", "(m1 + c + sqrt((m1 - c)**2 + delta))/2")
    .replace("clip(m2, -c, c)", "c*tanh(m2/c)")
    .replace("min(grad, theta)", "(grad + theta - sqrt((grad - theta)**2 + delta))/2")
)


def test_the_theory_is_that_of_the_smooth_formulas() -> None:
    found, written = (symmem.derive(read_toml(text)) for text in (FORM, WRITTEN_OUT))
    values = {"beta": "1/2", "delta": "1/10", "c": "3/10", "lr": "1/100", "n": 3}
    for pick in (lambda d: d.F, lambda d: d.M, lambda d: d.limit.M):
        numbers = [
            evaluate(pick(each), values, {"theta": probe_point()}, coupled_loss(), digits=20)
            for each in (found, written)
        ]
        assert relative_error(*numbers) < 1e-18
    literal = Literal(read_toml(WRITTEN_OUT), {}, coupled_loss())
    truth = correction(literal, probe_point(), 3, "1/100", 20)
    mine = evaluate(found.M, values, {"theta": probe_point()}, coupled_loss(), digits=20)
    assert relative_error(mine, truth) < 1e-15


def test_the_optimizer_as_it_runs_keeps_its_functions() -> None:
    optimizer = read_toml(FORM)
    assert optimizer.phi.has(sign, Function("max"), Function("clip"))
    assert not method_of(optimizer).phi.has(sign)
    literal = Literal(optimizer, {}, coupled_loss())
    theta = probe_point()
    gradient = coupled_loss().gradient(theta)
    limit = 0.3
    for entry, x, g in zip(literal.direction([theta]), theta, gradient, strict=True):
        first, second = float(g) / 2, float(min(g, x))
        exact = (1 if first > 0 else -1) + max(first, limit) - min(max(second, -limit), limit)
        assert abs(float(entry) - exact) < 1e-12


def test_values_and_the_report() -> None:
    optimizer = read_toml(FORM)
    given = optimizer.with_values(delta=Fraction(1, 4))
    assert delta in method_of(optimizer).phi.free_symbols
    assert delta not in method_of(given).phi.free_symbols
    said = [str(each) for each in symmem.derive(optimizer).assumptions]
    assert any("sign(x)" in each and "as it runs" in each for each in said)
    shown = str(symmem.derive(optimizer))
    assert "clip(x, lo, hi)" in shown
    assert "max(m" in shown


@pytest.mark.parametrize("formula", ["tanh(x/delta)", "x*abs(x)**2/delta", "x/(1 + abs(x)**3) + tan(x)"])
def test_what_has_two_derivatives_is_taken(formula: str) -> None:
    read_toml(FORM.replace("x/sqrt(x**2 + delta)", formula, 1))


@pytest.mark.parametrize("function", EXAMPLES)
def test_the_formula_that_is_advised_is_smooth_and_near(function: str) -> None:
    """With delta -> 0 it is the function itself, at numbers of its arguments."""
    x, y, lo, hi = symbols("x y lo hi")
    exact = {"sign": sign(x), "abs": Abs(x), "max": Max(x, y), "min": Min(x, y), "clip": Min(Max(x, lo), hi)}
    formula = Smooth(function, EXAMPLES[function]).formula
    for values in ((0.7, -0.2, -0.5, 0.3), (-0.9, 0.4, -0.5, 0.3), (0.1, 0.2, -0.5, 0.3)):
        given = dict(zip((x, y, lo, hi), values, strict=True))
        assert abs((formula - exact[function]).subs({**given, delta: 1e-14})) < 1e-6


def test_in_python() -> None:
    signum = Optimizer(
        name="signum", phi="sign(m1)", momentum=[{"g": "grad", "beta": "beta", "b": "1 - beta"}],
        parameters={"beta": {"default": 0.9, "range": "[0, 1)"}, "delta": {"default": 1e-6, "range": "(0, inf)"}},
        smooth={"sign": Symbol("x") / sqrt(Symbol("x") ** 2 + delta)},
    )  # fmt: skip
    assert method_of(signum).phi == m1 / sqrt(m1**2 + delta)
    assert not symmem.derive(signum).unknown


WRONG = [
    ('sign = "x/sqrt(x**2 + delta)"', 'sgn = "x"', "smooth: sgn: 'sgn' is not smoothed"),
    ('"x/sqrt(x**2 + delta)"', '"y"', "smooth: sign: the formula has no x"),
    ('"x/sqrt(x**2 + delta)"', '"x/sqrt(x**2 + dleta)"', "smooth: sign: unknown symbol 'dleta'"),
    ('"x/sqrt(x**2 + delta)"', "1", "smooth: sign: 1 is not a formula"),
    *(
        ('"x/sqrt(x**2 + delta)"', f'"{formula} + 0*delta"', "smooth: sign: the formula has a kink")
        for formula in (
            "sign(x)",
            "x/sqrt(x**2)",
            "x/abs(x)",
            "sign(x - delta)",
            "x/(abs(x) + delta)",
            "log(x)",
        )
    ),
    ("(x + y + sqrt((x - y)**2 + delta))/2", "(x + y + abs(x - y))/2", "smooth: max: the formula has a kink"),
    (
        "(x + y + sqrt((x - y)**2 + delta))/2",
        "x + y + ((x - y)**2)**(3/4)",
        "smooth: max: the formula has a kink",
    ),
    ("sign(m1)", "m1", "smooth: sign: neither phi nor a g has sign"),
    ('max = "(x', '# max = "(x', "phi: column 12: max is not known"),
    ('min = "(x', '# min = "(x', "momentum 2: g: column 1: min is not known"),
    ("max(m1, c)", "max(m1)", "phi: column 12: max takes 2 arguments"),
]


@pytest.mark.parametrize(("old", "new", "cause"), WRONG, ids=[new for _, new, _ in WRONG])
def test_a_wrong_smoothing_is_told_its_place(old: str, new: str, cause: str) -> None:
    assert old in FORM
    with pytest.raises(DeclarationError) as caught:
        read_toml(FORM.replace(old, new, 1), "mine.toml")
    assert str(caught.value).startswith(f"mine.toml: {cause}")
