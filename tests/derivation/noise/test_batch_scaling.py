"""The stochastic equation and the rules for a larger batch, against runs of the optimizers themselves."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from sympy import Rational, Symbol, lambdify

import symmem
from symmem.algebra.results import Missing
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.noise.batch_scaling import BatchScaling, ScalingRule, batch_scaling
from symmem.derivation.noise.stochastic import StochasticEquation, stochastic_equation
from symmem.method.reading import method_of

SLOPE = Rational(3, 10)
VALUES = {"beta": "2/5", "beta1": "1/5", "beta2": "1/2", "eps": "1/5", "weight_decay": "1/10", "nu": "3/4"}
Rule = dict[str, Rational]


def end_of(optimizer: Optimizer, steps: int, disturbed: int, size: mpf) -> mpf:
    """theta after so many steps of rate 1 on a loss with a constant gradient, one batch of which was another."""
    n, grad = Symbol("n"), Symbol("grad")
    memories = [
        (lambdify(grad, each.g, "mpmath"), mpf(each.beta.p) / each.beta.q, lambdify(n, each.b, "mpmath"))
        for each in optimizer.momentum
    ]
    phi = lambdify([Symbol(f"m{k + 1}") for k in range(len(memories))], optimizer.phi, "mpmath")
    states, theta = [mpf(0)] * len(memories), mpf(0)
    for step in range(steps):
        seen = mpf(3) / 10 + (size if step == disturbed else 0)
        states = [beta * x + g(seen) for x, (g, beta, _) in zip(states, memories, strict=True)]
        theta -= phi(*(b(step) * x for x, (_, _, b) in zip(states, memories, strict=True)))
    return theta


@pytest.mark.parametrize("name", ["heavyball", "nesterov", "adam", "lion", "signum", "qhm"])
def test_diffusion_is_what_one_batch_does_in_the_end(name: str) -> None:
    plain = symmem.load(name)
    chosen = {p.name: VALUES[p.name] for p in plain.parameters if p.name != "weight_decay"}
    optimizer = plain.with_values(**chosen, **({"weight_decay": 0} if "lion" in name else {}))
    found = stochastic_equation(method_of(optimizer))
    assert isinstance(found, StochasticEquation)
    with mpmath.workdps(50):
        step = mpf(10) ** -15
        ends = [end_of(optimizer, 240, 120, sign * step) for sign in (-1, 1)]
        moved = (ends[1] - ends[0]) / (2 * step)
        value = mpf(str(found.diffusion.subs(Symbol("grad"), SLOPE).evalf(40)))
        assert abs(moved + value) < mpf(10) ** -25


def stationary_variance(beta: float, rate: float, noise: float) -> float:
    """Of heavy ball on L = theta^2/2, from the linear recursion of its second moments."""
    matrix = np.array([[1 - rate, -rate * beta], [1.0, beta]])
    source = np.array([-rate, 1.0])
    kicked = noise * np.outer(source, source)
    found = np.linalg.solve(np.eye(4) - np.kron(matrix, matrix), kicked.reshape(-1))
    return float(found[0])


def test_moments_of_heavy_ball_agree_to_second_order() -> None:
    derivation, beta = symmem.derive("heavyball"), 0.5
    found = stochastic_equation(derivation.method)
    gaps = []
    for rate in (0.01, 0.005):
        curved = {Symbol("grad"): Symbol("x"), Symbol("beta"): Rational(1, 2)}
        velocity = sum(
            (
                rate**j * each.replace(symmem.D2L, lambda v: v)
                for j, each in enumerate(derivation.modified_equation)
            ),
            start=Rational(0),
        ).xreplace(curved)
        slope = -float(velocity.diff(Symbol("x")))
        diffusion = rate * float(found.diffusion.xreplace(curved)) ** 2
        gaps.append(abs(diffusion / (2 * slope) - stationary_variance(beta, rate, 1.0)))
    assert abs(np.log2(gaps[0] / gaps[1]) - 2) < 0.05


def rules(name: str) -> BatchScaling:
    found = batch_scaling(symmem.derive(name).method)
    assert isinstance(found, BatchScaling), str(found)
    return found


def test_linear_methods_have_the_linear_rule_exactly_in_the_limit_of_small_steps() -> None:
    found = rules("heavyball")
    factor = 4
    for rule, later in ((found.plain, 0.9), (found.with_memory, 1 - factor * 0.1)):
        assert not isinstance(rule, Missing)
        ratios = []
        for rate in (1e-5, 5e-6):
            scaled = rate * factor ** float(rule.rate)
            before = stationary_variance(0.9, rate, 1.0)
            ratios.append(stationary_variance(later, scaled, 1.0 / factor) / before - 1)
        assert abs(ratios[1]) < 1e-3
        assert abs(ratios[0] / ratios[1] - 2) < 0.05


Update = Callable[[np.ndarray, np.ndarray, float], np.ndarray]
UPDATES: dict[str, Update] = {
    "adam-torch": lambda m, v, eps: m / (np.sqrt(v) + eps),
    "signum": lambda m, _, eps: m / np.sqrt(m**2 + eps),
}


def train(name: str, batch: int, values: dict[str, float], chains: int = 4000) -> np.ndarray:
    """Mean and spread of theta from 1, on L = theta^2/2 with noise 20 times its gradient, after 1600 samples."""
    random = np.random.default_rng(1)
    beta1, beta2 = values.get("beta1", values.get("beta", 0.0)), values.get("beta2", 0.0)
    theta, m, v = np.ones(chains), np.zeros(chains), np.zeros(chains)
    for n in range(1600 // batch):
        g = theta + 20 / np.sqrt(batch) * random.standard_normal(chains)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        corrected = (m / (1 - beta1 ** (n + 1)), v / (1 - beta2 ** (n + 1))) if beta2 else (m, v)
        theta = theta - values["lr"] * UPDATES[name](*corrected, values["eps"])
    return np.array([theta.mean(), theta.std()])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("adam-torch", {"lr": 0.02, "beta1": 0.95, "beta2": 0.995, "eps": 4.0}),
        ("signum", {"lr": 0.002, "beta": 0.95, "eps": 1e-2}),
    ],
)
def test_a_training_with_the_rule_is_the_same_training(name: str, values: dict[str, float]) -> None:
    """Of 4000 chains; a rule of another power, or an eps that stays, is seen."""
    found, factor = rules(name), 4
    truth = train(name, 1, values)
    for rule in (found.plain, found.with_memory):
        assert not isinstance(rule, Missing)
        moved = {symbol.name: values[symbol.name] * factor ** float(x) for symbol, x in rule.parameters}
        decays = {symbol.name: 1 - factor * (1 - values[symbol.name]) for symbol in rule.decays}
        right = {**values, **moved, **decays, "lr": values["lr"] * factor ** float(rule.rate)}
        assert np.abs(train(name, factor, right) / truth - 1).max() < 0.08
        wrong = {**right, "lr": values["lr"] * factor ** float(rule.rate + Rational(1, 2))}
        assert np.abs(train(name, factor, wrong) / truth - 1).max() > 0.25


@pytest.mark.parametrize(
    ("name", "plain", "kept"),
    [
        ("gd", (1, {}), None),
        ("sgdw", (1, {}), (2, {"weight_decay": -1})),
        ("adamw", *[(Rational(1, 2), {"eps": -1, "weight_decay": Rational(1, 2)})] * 2),
        ("adam-l2", (Rational(1, 2), {"eps": Rational(-1, 2)}), (Rational(1, 2), {"eps": Rational(-1, 2)})),
        ("lion", (Rational(1, 2), {"eps": -1, "weight_decay": Rational(1, 2)}), None),
    ],
)
def test_exponents(name: str, plain: tuple[Rational, Rule], kept: tuple[Rational, Rule] | None) -> None:
    """What keeps lr times decay per sample, and eps beside the size of what it is added to."""
    found = rules(name)
    for rule, expected in ((found.plain, plain), (found.with_memory, kept)):
        if expected is None:
            assert isinstance(rule, Missing)
        else:
            assert (rule.rate, {symbol.name: x for symbol, x in rule.parameters}) == expected


def scaling(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "symmem", "scaling", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_gives_the_numbers() -> None:
    words = [
        sys.executable,
        "-m",
        "symmem",
        "scaling",
        "adam",
        "--batch",
        "4",
        "--set",
        "beta2=0.99",
        "--format",
        "json",
    ]
    told = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    values = {name: Rational(each["sympy"]) for name, each in told["memory_kept"]["values"].items()}
    assert told["memory_kept"]["lr_factor"]["sympy"] == "2"
    assert values == {"beta1": Rational(3, 5), "beta2": Rational(24, 25), "eps": Rational(1, 4 * 10**8)}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("adam", "--batch", "0"), "write a number above 0"),
        (("muon", "--batch", "2"), "joins entries"),
        (("padam", "--batch", "2"), "p is an exponent"),
        (("adamw-cosine", "--batch", "2"), "schedule"),
    ],
)
def test_refusals(words: tuple[str, ...], told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "symmem", "scaling", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["adamw", "heavyball", "lion"])
def test_latex_has_the_rules_with_a_proof(name: str, tmp_path: Path) -> None:
    """The exponents are those of the rule, and LaTeX takes it, where there is one."""
    fragment = scaling(name, "--batch", "4", "--format", "latex").stdout
    found = batch_scaling(symmem.derive(name).method)
    assert isinstance(found, BatchScaling)
    for rule in (found.plain, found.with_memory):
        if isinstance(rule, ScalingRule):
            power = "K" if rule.rate == 1 else f"K^{{{rule.rate}}}"
            assert rf"h &\to {power} h" in fragment
    assert fragment.count(r"\begin{proof}") == fragment.count(r"\end{proof}") == 1
    assert "built-in" not in fragment
    if shutil.which("pdflatex") is None:
        return
    page = tmp_path / "page.tex"
    head = "\\documentclass{article}\n\\usepackage{amsmath,amsthm}\n\\begin{document}\n"
    page.write_text(f"{head}{fragment}\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", page.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0
    assert b"Overfull" not in done.stdout
