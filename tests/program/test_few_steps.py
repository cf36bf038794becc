"""Which sums over the past a few steps may stand for: by the analysis, and by the interpolation that it allows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import probe
import pytest
from sympy import Expr, S, Symbol, lambdify

import symmem
from symmem import Momentum, Optimizer
from symmem.algebra.ranges import Ranges
from symmem.program.digits.decay_functions import Shortfall, Whole
from symmem.program.few_steps import columns, reach
from symmem.program.products import lower_products
from symmem.program.statements import Apply, Assign, Loop

BETA = {"default": 0.9, "range": "[0, 1)"}
POSITIVE = {"default": 0.01, "range": "(0, inf)"}


def loop_of(optimizer: Optimizer | str) -> tuple[Loop, Ranges]:
    """The sum over the past in the first direction."""
    derivation = probe.derivation(optimizer, 1) if isinstance(optimizer, str) else symmem.derive(optimizer)
    program = lower_products(derivation)
    routine = program["direction1"].finite
    (loop,) = (each for each in routine.statements if isinstance(each, Loop))
    return loop, {Symbol(each.name): each.range for each in program.optimizer.parameters}


def compiled(expression: Expr) -> Callable[[dict[Symbol, np.ndarray]], np.ndarray]:
    """The expression over complex numbers."""
    plain = expression.replace(Shortfall, lambda x, k: 1 - x**k).replace(Whole, lambda x: x)
    names = sorted(plain.free_symbols, key=str)
    function = lambdify(names, plain, "numpy")
    return lambda values: function(*(values[name] for name in names))


@pytest.mark.parametrize("name", ["rmsprop", "signum", "lion", "rmsprop-torch"])
def test_terms_are_analytic_in_the_half_plane(name: str) -> None:
    """Cauchy: the mean over a circle within Re s > 0 is the value at its centre; for entries of many sizes."""
    loop, ranges = loop_of(name)
    found = columns(loop, ranges)
    assert found is not None
    weight, *others = found
    assert others
    numbers, term = loop.body
    assert isinstance(numbers, Assign)
    assert isinstance(term, Apply)
    steps = [(name_, compiled(each)) for name_, each in (*numbers.assignments, *term.function.locals)]
    output = compiled(term.function.output / weight)
    generator = np.random.default_rng(7)
    circle = np.exp(2j * np.pi * np.arange(512) / 512)
    for centre in generator.uniform(2, 300, size=20):
        places = np.concatenate([[centre], centre + 0.9 * centre * circle]).astype(complex)
        values = {Symbol(key): complex(float(value)) for key, value in probe.parameters(name).items()}
        entry = generator.choice((-1, 1)) * 10 ** generator.uniform(-6, 4)
        values |= {vector: complex(entry) for vector in term.function.vectors}
        values |= {loop.index: places, Symbol("n"): 400 + 0j}
        for name_, function in steps:
            values[name_] = function(values)
        middle, *around = output(values)
        assert abs(np.mean(around) - middle) < 1e-6 * abs(middle)


@pytest.mark.parametrize(
    ("phi", "parameters"),
    [
        ("tanh(m1)*exp(m1)", {"beta": BETA}),
        ("m1/(1 + m1)", {"beta": BETA}),
        ("m1/sqrt(m1**2 + eps)", {"beta": BETA, "eps": {"default": 0.01, "range": "(-inf, inf)"}}),
        ("m1/sqrt(m1**4 + eps)", {"beta": BETA, "eps": POSITIVE}),
        ("m1/sqrt(m1**2 + eps)", {"beta": {"default": -0.5, "range": "(-1, 1)"}, "eps": POSITIVE}),
    ],
)
def test_others_take_every_step(phi: str, parameters: dict[str, object]) -> None:
    """A pole for some entries, a root that may meet the negative axis, a decay below 0, functions that grow."""
    loop, ranges = loop_of(Optimizer("mine", phi, [Momentum("grad", "beta", "1 - beta")], parameters))
    assert columns(loop, ranges) is None


@pytest.mark.parametrize(
    ("name", "sector", "growth"),
    [("rmsprop", 2, S.Half), ("rmsprop-torch", 2, 1), ("signum", 2, S.Half), ("lion", 2, S.Half)],
)
def test_terms_are_analytic_in_the_sector_of_their_number(name: str, sector: int, growth: Expr) -> None:
    """Cauchy again, on circles in the strip of ``log c``, for all sizes of c, near to its border."""
    loop, ranges = loop_of(name)
    few = columns(loop, ranges)
    assert few is not None
    found = reach(loop, few, ranges)
    assert found is not None
    assert (found.sector, found.growth) == (sector, growth)
    term = loop.body[-1]
    assert isinstance(term, Apply)
    steps = [(name_, compiled(each)) for name_, each in term.function.locals]
    output = compiled(term.function.output / few[0])
    generator, circle = np.random.default_rng(8), np.exp(2j * np.pi * np.arange(512) / 512)
    for _ in range(40):
        centre = generator.uniform(-9, 0)
        places = np.concatenate([[centre], centre + 0.95 * sector * np.pi / 2 * circle]).astype(complex)
        values = {Symbol(key): complex(float(value)) for key, value in probe.parameters(name).items()}
        entry = generator.choice((-1, 1)) * 10 ** generator.uniform(-6, 4)
        values |= {vector: complex(entry) for vector in term.function.vectors}
        values |= {few[1]: np.exp(places), Symbol("n"): 400 + 0j}
        for name_, function in steps:
            values[name_] = function(values)
        middle, *around = output(values)
        assert abs(np.mean(around) - middle) < 1e-6 * abs(middle)


def test_a_steep_term_has_no_reach() -> None:
    """``c^-3``: its sum may hang on the smallest weights."""
    parameters = {"beta": BETA, "eps": POSITIVE}
    momentum = [Momentum("grad", "beta", "1 - beta")]
    loop, ranges = loop_of(Optimizer("mine", "m1/(m1**2 + eps)**3", momentum, parameters))
    few = columns(loop, ranges)
    assert few is not None
    assert reach(loop, few, ranges) is None
