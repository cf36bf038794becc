"""The zoo against the table of the design, entry by entry: one table, written out by hand, no skips."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest
from sympy import Expr, Function, Integer, Rational, Symbol, sqrt

from symmem.declaration.catalogue import FAMILIES, FIRST, ZooEntry, entries, names, text_of
from symmem.declaration.left_out import LEFT_OUT
from symmem.declaration.loading import load, source_text
from symmem.declaration.optimizer import Momentum, Optimizer
from symmem.errors import DeclarationError

n, theta, grad, m1, m2, m3, m4 = (Symbol(name) for name in ("n", "theta", "grad", "m1", "m2", "m3", "m4"))
beta, beta1, beta2, eps, decay = (Symbol(name) for name in ("beta", "beta1", "beta2", "eps", "weight_decay"))
zero, one = Integer(0), Integer(1)


def corrected(rate: Symbol) -> Expr:
    """BC(x) of the design."""
    return (1 - rate) / (1 - rate ** (n + 1))


ROOT, TORCH = m1 / sqrt(m2 + eps), m1 / (sqrt(m2) + eps)
NOW = (grad, zero, one)
DECAY = (theta, zero, decay)
SQUARE = (grad**2, beta, 1 - beta)
ADAM = [(grad, beta1, corrected(beta1)), (grad**2, beta2, corrected(beta2))]
LION_PHI = -(m1 + m2) / sqrt((m1 + m2) ** 2 + eps) + m3
LION = [(-grad, beta2, (1 - beta2) * beta1 / beta2), (-grad, zero, 1 - beta1 / beta2), DECAY]
LION_BC = [(-grad, beta2, corrected(beta2) * beta1 / beta2), *LION[1:]]

MOMENTUM = {"beta": "0.9"}
RMSPROP = {"beta": "0.99", "eps": "1e-8"}
ADAMS = {"beta1": "0.9", "beta2": "0.999", "eps": "1e-8"}
ADAMWS = {**ADAMS, "weight_decay": "0.01"}
LIONS = {"beta1": "0.9", "beta2": "0.99", "eps": "1e-6", "weight_decay": "0.01"}
LION_KS = {"beta1": "0.9", "beta2": "0.99", "weight_decay": "0.01"}

TABLE = [
    ("gd", "GD", m1, [NOW], {}),
    ("heavyball", "HeavyBall", m1, [(grad, beta, one)], MOMENTUM),
    ("ema-momentum", "EMAMomentum", m1, [(grad, beta, 1 - beta)], MOMENTUM),
    ("ema-momentum-debiased", "EMAMomentumDebiased", m1, [(grad, beta, corrected(beta))], MOMENTUM),
    ("nesterov", "Nesterov", m1 + m2, [(grad, beta, beta), NOW], MOMENTUM),
    ("rmsprop", "RMSprop", ROOT, [NOW, SQUARE], RMSPROP),
    ("rmsprop-torch", "RMSprop-Torch", TORCH, [NOW, SQUARE], RMSPROP),
    ("adam", "Adam", ROOT, ADAM, ADAMS),
    ("adam-torch", "Adam-Torch", TORCH, ADAM, ADAMS),
    ("adamw", "AdamW", ROOT + m3, [*ADAM, DECAY], ADAMWS),
    ("adamw-torch", "AdamW-Torch", TORCH + m3, [*ADAM, DECAY], ADAMWS),
    ("nadamw", "NAdamW", (beta1 * m1 + (1 - beta1) * m4) / sqrt(m2 + eps) + m3, [*ADAM, DECAY, NOW], ADAMWS),
    ("signum", "Signum", m1 / sqrt(m1**2 + eps), [(grad, beta, 1 - beta)], {"beta": "0.9", "eps": "1e-6"}),
    ("lion", "Lion", LION_PHI, LION, LIONS),
    ("lion-bc", "Lion-BC", LION_PHI, LION_BC, LIONS),
    ("lion-k", "Lion-K", -Function("gradK")(m1 + m2) + m3, LION, LION_KS),
]


@pytest.mark.parametrize(
    ("name", "title", "phi", "momentum", "defaults"), TABLE, ids=[row[0] for row in TABLE]
)
def test_entry(
    name: str, title: str, phi: Expr, momentum: list[tuple[Expr, Expr, Expr]], defaults: dict[str, str]
) -> None:
    optimizer = load(name)
    assert (optimizer.name, optimizer.title) == (name, title)
    assert optimizer.phi - phi == 0
    assert optimizer.momentum == tuple(Momentum(*row) for row in momentum)
    assert optimizer.defaults == {key: Rational(text) for key, text in defaults.items()}
    assert list(optimizer.defaults) == list(defaults)
    assert optimizer.values == ()


def test_the_index_is_the_table_in_its_order() -> None:
    first = [(entry.name, entry.title) for entry in entries() if entry.name in FIRST]
    assert first == [row[:2] for row in TABLE]
    assert tuple(row[0] for row in TABLE) == FIRST
    assert entries()[0] == ZooEntry("gd", "momentum", "GD", "Cauchy 1847")
    assert all(entry.reference for entry in entries())
    assert [entry.name for entry in entries()] == [*names()]
    assert [name for family in FAMILIES for name in names(family)] == [*names()]
    with pytest.raises(DeclarationError, match="'adams' is not a family"):
        names("adams")


def test_every_file_is_listed_and_named_by_its_optimizer() -> None:
    zoo = resources.files("symmem.declaration") / "zoo"
    files = [file.name for folder in zoo.iterdir() for file in folder.iterdir()]
    assert sorted(files) == sorted(f"{name}.toml" for name in names())
    for name in names():
        table = tomllib.loads(text_of(name))
        assert table["name"] == name
        assert name in names(table["family"])


def test_show_gives_the_text_as_it_is_written() -> None:
    assert source_text("adamw") == text_of("adamw")
    with pytest.raises(DeclarationError, match="'adamx' is not in the zoo"):
        text_of("adamx")


SYMBOLS = {
    "beta": (r"\beta", "[0, 1)"),
    "beta1": (r"\beta_1", "[0, 1)"),
    "beta2": (r"\beta_2", "[0, 1)"),
    "eps": (r"\varepsilon", "(0, inf)"),
    "weight_decay": (r"\lambda", "[0, inf)"),
}
RHO = {"beta1": (r"\rho_1", "[0, 1)"), "beta2": (r"\rho_2", "(0, 1)")}
"""Lion's decays are rho in the paper; rho_2 is a denominator, so that 0 is out of its range."""


