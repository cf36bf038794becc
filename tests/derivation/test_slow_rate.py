"""While a scheduled optimizer moves, memory acts as without the schedule, per unit of h rate(n)."""

from __future__ import annotations

import pytest
from sympy import S

import symmem
from symmem.algebra.atoms import STEP
from symmem.algebra.families import RATE
from symmem.algebra.results import Missing
from symmem.checks.rows import sign_row
from symmem.derivation.slow_rate import at_slow_rate, is_rated
from symmem.documents.account import account_of
from symmem.documents.columns import Style
from symmem.documents.terminal import terminal_text

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
