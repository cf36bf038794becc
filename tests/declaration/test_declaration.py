"""Declarations: what is read, exactly; what is refused, with the place, the cause and the way out."""

from __future__ import annotations

import copy
import dataclasses
import io
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Float, Function, I, Integer, Max, Rational, Symbol, oo, pi

from symmem.declaration.interval import Interval
from symmem.declaration.loading import load, source_text
from symmem.declaration.optimizer import Momentum, Optimizer, Parameter, TorchSpelling, VectorFunction
from symmem.declaration.tex import check_latex, latex_of_name
from symmem.declaration.toml import read_toml
from symmem.errors import DeclarationError, SymmemError

n, beta, grad, theta, m1, m2 = (Symbol(name) for name in ("n", "beta", "grad", "theta", "m1", "m2"))

GOOD = r"""
name = "mine"
title = "Mine"
reference = "Someone 2020"
phi = "m1 / sqrt(m2 + eps) + gradK(m1)"

[parameters]
beta = { default = 0.9, latex = '\beta', range = "[0, 1)" }
eps = { default = 1e-8, range = "(0, inf)" }

[functions]
gradK = { latex = '\nabla K', potential = "K" }

[[momentum]]
g = "grad"
beta = "beta"
b = "(1 - beta) / (1 - beta**(n + 1))"

[[momentum]]
g = "grad**2"
beta = "0.1"
b = "1"

[torch]
arguments = { betas = ["beta"], eps = "eps" }
state = { m1 = "exp_avg" }
"""


def heavy_ball(**changes: object) -> Optimizer:
    fields: dict[str, object] = {
        "name": "mine",
        "phi": "m1",
        "momentum": [Momentum("grad", "beta", "1")],
        "parameters": {"beta": 0.9},
    }
    return Optimizer(**{**fields, **changes})  # type: ignore[arg-type]


def refusal(action: object, *arguments: object) -> str:
    with pytest.raises(DeclarationError) as caught:
        action(*arguments)  # type: ignore[operator]
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 500
    return message


def test_a_file_is_read_exactly() -> None:
    optimizer = read_toml(GOOD, "mine.toml")
    eps = Symbol("eps")
    assert optimizer.phi == m1 / (m2 + eps) ** Rational(1, 2) + Function("gradK")(m1)
    assert optimizer.momentum == (
        Momentum(grad, beta, (1 - beta) / (1 - beta ** (n + 1))),
        Momentum(grad**2, Rational(1, 10), Integer(1)),
    )
    assert optimizer.parameters == (
        Parameter("beta", Rational(9, 10), r"\beta", Interval(0, 1, False, True)),
        Parameter("eps", Rational(1, 10**8), r"\mathrm{eps}", Interval(0, oo, True, True)),
    )
    assert optimizer.functions == (VectorFunction("gradK", r"\nabla K", "K"),)
    assert optimizer.torch == TorchSpelling({"betas": ("beta",), "eps": "eps"}, {"m1": "exp_avg"})
    assert (optimizer.name, optimizer.title, optimizer.reference) == ("mine", "Mine", "Someone 2020")
    assert optimizer.source == "mine.toml"
    assert optimizer.symbols == {"beta": r"\beta", "eps": r"\mathrm{eps}"}
    assert optimizer.defaults == {"beta": Rational(9, 10), "eps": Rational(1, 10**8)}


def test_python_spells_the_same_optimizer_in_several_ways() -> None:
    one = heavy_ball()
    interval = Interval.parse("(-1, 1)")
    others = [
        heavy_ball(momentum=({"g": "grad", "beta": "beta", "b": 1},)),
        heavy_ball(momentum=(Momentum(grad, beta, Fraction(1)),), phi=m1),
        heavy_ball(momentum=[Momentum(Symbol("grad", real=True), Symbol("beta", positive=True), "1")]),
        heavy_ball(parameters=(Parameter("beta", Rational(9, 10), r"\beta", interval),)),
        heavy_ball(parameters={"beta": Parameter("beta", Decimal("0.9"), "", interval)}),
        heavy_ball(parameters={"beta": {"default": Fraction(9, 10), "range": "(-1, 1)"}}, title="mine"),
        heavy_ball(source="elsewhere.toml"),
    ]
    for other in others:
        assert other == one
        assert hash(other) == hash(one)
    assert heavy_ball(parameters={"beta": 0.8}) != one
    assert one.title == "mine"