@pytest.mark.parametrize("name", FIRST)
def test_symbols_and_ranges(name: str) -> None:
    expected = {**SYMBOLS, **RHO} if name in ("lion", "lion-bc", "lion-k") else SYMBOLS
    parameters = load(name).parameters
    assert [(p.latex, str(p.range)) for p in parameters] == [expected[p.name] for p in parameters]
    assert load(name).symbols == {p.name: expected[p.name][0] for p in parameters}


TORCH_NAMES = {
    ("heavyball", "nesterov"): ({"momentum": "beta"}, {"m1": "momentum_buffer"}),
    ("rmsprop", "rmsprop-torch"): ({"alpha": "beta", "eps": "eps"}, {"m2": "square_avg"}),
    ("adam", "adam-torch"): (
        {"betas": ("beta1", "beta2"), "eps": "eps"},
        {"m1": "exp_avg", "m2": "exp_avg_sq"},
    ),
    ("adamw", "adamw-torch"): (
        {"betas": ("beta1", "beta2"), "eps": "eps", "weight_decay": "weight_decay"},
        {"m1": "exp_avg", "m2": "exp_avg_sq"},
    ),
}


@pytest.mark.parametrize("name", FIRST)
def test_torch_spelling(name: str) -> None:
    expected = [value for names, value in TORCH_NAMES.items() if name in names]
    torch = load(name).torch
    assert ([] if torch is None else [(torch.arguments, torch.state)]) == expected


def test_the_opaque_function_of_lion_k() -> None:
    (function,) = load("lion-k").functions
    assert (function.name, function.latex, function.potential) == ("gradK", r"\nabla\mathcal{K}", "K")


def iterates(optimizer: Optimizer, steps: int) -> list[Rational]:
    """The declaration taken literally on the loss theta**2 / 2 from theta = 1, with h = 1/10, exactly."""
    past = [Integer(1)]
    for step in range(steps):
        values = {}
        for position, variable in enumerate(optimizer.momentum, start=1):
            terms = [
                variable.beta**k * variable.g.subs({theta: past[step - k], grad: past[step - k]})
                for k in range(step + 1)
            ]
            values[Symbol(f"m{position}")] = variable.b.subs(n, step) * sum(terms)
        past.append(past[step] - Rational(1, 10) * optimizer.phi.subs(values))
    return past


def test_a_declaration_means_the_recursion() -> None:
    """Heavy ball: v <- v/2 + grad.  EMA momentum is heavy ball with h (1 - beta); debiased starts as GD."""
    heavy, position, velocity = [Integer(1)], Integer(1), Integer(0)
    for _ in range(4):
        velocity = velocity / 2 + position
        position = position - velocity / 10
        heavy.append(position)
    assert iterates(load("heavyball").with_values({"beta": "0.5"}), 4) == heavy
    assert iterates(load("ema-momentum-debiased").with_values({"beta": "0.5"}), 1) == iterates(load("gd"), 1)
    assert iterates(load("nesterov").with_values({"beta": 0}), 4) == iterates(load("gd"), 4)


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_people_ask_for_is_refused_with_a_reason(name: str) -> None:
    """Not in the zoo, and what comes near is."""
    assert name not in names()
    assert set(LEFT_OUT[name].near) <= set(names())
    with pytest.raises(DeclarationError) as error:
        load(name.upper().replace("-", "_"))
    said = str(error.value)
    assert "\n" not in said
    assert LEFT_OUT[name].why in said
    assert all(near in said for near in LEFT_OUT[name].near)
