"""Branches, products and pi in b and in a schedule: what is read, what is refused, and the way through TOML."""

from __future__ import annotations

import pytest
from sympy import Integer, Lt, Max, Min, Piecewise, Product, Rational, Symbol, cos, pi

from symmem.algebra.where import where
from symmem.declaration.optimizer import Momentum, Optimizer
from symmem.declaration.parser import parse
from symmem.declaration.substitution import substitute
from symmem.declaration.toml import read_toml
from symmem.errors import DeclarationError

n, w, i = Symbol("n"), Symbol("w"), Symbol("i")
READ = {
    "min(1, (n + 1)/w)": Min(1, (n + 1) / w),
    "max(0, 1 - n/w, 1/2)": Max(Rational(1, 2), 1 - n / w),
    "where(n < w, n/w, 1)": where(n < w, n / w, 1),
    "where(1 < n <= 4, 1/n, 2)": where(Lt(1, n) & (n <= 4), 1 / n, 2),
    "where(n < 2 or n > 7, 1, 2)": where((n < 2) | (n > 7), 1, 2),
    "(1 + cos(pi*n/w))/2": (1 + cos(pi * n / w)) / 2,
    "prod(1 - 1/(i + 1), i, 1, n)": Product(1 - 1 / (i + 1), (i, 1, n)),
    "prod(w, i, 1, n + 1)": w ** (n + 1),
    "prod(i, i, 1, 4)": Integer(24),
    "where(1 < 2, n, 1/n)": n,
}
REFUSED = {
    "min(n)": "two arguments or more",
    "where(n, 1, 2)": "a condition compares two numbers",
    "where(n < 1, 2)": "a condition and two values",
    "prod(i, n, 1, 3)": "'n' is reserved",
    "prod(i, 2, 1, n)": "prod takes a factor, its index and the ends",
    "prod(i, i, 1, n/2)": "no whole number at every step",
    "prod(i, i, 1, 10**9)": "more than 64 factors",
    "prod(prod(i*j, j, 1, n), i, 1, n)": "a product inside a product",
    "min(*n)": "by their places",
    "n < 3": "a condition stands inside where",
}
FILE = """
name = "warm"
phi = "m1"
[parameters]
w = { default = 10, range = "(0, inf)" }
[schedule]
rate = "RATE"
[[momentum]]
g = "grad"
beta = 0.9
b = 1
"""


@pytest.mark.parametrize("text", READ)
def test_what_is_read(text: str) -> None:
    assert parse(text, of_the_step=True) == READ[text]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(DeclarationError, match=REFUSED[text].replace("'", ".")):
        parse(text, of_the_step=True)


@pytest.mark.parametrize("text", ["min(1, grad)", "where(theta < 1, 1, 2)", "prod(grad, i, 1, 2)"])
def test_nowhere_else(text: str) -> None:
    with pytest.raises(DeclarationError):
        parse(text)


def test_values_take_one_branch() -> None:
    """What is not taken may have no value there."""
    guarded = parse("where(n > 0, 1/n, w)", of_the_step=True)
    assert substitute(guarded, {n: Integer(0)}) == w
    assert substitute(guarded, {n: Integer(4)}) == Rational(1, 4)
    assert substitute(parse("prod(i, i, 1, n)", of_the_step=True), {n: Integer(5)}) == 120


def test_a_schedule_goes_through_toml_and_values() -> None:
    found = read_toml(FILE.replace("RATE", "min(1, (n + 1)/w)"))
    assert found.schedule == Min(1, (n + 1) / w)
    assert found.with_values(w=4).schedule == Min(1, (n + 1) / 4)
    assert Optimizer("warm", "m1", found.momentum, found.parameters, schedule=found.schedule) == found


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        ("grad*w", "schedule: rate: the rate is a number that depends on n; grad"),
        ("lr/w", "schedule: rate: lr is multiplied by the rate"),
        ("1/(n - 5) + w", "schedule: rate: has no real value at n = 5"),
        ("t*w", "schedule: rate: unknown symbol 't'"),
        ("prod(w, w, 1, n)", "schedule: rate: column"),
    ],
)
def test_a_wrong_schedule_is_told_its_place(rate: str, said: str) -> None:
    text = FILE.replace("RATE", rate)
    if "prod" in rate:
        text = text.replace('"prod(w, w, 1, n)"', '"w*prod(1/w, w, 1, n)"')
        said = "schedule: rate: prod: the index w is a parameter"
    with pytest.raises(DeclarationError) as caught:
        read_toml(text, "mine.toml")
    assert str(caught.value).startswith(f"mine.toml: {said}")


def test_branches_of_sympy_are_read_from_python() -> None:
    b = Piecewise((1 / (n + 1), n < 3), (2, True))
    assert Momentum("grad", "0.9", b).b == where(n < 3, 1 / (n + 1), 2)
    with pytest.raises(DeclarationError, match="stand in b and in the rate alone"):
        Momentum(Min(1, Symbol("grad")), "0.9", "1")