def test_records_are_frozen_and_travel() -> None:
    optimizer = read_toml(GOOD)
    with pytest.raises(dataclasses.FrozenInstanceError):
        optimizer.phi = m1  # type: ignore[misc]
    assert optimizer.torch is not None
    with pytest.raises(TypeError):
        optimizer.torch.state["m2"] = "x"  # type: ignore[index]
    assert pickle.loads(pickle.dumps(optimizer)) == optimizer
    assert copy.deepcopy(optimizer) == optimizer
    assert len({optimizer, copy.deepcopy(optimizer)}) == 1


def test_a_decay_without_a_range_gets_one() -> None:
    assert str(heavy_ball().parameters[0].range) == "(-1, 1)"
    assert "it is a beta with the default 1: with beta = 1 memory does not fade (Adagrad" in refusal(
        lambda: heavy_ball(parameters={"beta": 1})
    )
    assert "it is a beta: the default 3/2 is outside the range (-1, 1)" in refusal(
        lambda: heavy_ball(parameters={"beta": 1.5})
    )


def test_with_values() -> None:
    optimizer = read_toml(GOOD, "mine.toml").with_values({"beta": "0.5"})
    assert optimizer.momentum[0] == Momentum(
        grad, Rational(1, 2), Rational(1, 2) / (1 - Rational(1, 2) ** (n + 1))
    )
    assert [parameter.name for parameter in optimizer.parameters] == ["eps"]
    assert optimizer.values == (("beta", Rational(1, 2)),)
    assert optimizer.torch == TorchSpelling({"eps": "eps"}, {"m1": "exp_avg"})
    both = optimizer.with_values({"eps": Rational(1, 4)})
    assert both.parameters == ()
    assert both.phi == m1 / (m2 + Rational(1, 4)) ** Rational(1, 2) + Function("gradK")(m1)
    assert both.values == (("beta", Rational(1, 2)), ("eps", Rational(1, 4)))


def test_with_values_may_switch_a_variable_off() -> None:
    adamw = load("adamw").with_values({"weight_decay": 0, "beta1": 0})
    assert adamw.momentum[2].b == 0
    assert adamw.momentum[0] == Momentum("grad", "0", "1")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"betta": 1}, "mine.toml: 'betta' is not a parameter; known are beta, eps; did you mean beta?"),
        ({"lr": 1}, "lr is the learning rate"),
        ({"beta": 1}, "beta = 1 is outside its range [0, 1)"),
        ({"eps": 0}, "eps = 0 is outside its range (0, inf)"),
        ({"beta": "half"}, "'half' is not a decimal number"),
        ({"beta": "1/0"}, "'1/0' divides by zero"),
        ({"beta": "1/2/3"}, "'2/3' is not a decimal number"),
        ({"beta": True}, "True is not a number"),
        ({"beta": float("nan")}, "not a finite number"),
    ],
)
def test_with_values_refuses(values: dict[str, object], reason: str) -> None:
    assert reason in refusal(read_toml(GOOD, "mine.toml").with_values, values)


def test_with_values_refuses_a_division_by_zero() -> None:
    optimizer = heavy_ball(momentum=[Momentum("grad", "beta", "1/a")], parameters={"beta": 0.9, "a": 1})
    assert refusal(optimizer.with_values, {"a": 0}).startswith("mine: momentum 1: b: division by zero")


