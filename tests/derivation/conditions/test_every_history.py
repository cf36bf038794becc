"""What is said of every history holds on random ones; the momentum variables are added up here."""

from __future__ import annotations

import random

import pytest
from sympy import Expr, Float, Integer, Symbol
from truth import load

from symmem import Momentum, Optimizer
from symmem.derivation.conditions.every_history import every_history
from symmem.method.reading import method_of

STEPS = 5
CLAIMED = {
    "adamw": ({2}, {"eps + m2"}, True),
    "signum": (set(), {"eps + m1**2"}, False),
    "rmsprop-momentum-optax": ({1}, {"eps + m1"}, False),
    "grokfast-adamw": ({4}, {"eps**2 + m4"}, True),
    "adan": ({4}, {"eps + sqrt(m4)"}, True),
}


def momenta(optimizer: Optimizer, seed: int) -> dict[Symbol, Expr]:
    """The variables at the last step of a random history of one entry."""
    values = {Symbol(p.name): p.default for p in optimizer.parameters}
    draw = random.Random(seed)

    def drawn() -> Float:
        return Float(draw.gauss(0, 1))

    past: list[dict[Symbol, Expr]] = []
    seen: list[list[Expr]] = []
    for n in range(STEPS):
        known = {**values, Symbol("grad"): drawn(), Symbol("theta"): drawn(), Symbol("n"): Integer(n)}
        seen.append([])
        for place, variable in enumerate(optimizer.momentum):
            seen[n].append(variable.g.xreplace(known).evalf())
            if variable.delay:
                total = seen[max(0, n - variable.delay)][place]
            else:
                beta = variable.beta.xreplace(known)
                total = sum((1 if k == 0 else beta**k) * seen[n - k][place] for k in range(n + 1))
            known[Symbol(f"m{place + 1}")] = (variable.b.xreplace(known) * total).evalf()
        past.append(known)
    return past[-1]


@pytest.mark.parametrize("name", CLAIMED)
def test_signs_hold_on_random_histories(name: str) -> None:
    optimizer = load(name)
    found = every_history(method_of(optimizer), 1)
    places, away, reads = CLAIMED[name]
    assert (set(found.nonnegative), set(map(str, found.away)), found.reads_theta) == (places, away, reads)
    for seed in range(4):
        values = momenta(optimizer, seed)
        assert all(values[Symbol(f"m{place}")] >= 0 for place in found.nonnegative)
        assert all(abs(inner.xreplace(values).evalf()) > 0 for inner in found.away)


@pytest.mark.parametrize(("beta", "b"), [("beta", "-1"), ("-beta", "1"), ("beta", "1 - 2*beta")])
def test_a_weight_that_may_be_negative_proves_nothing(beta: str, b: str) -> None:
    parameters = {"beta": (0.5, "[0, 1)"), "eps": (0.1, "(0, inf)")}
    declared = [{"default": default, "range": held} for default, held in parameters.values()]
    optimizer = Optimizer(
        "signed",
        "m2/sqrt(m1 + eps)",
        (Momentum("grad**2", beta, b), Momentum("grad", "0", "1")),
        dict(zip(parameters, declared, strict=True)),
    )
    found = every_history(method_of(optimizer), 1)
    assert found.nonnegative == ()
    assert found.away == ()
    assert list(map(str, found.near)) == ["eps + m1"]
