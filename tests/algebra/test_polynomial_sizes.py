"""FLINT ends the process where memory lacks, so sizes are told before: never less than what comes out."""

from __future__ import annotations

import random
import subprocess
import sys
from math import comb

import pytest

from symmem import work
from symmem.algebra import polynomial_sizes
from symmem.algebra.polynomial_sizes import power, product
from symmem.algebra.rational import RationalField
from symmem.errors import BudgetError

FIELD = RationalField(("x", "y", "z"))


def polynomial(chance: random.Random) -> object:
    terms = {
        tuple(chance.randint(0, 3) for _ in range(3)): chance.randint(-9, 9) or 1
        for _ in range(chance.randint(1, 5))
    }
    return FIELD.polynomial(terms)


def words(made: object) -> int:
    return sum(1 + abs(int(value)).bit_length() // 64 for value in made.coeffs())  # type: ignore[attr-defined]


def test_the_size_that_is_told_is_no_less_than_the_size_that_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(polynomial_sizes, "SMALL", 0)
    monkeypatch.setattr(polynomial_sizes, "affordable", lambda _, words: told.append(words))
    chance = random.Random(5)
    for _ in range(60):
        base, exponent = polynomial(chance), chance.randint(1, 12)
        made = power(base, exponent)
        assert made == FIELD.polynomial(dict(base.to_dict())) ** exponent  # type: ignore[attr-defined]
        assert told.pop() >= words(made)
        other = polynomial(chance)
        assert told == []
        assert len(product(base, other)) <= told.pop()


@pytest.mark.parametrize("exponent", [10**9, -(10**9), 10**6])
def test_a_power_without_measure_is_one_line(exponent: int) -> None:
    x, y, _ = (FIELD.generator(k) for k in range(3))
    with pytest.raises(BudgetError, match="beyond any budget"):
        (x + y + FIELD.number(3)) ** exponent


def test_a_monomial_takes_any_power() -> None:
    x = FIELD.generator(0)
    assert x**10**6 / x ** (10**6 - 1) == x


def test_a_long_product_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polynomial_sizes, "SMALL", 1)
    monkeypatch.setattr(work, "MOST_WORDS", 10)
    x, y, z = (FIELD.generator(k) for k in range(3))
    with pytest.raises(BudgetError, match="beyond any budget"):
        _ = (x + y + z + FIELD.number(1)) * (x * x + y * y + z * z + x + y)


@pytest.mark.parametrize(("count", "exponent"), [(29, 9), (6, 64), (12, 12), (60, 5)])
def test_a_short_sum_of_many_names_to_a_power(count: int, exponent: int) -> None:
    """Few terms and a small exponent make millions: 29 terms to the power 9 are 124 millions, and ended the process."""
    field = RationalField(tuple(f"p{k}" for k in range(count)))
    base = sum((field.generator(k) for k in range(1, count)), field.generator(0))
    with work.budget(seconds=20), pytest.raises(BudgetError, match="beyond any budget"):
        _ = base**exponent


def test_what_can_be_paid_is_made() -> None:
    field = RationalField(("a", "b", "c", "d"))
    base = sum((field.generator(k) for k in range(4)), field.number(1))
    with work.budget(seconds=20):
        made = base**30
    assert len(made.numerator) == comb(34, 4)


def test_a_degree_without_measure_does_not_end_the_process() -> None:
    text = (
        'name = "mine"\\nphi = "f(m1) + m1"\\n[parameters]\\nbeta = 0.9\\n[functions]\\nf = { degree = %s }\\n'
        '[[momentum]]\\ng = "grad**2"\\nbeta = "beta"\\nb = "1 - beta"\\n'
    )
    code = (
        "import symmem, symmem.errors\n"
        "from symmem.declaration import bounded\n"
        "from symmem.declaration.toml import read_toml\n"
        f"text = '{text}'\n"
        "try: read_toml(text % '1e9')\n"
        "except symmem.errors.DeclarationError as error: assert 'degree' in str(error)\n"
        "bounded.MAX_EXPONENT = 1e12\n"
        "try: print(symmem.derive(read_toml(text % '1e9')))\n"
        "except symmem.errors.BudgetError as error: print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "refused"), done.stderr