# Each line: what is replaced in GOOD, by what, the place that the error names, and its cause.
BAD = [
    # names and texts
    ('name = "mine"', 'name = "Mine"', "name", "'Mine' is not a name"),
    ('name = "mine"', 'name = "../mine"', "name", "is not a name"),
    ('name = "mine"', 'name = "a--b"', "name", "is not a name"),
    ('name = "mine"', f'name = "{"a" * 65}"', "name", "at most 64"),
    ('name = "mine"', "name = 3", "name", "3 is not text"),
    ('name = "mine"', "", "", "name is missing"),
    ('title = "Mine"', 'title = "3D"', "title", "needs a letter before its first digit"),
    ('title = "Mine"', 'title = "--"', "title", "needs a letter"),
    ('title = "Mine"', 'title = "a\\nb"', "title", "one printable line"),
    ('title = "Mine"', "title = 3", "title", "3 is not text"),
    ('"Someone 2020"', '"a\\u0007"', "reference", "one printable line"),
    (
        "[parameters]\nbeta",
        "[parameters]\nlr = { default = 1 }\nbeta",
        "parameters: lr",
        "the learning rate",
    ),
    (
        "[parameters]\nbeta",
        "[parameters]\nm7 = { default = 1 }\nbeta",
        "parameters: m7",
        "reserved in formulas",
    ),
    ("[parameters]\nbeta", "[parameters]\nD2L = { default = 1 }\nbeta", "parameters: D2L", "reserved"),
    (
        "[parameters]\nbeta",
        "[parameters]\nd3 = { default = 1 }\nbeta",
        "parameters: d3",
        "an argument of emitted functions",
    ),
    (
        "[parameters]\nbeta",
        "[parameters]\nx_jvp2 = { default = 1 }\nbeta",
        "parameters: x_jvp2",
        "reserved in formulas, for derivatives",
    ),
    (
        "[parameters]\nbeta",
        "[parameters]\nhvp = { default = 1 }\nbeta",
        "parameters: hvp",
        "an argument of emitted functions",
    ),
    (
        "[parameters]\nbeta",
        "[parameters]\nsqrt = { default = 1 }\nbeta",
        "parameters: sqrt",
        "known function",
    ),
    ("[parameters]\nbeta", "[parameters]\nlambda = { default = 1 }\nbeta", "parameters: lambda", "keyword"),
    ("[parameters]\nbeta", "[parameters]\n_a = { default = 1 }\nbeta", "parameters: _a", "is not a name"),
    ("[parameters]\nbeta", '[parameters]\n"a b" = { default = 1 }\nbeta', "parameters: a b", "is not a name"),
    ("[parameters]\nbeta", '[parameters]\n"é" = { default = 1 }\nbeta', "parameters: é", "is not a name"),
    ("gradK = {", "beta = {}\ngradK = {", "functions: beta", "declared twice"),
    ('potential = "K"', 'potential = "eps"', "functions: eps", "declared twice"),
    ('potential = "K"', 'potential = "theta"', "functions: gradK: potential", "reserved"),
    ('potential = "K"', "potential = 3", "functions: gradK: potential", "3 is not a name"),
    # keys and types
    ('title = "Mine"', 'titel = "Mine"', "", "unknown key 'titel'; known are name, title"),
    ('title = "Mine"', 'titel = "Mine"', "", "did you mean title?"),
    ('potential = "K"', 'potental = "K"', "functions: gradK", "did you mean potential?"),
    ('b = "1"', 'b = "1"\nbb = "1"', "momentum 2", "unknown key 'bb'; known are g, beta, b"),
    (
        'b = "1"',
        'b = "1"\ndecay = "1"',
        "momentum 2",
        "known are g, beta, b, delay, start; here it is called beta",
    ),
    (
        "default = 1e-8",
        'default = 1e-8, latex = "\\beta_1"',
        "parameters: eps",
        "in single quotes, '\\beta_1'",
    ),
    ("default = 1e-8", 'default = 1e-8, latex = "\\nu"', "parameters: eps", "in single quotes, '\\nu'"),
    ('b = "1"', "", "momentum 2", "b is missing"),
    (
        'g = "grad**2"',
        "g = true",
        "momentum 2: g",
        "is neither text nor a number; write a number, or a formula",
    ),
    ("[torch]", "[torch]\nstat = {}", "torch", "unknown key 'stat'"),
    ('eps = { default = 1e-8, range = "(0, inf)" }', "eps = [1e-8]", "parameters: eps", "is not a number"),
    ("default = 1e-8", "defalt = 1e-8", "parameters: eps", "did you mean default?"),
    # numbers and ranges
    ("default = 1e-8, ", "", "parameters: eps", "the default is missing"),
    ("default = 1e-8", "default = 'x'", "parameters: eps", "'x' is text"),
    ("default = 1e-8", "default = true", "parameters: eps", "True is not a number"),
    ("default = 1e-8", "default = nan", "parameters: eps", "not a finite number"),
    ("default = 1e-8", "default = inf", "parameters: eps", "not a finite number"),
    ("default = 1e-8", "default = [1]", "parameters: eps", "[1] is not a number"),
    ("default = 1e-8", "default = 2020-01-01", "parameters: eps", "is not a number"),
    ("default = 1e-8", "default = 1e-999999", "parameters: eps", "too large an exponent"),
    ("default = 1e-8", f"default = {'9' * 5000}", "", "too large"),
    ("default = 1e-8", "default = 0", "parameters: eps", "the default 0 is outside the range (0, inf)"),
    ("default = 0.9", "default = 1.0", "parameters: beta", "the default 1 is outside the range [0, 1)"),
    ('"(0, inf)"', '"(0, inf]"', "parameters: eps", "closed at infinity"),
    ('"(0, inf)"', '"[1, 0]"', "parameters: eps", "swap them"),
    ('"(0, inf)"', '"(1, 1]"', "parameters: eps", "no numbers in it"),
    ('"(0, inf)"', '"(inf, -inf)"', "parameters: eps", "no numbers in it"),
    ('"(0, inf)"', '"(nan, 1)"', "parameters: eps", "'nan' is not a decimal number"),
    ('"(0, inf)"', '"0..1"', "parameters: eps", "cannot be read"),
    ('"(0, inf)"', "3", "parameters: eps", "the range 3 cannot be read"),
    # LaTeX
    ("'\\beta'", "'\\beta_{1'", "parameters: beta: latex", "unbalanced braces"),
    ("'\\beta'", "'}{'", "parameters: beta: latex", "unbalanced braces"),
    ("'\\beta'", '"a\\nb"', "parameters: beta: latex", "column 2"),
    ("'\\beta'", "'\\input{x}'", "parameters: beta: latex", "\\input is not among the known"),
    ("'\\beta'", "'a%b'", "parameters: beta: latex", "column 2"),
    ("'\\beta'", "'$a$'", "parameters: beta: latex", "column 1"),
    ("'\\beta'", "'^^41'", "parameters: beta: latex", "column 1"),
    ("'\\beta'", "''", "parameters: beta", "is not a LaTeX symbol"),
    ("'\\beta'", "3", "parameters: beta", "is not a LaTeX symbol"),
    # symbols where they do not belong
    (
        "m2 + eps",
        "m2 + epsi",
        "phi",
        "unknown symbol 'epsi'; known here: m1, m2, beta, eps; did you mean eps?",
    ),
    ("m2 + eps", "m2 + eps*lr", "phi", "lr is the learning rate"),
    ('b = "1"', 'b = "lr"', "momentum 2: b", "lr is the learning rate"),
    ("m2 + eps", "m2 + m3 + eps", "phi", "m3 is not declared: there is m1 to m2"),
    ("m2 + eps", "eps", "momentum 2", "phi never uses m2"),
    ("m2 + eps", "m2 + eps + grad", "phi", 'make it a momentum variable: g = "grad", beta = "0"'),
    ("m2 + eps", "m2 + eps + theta", "phi", 'make it a momentum variable: g = "theta", beta = "0"'),
    ("m2 + eps", "m2 + eps*n", "phi", 'explicit dependence on n goes in a b, for example of g = "1"'),
    ('b = "1"', 'b = "theta"', "momentum 2: b", "theta is not known in b; put it in g"),
    ('b = "1"', 'b = "grad"', "momentum 2: b", "grad is not known in b; put it in g"),
    ('b = "1"', 'b = "m1"', "momentum 2: b", "a momentum variable is not known in b"),
    ('b = "1"', 'b = "k"', "momentum 2: b", "unknown symbol 'k'; known here: n, beta, eps"),
    (
        'g = "grad**2"',
        'g = "grad**2/(n + 1)"',
        "momentum 2: g",
        "n is not known in g; dependence on n goes in b",
    ),
    (
        'g = "grad**2"',
        'g = "grad*m2"',
        "momentum 2: g",
        "m2 stands in its own g: its past enters through beta",
    ),
    ('g = "grad"', 'g = "grad*m2"', "momentum 1: g", "m2 stands below: a g reads the variables above it"),
    ('g = "grad**2"', 'g = "grad*m7"', "momentum 2: g", "m7 is not declared: there is m1 to m2"),
    ('g = "grad**2"', 'g = "lr*grad"', "momentum 2: g", "a state that depends on it (Lookahead, Adadelta)"),
    ('g = "grad**2"', 'g = "grad - grad_prev"', "momentum 2: g", 'g = "grad", delay = 1'),
    (
        'g = "grad**2"',
        'g = "max(m2, m1)"',
        "momentum 2: g",
        "a running maximum (AMSGrad, AdaMax)",
    ),
    ("m2 + eps", "m2 + eps/lr", "phi", "an update that divides by it (Lookahead, Adadelta)"),
    ('beta = "0.1"', 'beta = "n/(n + 1)"', "momentum 2: beta", "(Schedule-Free, Adafactor without a cap)"),
    # delays
    ('beta = "0.1"', 'beta = "0.1"\ndelay = 1', "momentum 2", "delay stands in the place of beta"),
    ('beta = "0.1"', "delay = 0", "momentum 2", "delay: 0 steps are no delay"),
    ('beta = "0.1"', "delay = -1", "momentum 2", "delay: -1 is not a whole number of steps from 1 to 256"),
    ('beta = "0.1"', "delay = 1.5", "momentum 2", "is not a whole number of steps from 1 to 256"),
    ('beta = "0.1"', 'delay = "1"', "momentum 2", "delay: '1' is not a whole number of steps"),
    ('beta = "0.1"', "delay = true", "momentum 2", "delay: True is not a whole number of steps"),
    ('beta = "0.1"', "delay = 1000", "momentum 2", "is not a whole number of steps from 1 to 256"),
    ('beta = "0.1"', "delay = 1\nstart = 1", "momentum 2", 'start: 1 is neither "first" nor 0'),
    ('beta = "0.1"', 'beta = "0.1"\nstart = 0', "momentum 2", "start belongs to a delay"),
    ('beta = "0.1"', 'beta = "1/(n + 2)"', "momentum 2: beta", "beta is a constant and cannot use n"),
    ('beta = "0.1"', 'beta = "theta"', "momentum 2: beta", "beta is a constant and cannot use theta"),
    ('beta = "0.1"', 'beta = "grad"', "momentum 2: beta", "beta is a constant and cannot use grad"),
    ('beta = "0.1"', 'beta = "m1"', "momentum 2: beta", "beta is a constant and cannot use a momentum"),
    # decays
    (
        'beta = "0.1"',
        'beta = "1"',
        "momentum 2: beta",
        "1 is outside (-1, 1); with beta = 1 memory does not fade",
    ),
    ('beta = "0.1"', 'beta = "-1"', "momentum 2: beta", "-1 is outside (-1, 1);"),
    ('beta = "0.1"', 'beta = "-1.1"', "momentum 2: beta", "-11/10 is outside (-1, 1);"),
    ('beta = "0.1"', 'beta = "sqrt(2)"', "momentum 2: beta", "sqrt(2) is outside (-1, 1);"),
    (
        'beta = "0.1"',
        'beta = "1 + beta"',
        "momentum 2: beta",
        "19/10 is outside (-1, 1) at the default values",
    ),
    (
        'beta = "0.1"',
        'beta = "1/(beta - 0.9)"',
        "momentum 2: beta: at the default values",
        "division by zero",
    ),
    (
        'range = "[0, 1)"',
        'range = "[0, 1]"',
        "momentum 1: beta",
        "beta has the range [0, 1]; it must lie in (-1, 1)",
    ),
    ('range = "[0, 1)"', 'range = "(-1, 1]"', "momentum 1: beta", "beta has the range (-1, 1]"),
    # functions
    ("gradK(m1)", "gradJ(m1)", "phi", "unknown function 'gradJ'"),
    ("gradK(m1)", "gradJ(m1)", "phi", "did you mean gradK?"),
    ("gradK(m1)", "gradK", "phi", "the function gradK needs an argument"),
    ("gradK(m1)", "gradK(eps)", "phi", "the function gradK takes one vector"),
    ("gradK(m1)", "gradK(m1, m2)", "phi", "the function gradK takes one vector"),
    ("gradK(m1)", "m1(m2)", "phi", "m1 is a vector, not a function"),
    ("gradK(m1)", "m1", "functions: gradK", "no expression uses it"),
    ('b = "1"', 'b = "gradK(n)"', "momentum 2: b", "gives a vector and b is a scalar"),
    ("gradK(m1)", "max(m1, m2)", "phi", "max is not known"),
    # use, zero, infinity
    (
        "[parameters]\nbeta",
        "[parameters]\nrho = { default = 1 }\nbeta",
        "parameters: rho",
        "no expression uses it",
    ),
    ('b = "1"', 'b = "0"', "momentum 2: b", "is zero, so m2 does nothing"),
    ('b = "1"', 'b = "beta - beta"', "momentum 2: b", "is zero"),
    ('b = "1"', 'b = "(1 - beta)**2 - 1 + 2*beta - beta**2"', "momentum 2: b", "is zero"),
    ('g = "grad**2"', 'g = "0"', "momentum 2: g", "is zero"),
    ('b = "1"', 'b = ""', "momentum 2: b", "empty"),
    ('phi = "m1 / sqrt(m2 + eps) + gradK(m1)"', 'phi = " "', "phi", "empty"),
    ('phi = "m1 / sqrt(m2 + eps) + gradK(m1)"', "", "", "phi is missing"),
    ('b = "1"', 'b = "1/n"', "momentum 2: b: at n = 0 and the default values", "division by zero"),
    ('b = "1"', 'b = "1/(n - 2)"', "momentum 2: b: at n = 2", "division by zero"),
    ('b = "1"', 'b = "log(n)"', "momentum 2: b: at n = 0", "logarithm of zero"),
    ('b = "1"', 'b = "sqrt(1 - n)"', "momentum 2: b: at n = 2", "root of a negative number"),
    ('b = "1"', 'b = "1/(1 - 1)"', "momentum 2: b", "column 1: division by zero"),
    ('b = "1"', 'b = "2**n**n**(9*n)"', "momentum 2: b: at n = 2", "too large"),
    ("m2 + eps)", "m2 + eps) + m1/((m1 + m2)**2 - m1**2 - 2*m1*m2 - m2**2)", "phi", "division by zero"),
    ('g = "grad**2"', 'g = "grad/(beta - 0.9)"', "momentum 2: g: at the default values", "division by zero"),
    ("m2 + eps", "m2 ^ eps", "phi", "write **"),
    # torch
    (
        'eps = "eps"',
        'eps = "epsilon"',
        "torch: arguments: eps",
        "'epsilon' is not a parameter; known are beta, eps",
    ),
    ('eps = "eps"', "eps = 3", "torch: arguments: eps", "3 is not a parameter's name"),
    ('eps = "eps"', "eps = []", "torch: arguments: eps", "is not a parameter's name or a list"),
    ('eps = "eps"', '"e s" = "eps"', "torch: arguments", "'e s' is not a Python name"),
    ('m1 = "exp_avg"', 'm3 = "exp_avg"', "torch: state", "'m3' is not a momentum variable; known are m1, m2"),
    ('m1 = "exp_avg"', "m1 = 3", "torch: state: m1", "3 is not text"),
    (
        "[torch]",
        '[torch]\nnumbers = { c = "n*gamma" }',
        "torch: numbers: c",
        "'gamma' is not a parameter; known are",
    ),
    ("[torch]", '[torch]\nnumbers = { c = "n +" }', "torch: numbers: c", ""),
    ("[torch]", '[torch]\nnumbers = { "a b" = "n" }', "torch: numbers", "is not a Python name"),
    ("[torch]", '[torch]\nnumbers = { step = "n" }', "torch: state and numbers", 'or one is "step"'),
    ("[torch]", '[torch]\nnumbers = { exp_avg = "n" }', "torch: state and numbers", "have the same name"),
    ('m1 = "exp_avg"', 'm1 = "a b"', "torch: state: m1", "is not a Python name"),
    # TOML itself
    ('name = "mine"', "name = mine", "", "not TOML: Invalid value (at line 2, column 8)"),
    ('name = "mine"', 'name = "mine"\nname = "mine"', "", "not TOML"),
]


