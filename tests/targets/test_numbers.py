"""The numbers of every target keep their digits: small n, decays up to 1 - 1e-8, equal and nearly equal decays.

The truth is the closed form in 600 digits at the very numbers that the function is given; equal decays are told apart
by 1e-120.  On the loss |theta|^2/2 at theta = 1 a correction is a sum of coefficients; for methods linear in the
gradient all terms of their sums over the past are positive, so that the error is measured against the value itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import torch
from compiled import few_passes
from compiled import module as built_module
from mpmath import mpf
from octave_probe import needs_octave
from octave_probe import run as run_octave
from octave_probe import settings as octave_settings
from probe import module
from sympy import Function, Rational, Symbol, lambdify

import symmem
from symmem import Momentum, Optimizer
from symmem.checks.verify import as_theory_sees
from symmem.program.expansion import expansion_loses_digits
from symmem.program.lowering import lower
from symmem.targets.c.build import build
from symmem.targets.registry import TARGETS
from symmem.verification import bruteforce
from symmem.verification.literal import Literal
from symmem.verification.losses import quadratic_loss

BETA = {"default": 0.9, "range": "[0, 1)"}
AVERAGE = "(1 - {0})/(1 - {0}**(n + 1))"
METHODS = {
    "heavy-ball": Optimizer("heavy-ball", "m1", [Momentum("grad", "b1", "1")], {"b1": BETA}),
    "average": Optimizer("average", "m1", [Momentum("grad", "b1", "1 - b1")], {"b1": BETA}),
    "debiased": Optimizer("debiased", "m1", [Momentum("grad", "b1", AVERAGE.format("b1"))], {"b1": BETA}),
    "two-sums": Optimizer(
        "two-sums",
        "m1 + m2",
        [Momentum("grad", "b1", "1"), Momentum("grad", "b2", "1 - b2")],
        {"b1": BETA, "b2": BETA},
    ),
    "nested-gain": Optimizer(
        "nested-gain",
        "m1 + m2",
        [Momentum("grad", "b1", AVERAGE.format("b1")), Momentum("grad", "b2", "1")],
        {"b1": BETA, "b2": BETA},
    ),
    "two-averages": Optimizer(
        "two-averages",
        "m1 + m2",
        [Momentum("grad", "b1", "1 - b1"), Momentum("grad", "b2", "1 - b2")],
        {"b1": BETA, "b2": BETA},
    ),
    "lookahead": Optimizer(
        "lookahead",
        "m1 + m2",
        [Momentum("grad", "b1", "b1"), Momentum("grad", "0", "1")],
        {"b1": BETA},
    ),
    "difference": Optimizer(
        "difference",
        "m1 - m2",
        [Momentum("grad", "b1", "1"), Momentum("grad", "b2", "1 - b2")],
        {"b1": BETA, "b2": BETA},
    ),
    "memory-of-memory": Optimizer(
        "memory-of-memory",
        "m2",
        [Momentum("grad", "b1", "1"), Momentum("m1", "b2", "1")],
        {"b1": BETA, "b2": BETA},
    ),
    "both-memories": Optimizer(
        "both-memories",
        "m1 + m2",
        [Momentum("grad", "b1", "1 - b1"), Momentum("m1 + grad", "b2", "1 - b2")],
        {"b1": BETA, "b2": BETA},
    ),
}
LIMITS = ("two-sums", "memory-of-memory", "both-memories")
"""Those whose limits are tested."""
SIZES = {"difference": "two-sums"}
"""The method whose M adds the absolute values of the terms, where some are negative."""
NEAR = 1 - 1e-8
DECAYS = [
    (0.0, 0.0), (0.3, 0.5), (0.9, 0.9), (0.9, 0.999), (0.999, 0.999 * (1 + 1e-13)), (NEAR, NEAR),
    (NEAR, 1 - 1.0000001e-8), (0.5, NEAR),
]  # fmt: skip
CLOSE = 1e-13
TINY = 1e-90  # what 600 digits leave of a zero
CASES = [
    *(
        (name, order)
        for name in METHODS
        for order in (1, 2)
        if order == 1 or len(METHODS[name].parameters) == 1
    ),
    ("two-averages", 2),
]
STEPS = [0, 1, 2, 3, 17, 1000, 10**6, 3 * 10**8]
DIGITS = 600


@cache
def formula(name: str, order: int) -> Callable[..., mpf]:
    """M at theta = grad = 1, with the identity for the Hessian and no further derivatives, and lr = 1."""
    found = symmem.derive(METHODS[name], order).M
    found = found.replace(Function("D3L"), lambda *_: Rational(0))
    while found.has(Function("D2L")):
        found = found.replace(Function("D2L"), lambda v: v)
    plain = found.xreplace({Symbol("grad"): Rational(1), Symbol("lr"): Rational(1)})
    return lambdify([Symbol("n"), Symbol("b1"), Symbol("b2")], plain, "mpmath")


@cache
def truth(name: str, order: int, n: int, b1: float, b2: float) -> mpf:
    with mpmath.workdps(DIGITS):
        apart = mpf(10) ** -120
        first = mpf(b1) if b1 else apart  # a power of zero is a limit too
        second = mpf(b2) * (1 - apart) if b2 else 2 * apart
        return +formula(name, order)(mpf(n), first, second)


def literal(name: str, n: int, b1: float, b2: float) -> mpf:
    """``sum_p w(n, p) sum_{s=p..n-1} F^(s)``, term by term; w(n, p) is what Phi has at step n of the gradient of p."""
    optimizer = METHODS[name]
    at = {Symbol("b1"): mpf(b1), Symbol("b2"): mpf(b2)}
    symbols = [Symbol(f"m{place}") for place in range(1, len(optimizer.momentum) + 1)]
    rows: list[dict[Symbol, list[mpf]]] = []
    for step in range(n + 1):
        row = {Symbol("grad"): [mpf(int(p == step)) for p in range(n + 1)]}
        for symbol, momentum in zip(symbols, optimizer.momentum, strict=True):
            seen = [mixed(momentum.g, row, n)]
            decay = mpf(momentum.beta.xreplace(at))
            seen += [[decay * x for x in rows[-1][Symbol(f"sum {symbol}")]]] if rows else []
            row[Symbol(f"sum {symbol}")] = total = [sum(parts) for parts in zip(*seen, strict=True)]
            factor = mpf(momentum.b.xreplace({**at, Symbol("n"): step}))
            row[symbol] = [factor * x for x in total]
        rows.append(row)
    updates = [mixed(optimizer.phi, row, n) for row in rows]
    return sum((updates[n][p] * sum(sum(updates[s]) for s in range(p, n)) for p in range(n)), mpf(0))


def mixed(linear: Any, row: dict[Symbol, list[mpf]], n: int) -> list[mpf]:
    """A linear expression of rows of weights."""
    symbols = sorted(linear.free_symbols, key=str)
    return [sum((int(linear.coeff(x)) * row[x][p] for x in symbols), mpf(0)) for p in range(n + 1)]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 9])
def test_the_truth_is_the_defining_sum(name: str, n: int) -> None:
    with mpmath.workdps(60):
        assert abs(literal(name, n, 0.75, 0.875) - truth(name, 1, n, 0.75, 0.875)) < mpf(10) ** -12


def decays(name: str, b1: Any, b2: Any) -> dict[str, Any]:
    return {"b1": b1, "b2": b2} if len(METHODS[name].parameters) == 2 else {"b1": b1}


@cache
def emitted(name: str, order: int, target: str) -> ModuleType:
    return module(TARGETS[target].source(symmem.derive(METHODS[name], order)))


def in_python(target: str) -> Callable[..., float]:
    """The correction of a Python module at theta = 1."""
    library: Any = torch if target == "torch" else np
    one = library.ones(1, dtype=library.float64)

    def value(name: str, order: int, n: int, b1: float, b2: float) -> float:
        higher = [lambda theta, u, v: 0 * u] * (order - 1)
        given = emitted(name, order, target).correction
        found = given(
            one, lambda theta: theta, lambda theta, v: v, *higher, n=n, lr=1.0, **decays(name, b1, b2)
        )
        return float(found[0])

    return value


@pytest.mark.parametrize(("name", "order"), CASES)
@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_double_precision(target: str, name: str, order: int) -> None:
    value = in_python(target)
    for n in STEPS:
        for b1, b2 in DECAYS:
            exact = truth(name, order, n, b1, b2)
            found = value(name, order, n, b1, b2)
            if n == 0:
                assert found == 0
            size = truth(SIZES.get(name, name), order, n, b1, b2)
            assert abs(found - exact) <= CLOSE * abs(size) + TINY, (n, b1, b2, found, float(exact))


@pytest.mark.parametrize("name", METHODS)
def test_jax_with_a_traced_step(name: str) -> None:
    """In 32-bit arithmetic, with n and the decays traced: 1e-5, for decays up to 1 - 1e-4."""
    given = emitted(name, 1, "jax").correction

    def value(n: Any, b1: Any, b2: Any) -> Any:
        one = jnp.ones(1, jnp.float32)
        return given(one, lambda theta: theta, lambda theta, v: v, n=n, lr=1.0, **decays(name, b1, b2))[0]

    compiled = jax.jit(value)
    for n in (0, 1, 2, 3, 17, 1000, 10**5):
        for pair in [(0.0, 0.0), (0.3, 0.5), (0.9, 0.9), (0.9, 0.999), (1 - 1e-4, 1 - 1e-4), (0.5, 1 - 1e-4)]:
            b1, b2 = (np.float32(b) for b in pair)
            exact = truth(name, 1, n, float(b1), float(b2))
            found = float(compiled(jnp.int32(n), b1, b2))
            size = truth(SIZES.get(name, name), 1, n, float(b1), float(b2))
            assert abs(found - exact) <= 1e-5 * abs(size) + TINY, (n, pair, found, float(exact))


def test_c(tmp_path: Path) -> None:
    folder = tmp_path / "built"
    with few_passes():
        build([symmem.derive(optimizer) for optimizer in METHODS.values()], str(folder))
    one = np.ones(1)
    for name in METHODS:
        given = built_module(folder, name).correction
        for n in STEPS:
            for b1, b2 in DECAYS:
                exact = truth(name, 1, n, b1, b2)
                found = given(
                    one, lambda theta: theta, lambda theta, v: v, n=n, lr=1.0, **decays(name, b1, b2)
                )
                size = truth(SIZES.get(name, name), 1, n, b1, b2)
                assert abs(float(found[0]) - exact) <= CLOSE * abs(size) + TINY, (name, n, b1, b2)


@needs_octave
def test_octave(tmp_path: Path) -> None:
    script, cases = [], []
    for name in ("heavy-ball", "two-sums", "both-memories"):
        stem = f"symmem_{name.replace('-', '_')}"
        (tmp_path / f"{stem}.m").write_text(TARGETS["octave"].source(symmem.derive(METHODS[name])))
        script.append(f"made = {stem}();")
        for n in STEPS:
            for b1, b2 in DECAYS:
                given = octave_settings({"n": n, "lr": 1.0, **decays(name, b1, b2)})
                script.append(f"printf('%.17g\\n', made.correction(1, @(x) x, @(x, v) v{given}));")
                cases.append((name, n, b1, b2))
    found = run_octave(script, tmp_path).split()
    for (name, n, b1, b2), value in zip(cases, found, strict=True):
        exact = truth(name, 1, n, b1, b2)
        assert abs(mpf(value) - exact) <= CLOSE * abs(exact) + TINY, (name, n, b1, b2)


SQUARES = {
    "squares": Optimizer(
        "squares",
        "m1 + m2",
        [Momentum("grad**2", "b1", "1"), Momentum("grad**2", "b2", "1 - b2")],
        {"b1": BETA, "b2": BETA},
    ),
    "square-and-cube": Optimizer(
        "square-and-cube",
        "m1 + m2",
        [Momentum("grad**3", "b1", "1 - b1"), Momentum("grad**2", "b2", AVERAGE.format("b2"))],
        {"b1": BETA, "b2": BETA},
    ),
}
"""Lines with velocities of their own, all terms positive."""


def plain(formula: Any) -> Callable[..., mpf]:
    """A formula at theta = grad = lr = 1, with the identity for the Hessian."""
    while formula.has(Function("D2L")):
        formula = formula.replace(Function("D2L"), lambda v: v)
    ones = {Symbol(name): Rational(1) for name in ("grad", "theta", "lr")}
    return lambdify([Symbol("n"), Symbol("b1"), Symbol("b2")], formula.xreplace(ones), "mpmath")


def apart(b1: float, b2: float) -> tuple[mpf, mpf]:
    """The decays, equal ones told apart."""
    little = mpf(10) ** -120
    return mpf(b1) or little, mpf(b2) * (1 - little) or 2 * little


@pytest.mark.parametrize("name", SQUARES)
@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_straight_lines(target: str, name: str) -> None:
    derived = symmem.derive(SQUARES[name])
    library: Any = torch if target == "torch" else np
    one = library.ones(1, dtype=library.float64)
    made = module(TARGETS[target].source(derived)).straight
    exact = plain(derived.straight)
    for n in STEPS[1:]:  # at n = 0 there is no line
        for b1, b2 in DECAYS[1:]:
            with mpmath.workdps(DIGITS):
                value = exact(mpf(n), *apart(b1, b2))
            found = float(made(one, lambda x: x, lambda x, v: v, n=n, lr=1.0, b1=b1, b2=b2)[0])
            assert abs(found - value) <= CLOSE * value, (n, b1, b2)


@pytest.mark.parametrize("name", SQUARES)
def test_without_a_past_the_line_is_the_update(name: str) -> None:
    made = module(TARGETS["numpy"].source(symmem.derive(SQUARES[name])))
    line = made.straight(np.ones(1), lambda x: x, lambda x, v: v, n=0, lr=1.0, b1=0.3, b2=0.5)
    assert line == pytest.approx(made.memoryless(np.ones(1), lambda x: x, n=0, b1=0.3, b2=0.5), rel=1e-14)


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("order", [1, 2])
def test_limits(name: str, order: int) -> None:
    derived = symmem.derive(METHODS[name], order)
    made = module(TARGETS["numpy"].source(derived)).correction
    exact = plain(derived.limit.M.replace(Function("D3L"), lambda *_: Rational(0)))
    higher = [lambda x, u, v: 0 * u] * (order - 1)
    for b1, b2 in DECAYS:
        with mpmath.workdps(DIGITS):
            value = exact(mpf(0), *apart(b1, b2))
        found = float(made(np.ones(1), lambda x: x, lambda x, v: v, *higher, lr=1.0, b1=b1, b2=b2)[0])
        assert abs(found - value) <= CLOSE * value + TINY, (b1, b2)


IN_OTHERS = {"squares": "straight", "both-memories": "correction"}
"""What JAX, C and Octave are asked: a straight line, and a limit."""


def test_straight_lines_and_limits_in_jax() -> None:
    """In 32 bits: 1e-5, for decays up to 1 - 1e-4."""
    for name, role in IN_OTHERS.items():
        derived = symmem.derive((SQUARES | METHODS)[name])
        given = getattr(module(TARGETS["jax"].source(derived)), role)
        exact = plain(derived.straight if role == "straight" else derived.limit.M)

        @jax.jit
        def value(n: Any, b1: Any, b2: Any, given: Any = given) -> Any:
            one = jnp.ones(1, jnp.float32)
            return given(one, lambda x: x, lambda x, v: v, n=n, lr=1.0, b1=b1, b2=b2)[0]

        for n in (1, 2, 17, 1000) if role == "straight" else (None,):
            for pair in [(0.3, 0.5), (0.9, 0.9), (0.9, 0.999), (1 - 1e-4, 1 - 1e-4)]:
                b1, b2 = (np.float32(b) for b in pair)
                with mpmath.workdps(DIGITS):
                    true = exact(mpf(n or 0), *apart(float(b1), float(b2)))
                found = float(value(None if n is None else jnp.int32(n), b1, b2))
                assert abs(found - true) <= 1e-5 * abs(true), (name, role, n, pair)


def lines_and_limits() -> Iterator[tuple[str, str, int | None, float, float, mpf]]:
    """Straight lines at steps n, and corrections in the limit, with their true values."""
    for name, role in IN_OTHERS.items():
        derived = symmem.derive((SQUARES | METHODS)[name])
        exact = plain(derived.straight if name in SQUARES else derived.limit.M)
        for n in (1, 2, 17, 1000, 10**6) if name in SQUARES else (None,):
            for b1, b2 in DECAYS[1:]:
                with mpmath.workdps(DIGITS):
                    yield name, role, n, b1, b2, exact(mpf(n or 0), *apart(b1, b2))


def test_straight_lines_and_limits_in_c(tmp_path: Path) -> None:
    build([symmem.derive((SQUARES | METHODS)[name]) for name in IN_OTHERS], str(tmp_path / "built"))
    made = {name: built_module(tmp_path / "built", name) for name in IN_OTHERS}
    for name, role, n, b1, b2, true in lines_and_limits():
        given = getattr(made[name], role)
        found = given(np.ones(1), lambda x: x, lambda x, v: v, n=n, lr=1.0, b1=b1, b2=b2)
        assert abs(float(found[0]) - true) <= CLOSE * abs(true), (name, n, b1, b2)


@needs_octave
def test_straight_lines_and_limits_in_octave(tmp_path: Path) -> None:
    script, cases = [], list(lines_and_limits())
    for name in IN_OTHERS:
        stem = f"symmem_{name.replace('-', '_')}"
        text = TARGETS["octave"].source(symmem.derive((SQUARES | METHODS)[name]))
        (tmp_path / f"{stem}.m").write_text(text)
    for name, role, n, b1, b2, _ in cases:
        given = octave_settings({**({} if n is None else {"n": n}), "lr": 1.0, "b1": b1, "b2": b2})
        script.append(f"made = symmem_{name.replace('-', '_')}();")
        script.append(f"printf('%.17g\\n', made.{role}(1, @(x) x, @(x, v) v{given}));")
    found = run_octave(script, tmp_path).split()
    for (name, _, n, b1, b2, true), value in zip(cases, found, strict=True):
        assert abs(mpf(value) - true) <= CLOSE * abs(true), (name, n, b1, b2)


def test_a_memory_of_a_delay_that_starts_empty() -> None:
    """Nothing is exactly nothing, and what follows keeps its digits: sum_{k=0..n-3} beta^k."""
    delay = Momentum("grad", None, None, 3, 0)
    optimizer = Optimizer("late", "m2", [delay, Momentum("m1", "b1", "1")], {"b1": BETA})
    derived = symmem.derive(optimizer)
    made = module(TARGETS["numpy"].source(derived))
    assert not lower(derived).loses_digits
    one, field, product = np.ones(1), lambda x: x, lambda x, v: v
    for b1 in (0.3, 0.9, NEAR):
        for n in (0, 1, 2, 3, 4, 5, 9):
            true = sum((mpf(b1) ** k for k in range(n - 2)), mpf(0))
            found = float(made.memoryless(one, field, n=n, b1=b1)[0])
            assert abs(found - true) <= CLOSE * true, (n, b1)
            # m1 at step r is the gradient of step r - 3, which has seen the updates from there on.
            updates = [sum(mpf(b1) ** k for k in range(s - 2)) for s in range(n)]
            moved = sum((mpf(b1) ** (n - r) * sum(updates[r - 3 :]) for r in range(3, n + 1)), mpf(0))
            found = float(made.correction(one, field, product, n=n, lr=1.0, b1=b1)[0])
            assert abs(found - moved) <= CLOSE * moved, (n, b1)


def test_an_average_of_differences() -> None:
    """Of Adan and MARS: sum_r w(r) (g_r + c (g_r - g_{r-1})), debiased; the update of a constant history is 1.

    The gradient of step r lies n - r updates back, so that M = sum_r w(r) ((n - r) - c [r >= 1]), with few updates
    and decays at which the closed forms have no digit left.
    """
    momentum = [
        Momentum("grad", None, None, 1),
        Momentum("grad + c*(grad - m1)", "b1", "(1 - b1)/(1 - b1**(n + 1))"),
    ]
    derived = symmem.derive(Optimizer("difference", "m2", momentum, {"b1": BETA, "c": 0.5}))
    assert not lower(derived).loses_digits
    made, (c, one) = module(TARGETS["numpy"].source(derived)), (0.5, np.ones(1))
    for b1 in (0.3, 0.9, 1 - 1e-4, NEAR):
        for n in (0, 1, 2, 3, 9, 300):
            weights = [mpf(b1) ** (n - r) for r in range(n + 1)]
            parts = [w * (n - r) for r, w in enumerate(weights)], [w * c for w in weights[1:]]
            moved, size = sum(parts[0]) - sum(parts[1]), sum(parts[0]) + sum(parts[1])
            found = float(made.correction(one, lambda x: x, lambda x, v: v, n=n, lr=1.0, b1=b1, c=c)[0])
            assert abs(found - moved / sum(weights)) <= CLOSE * size / sum(weights), (n, b1)


APART = {
    ("rmsprop-debiased", 2): "beta",
    ("qhm", 2): "beta",
    ("triple-momentum", 1): "beta",
    ("adamd", 1): "beta2",
}
"""Entries whose sums have other signs or factors: digits are kept where each sum stands by itself."""


@pytest.mark.parametrize(("name", "order"), APART)
def test_sums_of_several_signs(name: str, order: int) -> None:
    derived = symmem.derive(name, order)
    assert not lower(derived).loses_digits
    made = module(TARGETS["numpy"].source(derived)).correction
    values = {each.name: float(each.default) for each in derived.optimizer.parameters}
    formula = derived.M.replace(Function("D3L"), lambda *_: Rational(1, 3))
    while formula.has(Function("D2L")):
        formula = formula.replace(Function("D2L"), lambda v: v)
    ones = {Symbol(each): Rational(1) for each in ("grad", "theta", "lr")}
    exact = lambdify([Symbol("n"), *map(Symbol, values)], formula.xreplace(ones), "mpmath")
    higher = [lambda x, u, v: 0 * u + 1 / 3] * (order - 1)
    for n in (0, 1, 2, 3, 17, 1000, 10**6):
        for decay in (0.3, 0.8, 0.999, NEAR):
            given = {**values, APART[name, order]: decay}
            with mpmath.workdps(DIGITS):
                value = exact(mpf(n), *map(mpf, given.values()))
            found = made(np.ones(1), lambda x: x, lambda x, v: v, *higher, n=n, lr=1.0, **given)
            assert abs(float(found[0]) - value) <= CLOSE * abs(value) + TINY, (n, decay)


def test_what_may_lose_digits_says_so() -> None:
    """Two memories inside one another at second order keep closed forms; two decays beside one another do not."""
    for name, order, expected in [
        ("memory-of-memory", 2, True),
        ("two-sums", 2, False),
        ("heavy-ball", 2, False),
    ]:
        program = lower(symmem.derive(METHODS[name], order))
        assert program.loses_digits == expected
        text = TARGETS["numpy"].source(symmem.derive(METHODS[name], order))
        assert ("lose digits" in text) == expected


PRODUCT = Optimizer(
    "product",
    "m2",
    [Momentum("grad", "b1", AVERAGE.format("b1")), Momentum("grad*m1", "b2", AVERAGE.format("b2"))],
    {"b1": BETA, "b2": BETA},
)
RARE = {
    "accsgd": (symmem.load("accsgd"), [{}, {"kappa": 4.0, "xi": 8.0}]),
    "product": (PRODUCT, [{"b1": NEAR, "b2": NEAR}, {"b1": 0.75, "b2": NEAR}]),
    "grokfast-adamw": (
        symmem.load("grokfast-adamw"),
        [{"eps": 0.5, "alpha": NEAR, "beta1": NEAR, "beta2": NEAR}],
    ),
}
"""A decay that is computed from parameters, also a negative one; memories that read one another."""
SLOW = pytest.mark.prove


@pytest.mark.parametrize("name", ["accsgd", "product", pytest.param("grokfast-adamw", marks=SLOW)])
def test_computed_decays_and_memories_that_read_one_another(name: str) -> None:
    """On the parabola at 1, where gradients are exact: the correction by brute force, over all past steps."""
    optimizer, settings = RARE[name]
    derived = symmem.derive(optimizer)
    assert not expansion_loses_digits(derived)
    made = module(TARGETS["numpy"].source(derived))
    for given in settings:
        values = {each.name: given.get(each.name, float(each.default)) for each in optimizer.parameters}
        exact = {key: Rational(value) for key, value in values.items()}
        literal = Literal(as_theory_sees(optimizer), exact, quadratic_loss([[1]]))
        for n in (0, 1, 2, 12):
            true = bruteforce.correction(literal, [mpf(1)], n, Rational(1, 128))[0]
            found = made.correction(np.ones(1), lambda x: x, lambda x, v: v, n=n, lr=1 / 128, **values)
            assert abs(float(found[0]) - true) <= CLOSE * abs(true), (given, n)


def test_a_computed_decay_has_no_power_that_grows() -> None:
    """After 10^6 steps the numbers are those of the limit: ``(1 + xi c/kappa)^n`` would be no number."""
    derived = symmem.derive("accsgd")
    for target in ("numpy", "torch"):
        library: Any = torch if target == "torch" else np
        one = library.ones(1, dtype=library.float64)
        made = module(TARGETS[target].source(derived))
        late, settled = (
            float(made.correction(one, lambda x: x, lambda x, v: v, n=n, lr=1.0)[0]) for n in (10**6, None)
        )
        assert late == pytest.approx(settled, rel=1e-12)


def test_a_decay_that_is_rounded_is_said_to_be() -> None:
    """What is computed, and a decimal near 1 that is no double; a parameter is given as it is."""
    for beta, expected in [
        ("1 - c", True),
        ("c**2", False),
        ("0.9", False),
        ("0.99999", True),
        ("1023/1024", False),
    ]:
        parameters = {"c": {"default": Rational(1, 2), "range": "(0, 1)"}} if "c" in beta else {}
        derived = symmem.derive(Optimizer("rounded", "m1", [Momentum("grad", beta, "1")], parameters))
        for target in ("numpy", "octave"):
            assert ("rounded before" in TARGETS[target].source(derived)) == expected
