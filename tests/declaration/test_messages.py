"""What a new user writes wrong, and what he is told: what it is, where it stands, and what to write instead."""

from __future__ import annotations

import pytest

import symmem
from symmem.algebra.atoms import STEP
from symmem.declaration import catalogue
from symmem.declaration.hints import CALLS, SYMBOLS
from symmem.declaration.loading import load
from symmem.declaration.names import suggestion
from symmem.declaration.toml import read_toml
from symmem.errors import DeclarationError

FORM = """name = "mine"
phi = "m1"

[parameters]
beta = 0.9

[[momentum]]
g = "grad"
beta = "beta"
b = "1 - beta"
"""

WRONG = [
    ('"m1"', '"clip(m1, -1, 1)"', "phi: column 1: clip is not known: ", "c*tanh(x/c)"),
    ('"m1"', '"clip(m1)"', "phi: clip is not known: ", "c*tanh(x/c)"),
    ('"m1"', '"pow(m1, 2)"', "phi: column 1: pow is not known", "x**y"),
    ('"m1"', '"np.sqrt(m1)"', "phi: column 1: names have no dots", "sqrt(x) alone"),
    ('"m1"', '"np.pi*m1"', "phi: column 1: names have no dots", "not np.sqrt"),
    ('"m1"', '"m1/sum(m1)"', "phi: sum joins entries", "dot(x, 1)"),
    ('"m1"', '"m1/svd(m1)"', "phi: svd joins entries", "[functions]"),
    ('"m1"', '"m1/norm(m1, 2)"', "phi: column 4: norm takes 1 argument", "write norm(x)"),
    ('"m1"', '"dot(m1)"', "phi: column 1: dot takes 2 arguments", "write dot(x, y)"),
    (
        '"m1"',
        '"inverse_root(m1, 1/2)"',
        "phi: column 1: inverse_root: p is a whole number from 1 to 16",
        "write one",
    ),
    ('"m1"', '"m1 + norm(2)"', "phi: column 6: norm takes vectors", "a momentum variable"),
    ('"m1"', '"ln(m1)"', "phi: ln is not known", "log(x)"),
    ('"m1"', '"sigmoid(m1)"', "phi: sigmoid is not known", "1/(1 + exp(-x))"),
    ('"m1"', '"lambda*m1"', "phi: column 1: 'lambda' is a word of Python", "another name"),
    ('"m1"', '"h*m1"', "phi: unknown symbol 'h'", "learning rate"),
    ('"m1"', '"m1*(1 + 2"', "phi: column 4: a '(' without its ')'", "close it"),
    ('"grad"', '"sin(pi*grad)"', "momentum 1: g: unknown symbol 'pi'", "3.14159"),
    ('"grad"', '"g"', "momentum 1: g: unknown symbol 'g'", "called grad"),
    ('"grad"', '"grad²"', "momentum 1: g: column 5: '²' is not known", "write **2"),
    ('"1 - beta"', '"1/(1 - beta**t)"', "momentum 1: b: unknown symbol 't'", "n + 1"),
    ('"grad"', '"min(1, grad)"', "momentum 1: g: column 1: min is not known here", "need derivatives"),
    ("beta = 0.9", 'beta = "0.9"', "parameters: beta: '0.9' is text", "without quotes"),
    ("beta = 0.9", "beta = true", "parameters: beta: True is not a number", "beta = 0.9"),
    ('"beta"', '"sqrt(beta)"', "momentum 1: beta: the powers of sqrt(beta)", "make it a parameter"),
    ('"beta"', '"exp(-1)"', "momentum 1: beta: the powers of exp(-1)", "with 0.367879 as its default"),
    # The words that led on to a second refusal, or to something false.
    (
        '"m1"',
        '"t*m1"',
        "phi: unknown symbol 't': the step is called n, and n is not known in phi",
        "goes in a b",
    ),
    (
        '"grad"',
        '"t*grad"',
        "momentum 1: g: unknown symbol 't': the step is called n, and n is not",
        "goes in b",
    ),
    (
        '"m1"',
        '"m1 + g"',
        "phi: unknown symbol 'g': the gradient is called grad, and grad is not known",
        '"grad"',
    ),
    (
        '"m1"',
        '"m1 + x"',
        "phi: unknown symbol 'x': what is trained is called theta, and theta",
        'g = "theta"',
    ),
    ('"m1"', '"m0"', "phi: unknown symbol 'm0': momentum variables are counted from 1", "m1, m2"),
    ('"m1"', '"m10"', "phi: m10 is not declared: there is m1 alone", "add a [[momentum]]"),
    ('"m1"', '"max(m1, 0)"', "phi: column 1: max is not known here", "[smooth]"),
    ('"m1"', '"2 m1"', "phi: column 3: not an expression: two values side by side", "product with *"),
    ('"m1"', '"sin m1"', "phi: column 5: sin is a function", "write sin(m1)"),
    ('"m1"', '"m1 +"', "phi: column 4: not an expression: it ends with '+'", "what follows"),
    ('"m1"', '"m1/|m1|"', "phi: column 4: no bars", "norm(x)"),
    ('"m1"', '"1,5*m1"', "phi: column 1: an expression is one value", "0.5"),
    ('"m1"', '"f(m1, m1)"', "phi: unknown function 'f'", "[functions]"),
    (
        '"1 - beta"',
        '"mod(n, 2)"',
        "momentum 1: b: unknown function 'mod'; known are sqrt",
        "min, max, where, prod",
    ),
    ('"1 - beta"', '"floor(n)"', "momentum 1: b: floor is not known", "where(n < 30, 1, 0.1)"),
    ('"1 - beta"', '"gamma(n)"', "momentum 1: b: unknown function 'gamma'", "write a formula in them"),
    (
        '"1 - beta"',
        '"n < 3"',
        "momentum 1: b: column 1: a condition stands inside where",
        "where(n < 100, x, y)",
    ),
    (
        '"1 - beta"',
        '"1 if n < 3 else 0"',
        "momentum 1: b: column 1: a condition stands",
        "where(n < 100, x, y)",
    ),
    (
        '"1 - beta"',
        '"where(n == 3, 1, 2)"',
        "momentum 1: b: column 9: '==' is not known",
        "n >= 3 and n <= 3",
    ),
    ('"1 - beta"', '"beta/n"', "momentum 1: b: at n = 0 and the default values: division by zero", "n + 1"),
    ('"beta"', '"min(beta, 0.5)"', "momentum 1: beta: column 1: min is not known here", "b and in the rate"),
    ("beta = 0.9", "beta = [0.9]", "parameters: beta: [0.9] is not a number", "beta = 0.9"),
    ("beta = 0.9", "beta = 2020-01-01", "parameters: beta: 2020-01-01 is not a number", "beta = 0.9"),
    ('beta = "beta"', "delay = 1.5", "momentum 1: delay: 1.5 is not a whole number", "delay = 1"),
    ('"m1"', "m1", "not TOML: Invalid value (at line 2, column 7)", "in quotes"),
    (
        'phi = "m1"\n\n[parameters]',
        '[parameters]\nphi = "m1"',
        "phi is missing: it stands below [parameters]",
        "above",
    ),
    (
        'g = "grad"',
        'g = "grad"\ntitle = "x"',
        "momentum 1: title stands below [[momentum]]",
        "above the first table",
    ),
    (
        'name = "mine"',
        'name = "mine"\ntitle = "a\\nb"',
        "title: 'a\\nb' is not one printable line",
        "line breaks",
    ),
    (
        '"1 - beta"',
        '"1 - beta"\n[citation.one]\nyear = 2020',
        "citation: one: year: 2020 is not text",
        "quotes",
    ),
    ('"m1"', '"exp*m1"', "phi: exp is a function", "write exp(x)"),
    ('"m1"', '"I*m1"', "phi: unknown symbol 'I'; known here: m1, beta", "no parameter can be called so"),
    ('"grad"', '"loss*grad"', "momentum 1: g: unknown symbol 'loss'", "its gradient, called grad"),
    ('"grad"', '"hessian"', "momentum 1: g: unknown symbol 'hessian'", "not in the language"),
    (
        '"1 - beta"',
        '"sum(beta**k, k, 0, n)"',
        "momentum 1: b: column 1: sum joins entries",
        "its closed form",
    ),
    ('"beta"', '""', "momentum 1: beta: empty", "a number"),
    ("beta = 0.9", "beta = 0.9\nlr = 0.1", "parameters: lr: lr is the learning rate", "remove it"),
    ('"1 - beta"', '"1 - beta"\n[schedule]\nrate = "n - n"', "schedule: rate: is zero", "change it"),
    ('"1 - beta"', '"1 - beta"\n[torch]\nstate = 3', "torch: state: expected a table", "key = value"),
]