@pytest.mark.parametrize(
    ("old", "new", "place", "cause"), BAD, ids=[f"{place}-{cause}"[:60] for _, _, place, cause in BAD]
)
def test_a_bad_file_is_refused_by_its_cause(old: str, new: str, place: str, cause: str) -> None:
    assert GOOD.count(old) >= 1
    message = refusal(read_toml, GOOD.replace(old, new, 1), "mine.toml")
    assert message.startswith(f"mine.toml: {place}" if place else "mine.toml: ")
    assert cause in message


def test_no_momentum_variable_or_too_many() -> None:
    assert "mine: momentum: there is no momentum variable" in refusal(lambda: heavy_ball(momentum=[]))
    many = [Momentum("grad", "0", "1")] * 65
    assert "mine: momentum: more than 64" in refusal(lambda: heavy_ball(momentum=many))
    assert "write [[momentum]]" in refusal(
        read_toml, 'name = "a"\nphi = "m1"\n[momentum]\ng = "grad"', "a.toml"
    )


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"name": 3}, "name: 3 is not a name"),
        ({"phi": 0.5}, "momentum 1: phi never uses m1"),
        ({"phi": True}, "phi: True is not an expression"),
        ({"phi": Float("0.5") * m1}, "phi: '0.500000000000000' is not in the language"),
        ({"phi": Max(m1, 0)}, "phi: 'Max(0, m1)' is not in the language"),
        ({"phi": I * m1}, "phi: 'I' is not in the language"),
        ({"phi": oo}, "phi: 'oo' is not in the language"),
        ({"momentum": "grad"}, "momentum: expected a list"),
        ({"momentum": 3}, "momentum: expected a list"),
        ({"momentum": [3]}, "momentum 1: expected a table, got 3"),
        ({"parameters": 3}, "parameters: 3 is not a Parameter"),
        ({"parameters": "beta"}, "parameters: 'beta' is not a Parameter"),
        (
            {"parameters": (Parameter("beta", 0), Parameter("beta", 0))},
            "parameters: beta: the name 'beta' is declared twice",
        ),
        ({"parameters": {"beta": Parameter("rho", 0)}}, "parameters: beta: the record has the name 'rho'"),
        ({"parameters": {3: 0.9}}, "parameters: 3: 3 is not a name"),
        ({"functions": {"f": 3}}, "functions: f: expected a table"),
        ({"torch": 3}, "torch: expected a table"),
        ({"reference": None}, "reference: None is not text"),
    ],
)
def test_python_is_refused_like_a_file(changes: dict[str, object], cause: str) -> None:
    assert cause in refusal(lambda: heavy_ball(**changes))


