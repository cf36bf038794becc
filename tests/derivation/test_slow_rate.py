"""While a scheduled optimizer moves, memory acts as without the schedule, per unit of h rate(n)."""

from __future__ import annotations

import pytest
from cascades import average
from sympy import Add, Expr, Integer, Rational, S, Sum
from truth import LOSS, THETA

import symmem
from symmem.algebra.atoms import STEP
from symmem.algebra.families import RATE
from symmem.algebra.results import Missing
from symmem.checks.rows import sign_row
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.derivation.slow_rate import at_slow_rate, is_rated
from symmem.documents.account import account_of
from symmem.documents.columns import Style
from symmem.documents.terminal import terminal_text
from symmem.verification import bruteforce
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.vectors import relative_error

DECAYING = ("adamw-cosine", "adamw-wsd")


@pytest.mark.parametrize("name", DECAYING)
def test_a_slow_rate_is_a_factor_of_h(name: str) -> None:
    """M and the modified loss are AdamW's, with h rate(n) in the place of h, whatever the rate tends to."""
    plain, slow = symmem.derive("adamw"), at_slow_rate(symmem.derive(name))
    assert is_rated(slow)
    assert slow.slow_limit.leading == slow.limit.M
    assert (slow.limit.M - RATE(STEP) * plain.limit.M).expand() == 0
    assert slow.modified_loss.potential.has(RATE(STEP))
    per_rate = slow.modified_loss.potential.xreplace({RATE(STEP): S.One})
    assert (per_rate - plain.modified_loss.potential).expand() == 0


@pytest.mark.parametrize("name", ["adamw", "sgd-warmup", "radam"])
def test_a_rate_that_settles_at_one_is_not_told(name: str) -> None:
    derivation = symmem.derive(name)
    assert not is_rated(derivation)
    assert at_slow_rate(derivation) is derivation


def test_the_sign_table_counts_per_unit_of_the_rate() -> None:
    for name in DECAYING:
        row = sign_row(name, ())
        assert (row["sign"], row["per_rate"]) == (-1, True)
        assert row["factor"] == pytest.approx(0.9 / 0.1 - 0.999 / 0.001)
    noam = sign_row("adam-noam", ())  # beta2 = 0.98
    assert (noam["sign"], noam["factor"]) == (-1, pytest.approx(0.9 / 0.1 - 0.98 / 0.02))
    assert not sign_row("adamw", ())["per_rate"]


def test_where_nothing_moves_nothing_is_said_of_the_loss() -> None:
    """The settled rate 0: each part of the limit says why it is missing, and where to look."""
    derivation = symmem.derive("adamw-cosine")
    for found in (derivation.modified_loss, derivation.flow_loss, derivation.gradient_map_verdict):
        assert isinstance(found, Missing)
        assert "nothing moves any more in this limit" in str(found.reason)
    for at in ("n", "limit"):
        told = " ".join(terminal_text(account_of(derivation, at), Style()).split())
        assert "nothing moves any more in this limit; read the limit with a slow rate" in told
        assert "Memory leaves the loss" not in told
        assert "θ − 0" not in told
    assert isinstance(symmem.derive("adamw-wsd").modified_loss.potential, type(derivation.slow_limit.F))


def test_a_comparison_tells_the_rate() -> None:
    told = str(symmem.compare(["adamw", "adamw-cosine", "adam-noam"]))
    assert told.count("−*") == 3
    assert "M = 0" not in told
    assert "h rate(n)" in told
    assert "rate(n) > 0: the learning rate of step n is h rate(n)" in told
    assert "rate(n)" not in str(symmem.compare(["adamw", "sgd-warmup"]))
    side = symmem.compare(["adamw-wsd"])
    assert "changes little while" in side.to_latex()
    assert "changes little while" in side._repr_html_()


DECAYS = {"beta1": 0.2, "beta2": 0.15}
CASCADES = {
    "an average of normalised gradients": (
        "m2",
        (
            average("grad**2", "beta2", debiased=False),
            average("grad/sqrt(m1 + eps)", "beta1", debiased=False),
        ),
    ),
    "equal decays": (
        "m2",
        (
            average("grad**2", "beta1", debiased=False),
            average("grad/sqrt(m1 + eps)", "beta1", debiased=False),
        ),
    ),
    "a delay between two averages": (
        "m3 + m2",
        (
            average("grad**2", "beta2", debiased=False),
            {"g": "m1", "delay": 2},
            average("grad/sqrt(m2 + eps)", "beta1", debiased=False),
        ),
    ),
    "a delay of an average that reads": (
        "m3 + m1",
        (
            average("grad**2", "beta2", debiased=False),
            {"g": "grad/sqrt(m1 + eps)", "beta": "beta1", "b": 1},
            {"g": "tanh(m2)", "delay": 5},
        ),
    ),
}


@pytest.mark.parametrize("name", CASCADES)
def test_past_rates_in_a_cascade(name: str) -> None:
    """M with the rate as a symbol, at the rates of a schedule: that of the optimizer once its gains have settled."""
    phi, momentum = CASCADES[name]
    used = [each for each in ("beta1", "beta2") if each in str(momentum)]
    parameters = {each: {"default": DECAYS[each], "range": "[0, 1)"} for each in used} | {"eps": 0.1}
    optimizer = Optimizer("rated", phi, momentum, parameters, schedule="1/(1 + n/7)")
    last, rate = 30, Rational(1, 100)
    found = derive(optimizer).slow_limit.M

    def told(total: Sum) -> Expr:
        index, first, end = total.limits[0]
        return Add(*(total.function.xreplace({index: Integer(k)}) for k in range(first, min(end, last) + 1)))

    written = found.xreplace({total: told(total) for total in found.atoms(Sum)}).xreplace(
        {STEP: Integer(last)}
    )
    rates = {each: 1 / (1 + each.args[0] / Integer(7)) for each in written.atoms(RATE)}
    values = {**optimizer.defaults, "lr": rate}
    value = evaluate(written.xreplace(rates), values, {"theta": THETA}, LOSS, digits=25)
    truth = bruteforce.correction(Literal(optimizer, {}, LOSS), THETA, last, rate, 25)
    assert relative_error(value, truth) < 1e-13