@pytest.mark.parametrize(("old", "new", "cause", "way"), WRONG, ids=[new for _, new, _, _ in WRONG])
def test_a_wrong_declaration_is_told_its_place_its_cause_and_the_way_out(
    old: str, new: str, cause: str, way: str
) -> None:
    assert old in FORM
    with pytest.raises(DeclarationError) as caught:
        read_toml(FORM.replace(old, new, 1), "mine.toml")
    said = str(caught.value)
    assert said.startswith(f"mine.toml: {cause}")
    assert way in said


def test_a_number_stands_wherever_an_expression_may() -> None:
    text = FORM.replace('"beta"', "0.9").replace('"1 - beta"', "1").replace("beta = 0.9\n\n", "\n")
    (momentum,) = read_toml(text).momentum
    written = FORM.replace('"beta"', '"0.9"').replace('"1 - beta"', '"1"').replace("beta = 0.9\n\n", "\n")
    assert momentum == read_toml(written).momentum[0]
    assert symmem.Momentum("grad", 0.9, 1) == momentum


def test_a_number_is_short_for_a_default() -> None:
    long = FORM.replace("beta = 0.9", "beta = { default = 0.9 }")
    assert read_toml(FORM) == read_toml(long)


@pytest.mark.parametrize("name", catalogue.names())
def test_what_is_refused_is_not_in_the_zoo(name: str) -> None:
    """A new check may refuse what is right."""
    assert load(name).name == name