def test_momentum_stands_alone() -> None:
    assert Momentum("gradK(grad)", "0", "1").g == Function("gradK")(grad)
    assert Momentum(pi * grad, 0, "1").g == pi * grad
    assert refusal(Momentum, "grad", "0", "1/0").startswith("b: column 1: division by zero")
    assert refusal(Momentum, "x.y", "0", "1").startswith("g: column 1: names have no dots")
    assert "unknown function 'factorial'" in refusal(
        lambda: heavy_ball(momentum=[Momentum("factorial(grad)", "beta", "1")])
    )


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("[0, 1)", ["0", "0.5", "0.9999999999999999999"], ["1", "-1e-300"]),
        ("(0, inf)", ["1e-300", "1e300"], ["0", "-1"]),
        ("(-inf, inf)", ["-1e300", "0"], []),
        ("[-1.5, 0.1]", ["-1.5", "0.1"], ["0.10000000000000000001"]),
        ("[2, 2]", ["2"], ["1"]),
    ],
)
def test_intervals(text: str, inside: list[str], outside: list[str]) -> None:
    interval = Interval.parse(text)
    assert all(interval.contains(value) for value in inside)
    assert not any(interval.contains(value) for value in outside)
    assert Interval.parse(str(interval)) == interval


def test_interval_text_and_order() -> None:
    assert [str(Interval.parse(text)) for text in ("[0,1)", " ( 0 , +inf ) ", "(-inf,0.5]")] == [
        "[0, 1)",
        "(0, inf)",
        "(-inf, 1/2]",
    ]
    assert Interval.parse("(0, 1)").within(Interval.parse("[0, 1)"))
    assert not Interval.parse("[0, 1)").within(Interval.parse("(0, 1)"))
    assert not Interval.parse("[0, 1]").within(Interval.parse("[0, 1)"))


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("beta", r"\beta"),
        ("beta1", r"\beta_1"),
        ("beta_2", r"\beta_2"),
        ("rho12", r"\rho_{12}"),
        ("Gamma", r"\Gamma"),
        ("weight_decay", r"\mathrm{weight\_decay}"),
        ("eps", r"\mathrm{eps}"),
        ("a", "a"),
        ("a1", "a_1"),
        ("b12", "b_{12}"),
    ],
)
def test_latex_of_a_name(name: str, latex: str) -> None:
    assert latex_of_name(name) == latex
    assert check_latex(latex) == latex


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(GOOD, encoding="utf-8")
    assert load(file) == load(str(file)) == read_toml(GOOD)
    assert load(file).source == str(file)
    assert source_text(str(file)) == GOOD
    monkeypatch.chdir(tmp_path)
    assert load("mine.toml") == read_toml(GOOD)
    (tmp_path / "plain").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert load("plain") == read_toml(GOOD)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert load("-") == read_toml(GOOD)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x")))
    assert refusal(load, "-").startswith("standard input: not TOML")


