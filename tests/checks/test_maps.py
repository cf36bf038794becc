"""The maps of parameters: all of them, in the order of their effort, against the sorted list of all."""

from __future__ import annotations

import random
import time
from itertools import islice, product

import pytest
from sympy import Expr, Integer, Symbol, symbols

from symmem.checks.maps import by_effort
from symmem.checks.same import Verdict, same
from symmem.declaration.toml import read_toml

NAMES = list(symbols("a b c d e"))


def effort(names: list[Symbol], values: tuple[Expr, ...]) -> int:
    """By the definition: 0 for its own name, 1 for another's, 2 for all else, 2 for every place that is taken twice."""
    costs = [0 if n == v else 1 if v.is_Symbol else 2 for n, v in zip(names, values, strict=True)]
    shared = [value for value in values if value.free_symbols]
    return sum(costs) + 2 * (len(shared) - len(set(shared)))


@pytest.mark.parametrize("seed", range(12))
def test_the_order_is_that_of_the_sorted_list(seed: int) -> None:
    chance = random.Random(seed)
    names = NAMES[: chance.randint(0, 5)]
    pool = [*NAMES[2:], *symbols("p q"), Integer(0), Integer(1), 1 - Symbol("p")]
    choices = [chance.sample(pool, chance.randint(1, 4)) for _ in names]
    expected = sorted(product(*choices), key=lambda values: effort(names, values))
    assert list(by_effort(names, choices)) == expected


def test_the_first_of_many_ways_are_there_at_once() -> None:
    """Thirty names with five choices each: 10^20 ways."""
    names = list(symbols("x:30"))
    choices: list[list[Expr]] = [[*symbols("p q r"), Integer(0), Integer(1)] for _ in names]
    begin = time.process_time()
    found = list(islice(by_effort(names, choices), 200))
    assert time.process_time() - begin < 20
    costs = [effort(names, values) for values in found]
    assert costs == sorted(costs)
    assert costs[0] == 3 + 2 * 27


PRODUCT = """
name = "{name}"
phi = "m1"

[parameters]
beta = {{ default = 0.9, range = "[0, 1)" }}

[[momentum]]
g = "grad"
beta = "beta"
b = "prod({factor}, {i}, 1, n + 1)"
"""


def test_products_over_steps_are_compared() -> None:
    """They were a traceback: the ends of a product were taken for numbers of the optimizer."""
    first, second, other = (
        read_toml(PRODUCT.format(name=name, factor=factor, i="i"))
        for name, factor in (
            ("one", "1 - beta**(2*i + 2)"),
            ("two", "(1 - beta**(i + 1))*(1 + beta**(i + 1))"),
            ("other", "1 - beta**(i + 1)/2"),
        )
    )
    assert same(first, first).verdict is Verdict.IDENTICAL
    assert same(first, other).verdict is Verdict.DIFFERENT
    found = same(first, second)
    assert found.verdict is not Verdict.DIFFERENT