def test_a_declared_name_is_no_riddle() -> None:
    """The words of other programs are hints, not reserved: a declaration may have them."""
    named = FORM.replace("beta = 0.9", "t = 0.9").replace('"beta"', '"t"').replace("1 - beta", "1 - t")
    assert read_toml(named).momentum[0].beta.name == "t"
    text = FORM.replace('"m1"', '"svd(m1)"') + "\n[functions]\nsvd = {}\n"
    assert read_toml(text).functions[0].name == "svd"
    assert set(SYMBOLS).isdisjoint(CALLS)


@pytest.mark.parametrize(
    ("word", "meant"),
    [("AdamW", "adamw"), ("ADAM", "adam"), ("Lion-k", "lion-k"), ("torch.optim.AdamW", "adamw")],
)
def test_the_nearest_name_is_found_in_any_letters(word: str, meant: str) -> None:
    with pytest.raises(DeclarationError, match=f"did you mean {meant}[?]"):
        load(word)
    assert suggestion("Phi", ["phi", "pi"]) == "; did you mean phi?"
    assert suggestion("beta", ["beta2", "eps", "beta1"]) == "; did you mean beta1 or beta2?"


@pytest.mark.parametrize("b", ["n*exp(-n)", "sqrt(n + 1) - sqrt(n)", "log(n + 2)/(n + 1)"])
def test_what_tends_to_zero_is_not_said_to_grow(b: str) -> None:
    missing = str(symmem.derive(read_toml(FORM.replace("1 - beta", f"beta*({b})"))).limit)
    assert "no known limit" in missing
    assert "grows" not in missing


def test_what_grows_is_said_to_grow() -> None:
    assert "grows without bound" in str(symmem.derive(read_toml(FORM.replace("1 - beta", "beta*n"))).limit)


@pytest.mark.parametrize("name", ["gd", "adamw", "lion"])
def test_a_late_step_without_long_numbers_is_answered(name: str) -> None:
    later = symmem.derive(name).at(100_000)
    assert not later.F.has(STEP)
    assert symmem.derive(name).to_latex(100_000)


def test_a_late_step_with_long_numbers_is_refused() -> None:
    late = symmem.derive(symmem.load("heavyball").with_values(beta=0.9))
    with pytest.raises(symmem.DerivationError, match="exact numbers of about 400000 digits"):
        late.to_latex(100_000)


@pytest.mark.parametrize("b", ["1e-400", "2 + sin(n)"])
def test_odd_numbers_are_shown(b: str) -> None:
    assert str(symmem.derive(read_toml(FORM.replace("1 - beta", f"beta*({b})"))))