def test_file_errors_name_the_file(tmp_path: Path) -> None:
    missing, folder, binary, large = (tmp_path / name for name in ("none.toml", "dir", "b.toml", "l.toml"))
    folder.mkdir()
    binary.write_bytes(b"name = '\xff'")
    large.write_bytes(b"#" * 1_000_001)
    for path, cause in (
        (missing, "no such file"),
        (folder, "is a directory"),
        (binary, "not UTF-8 at byte 8"),
        (large, "larger than"),
    ):
        message = refusal(load, str(path))
        assert message.startswith(f"{path}: ")
        assert cause in message
    assert "cannot be read" in refusal(load, "a\0.toml")
    assert "cannot be read" in refusal(load, f"{binary}/x.toml")
    assert "'admaw' is neither in the zoo nor a file; did you mean adamw?" in refusal(load, "admaw")
    assert "see symmem list" in refusal(load, "zzzzzz")
    assert "neither" in refusal(load, "")
    assert "not an optimizer's name" in refusal(load, 3)


def test_show_refuses_what_is_not_valid(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(GOOD.replace("m2 + eps", "m2 + grad"), encoding="utf-8")
    assert "make it a momentum variable" in refusal(source_text, str(file))


def test_errors_are_one_class_and_one_line() -> None:
    error = DeclarationError("a\nb\x00")
    assert isinstance(error, SymmemError)
    assert str(error) == "a\\nb\\x00"
    assert str(error.within("c")) == "c: a\\nb\\x00"
    assert type(error.within("c")) is DeclarationError


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.integers(0, 30), st.text(max_size=12))
def test_a_damaged_file_is_read_or_refused(start: int, length: int, patch: str) -> None:
    try:
        read_toml(GOOD[:start] + patch + GOOD[start + length :], "mine.toml")
    except DeclarationError as error:
        message = str(error)
    else:
        return
    assert message.startswith("mine.toml: ")


def test_the_index_of_the_zoo_does_not_wait_for_sympy() -> None:
    program = "import sys, symmem.declaration.catalogue as c; c.entries(); print('sympy' in sys.modules)"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=root, check=True
    )
    assert done.stdout.strip() == "False"


# citations

CITED = """
[citation.kingma2015]
type = "inproceedings"
author = "Kingma, Diederik P. and Ba, Jimmy"
title = "Adam"
year = "2015"
"""


def test_citations_are_read() -> None:
    text = 'name = "mine"\nphi = "m1"\n[[momentum]]\ng = "grad"\nbeta = "0"\nb = "1"\n'
    optimizer = read_toml(text + CITED)
    (work,) = optimizer.citations
    assert (work.key, work.type, work["author"]) == (
        "kingma2015",
        "inproceedings",
        "Kingma, Diederik P. and Ba, Jimmy",
    )
    assert work["journal"] == ""
    assert read_toml(text).citations == ()


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('year = "2015"', "", "year is missing"),
        ('year = "2015"', "year = 2015", "year"),
        ('type = "inproceedings"', 'type = "blog"', "blog"),
        ('title = "Adam"', 'titel = "Adam"', "did you mean title"),
        ("[citation.kingma2015]", '[citation."a b"]', "a b"),
        ("[citation.kingma2015]", "[[citation]]", "write [citation]"),
        ('title = "Adam"', 'title = "Adam\\n"', "title"),
    ],
)
def test_a_bad_citation_is_named(old: str, new: str, word: str) -> None:
    text = 'name = "mine"\nphi = "m1"\n[[momentum]]\ng = "grad"\nbeta = "0"\nb = "1"\n'
    with pytest.raises(DeclarationError) as error:
        read_toml(text + CITED.replace(old, new))
    assert word in str(error.value)
    assert "citation" in str(error.value)


def test_what_ends_at_zero_is_not_zero() -> None:
    """A rate or a factor that is 0 from some step on trains before; 0 itself does not."""
    parameters = {"steps": {"default": 100, "range": "[1, inf)"}}
    momentum = ({"g": "grad", "beta": 0, "b": "max(0, 3 - n)"},)
    rate = "1 + cos(pi*min(n, steps)/steps)"
    assert Optimizer("ends", "m1", momentum, parameters, schedule=rate).schedule is not None
    with pytest.raises(DeclarationError, match="schedule: rate: is zero"):
        Optimizer("nothing", "m1", momentum, {}, schedule="(n + 1)*2 - 2*n - 2")
