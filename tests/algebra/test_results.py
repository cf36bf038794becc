"""Sentences, regimes and what is missing: each is data, and its text is put together from it."""

from __future__ import annotations

import copy
import pickle

import pytest
from sympy import Symbol

from symmem.algebra.intervals import DECAYS
from symmem.algebra.results import (
    EXACT,
    Advice,
    Assumption,
    Bound,
    Conclusion,
    Missing,
    Named,
    Regime,
    Sentence,
    Start,
    Unknown,
)
from symmem.errors import DerivationError

eps, root, lr, slr = Symbol("eps"), Symbol("eps_root"), Symbol("lr"), Symbol("slr")


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (Bound(eps), "O(eps)"),
        (Bound(lr), "O(h)"),
        (Bound(lr**2), "O(h^2)"),
        (Bound(slr**3), "O(slr^3)"),  # a parameter whose name has lr in it
        (EXACT, "exact"),
        (Regime((eps,)), "eps -> 0"),
        (Regime((eps, root)), "eps, eps_root -> 0"),
        (Named("Phi"), "Phi"),
        (Named("g", "l"), "g_l"),
        (Named("d", 1), "d_1"),
        (Start(), "theta_0"),
        (Start(1), "theta_0 + h d_1"),
        (Start(2), "theta_0 + h d_1 + h^2 d_2"),
        (Sentence.of(eps, " lies in ", DECAYS, ", up to ", Bound(lr)), "eps lies in (-1, 1), up to O(h)"),
    ],
    ids=str,
)
def test_text(part: object, text: str) -> None:
    assert str(part) == text


def test_a_regime_is_its_small_symbols() -> None:
    assert Regime((eps,), eps) == Regime((eps,), eps**2) == "eps -> 0"
    assert Regime((eps,)) != Regime((root,))
    assert Regime((eps,)) != EXACT
    assert EXACT == "exact"
    assert hash(Regime((eps,), eps)) == hash(Regime((eps,)))
    assert (EXACT == 3) is False
    assert EXACT.is_exact
    assert not Regime((eps,)).is_exact
    assert Regime((eps,), eps).bound == Bound(eps)
    assert EXACT.bound is None


def test_assumptions() -> None:
    sentence = Sentence.of("it holds")
    assert [str(record(sentence)) for record in (Assumption, Conclusion, Unknown)] == ["it holds"] * 3
    assert str(Unknown(sentence, warning=True)) == "warning: it holds"


def test_missing_tells_its_reason_to_whoever_takes_a_part_of_it() -> None:
    missing = Missing(Sentence.of("b = ", eps, " has no limit"), (Advice.STEP, Sentence.of("wait")))
    assert not missing
    assert str(missing) == "b = eps has no limit; ask for a given step, or wait"
    assert str(Missing(Sentence.of("no"))) == "no"
    with pytest.raises(DerivationError, match="b = eps has no limit; ask for a given step"):
        _ = missing.potential
    assert copy.deepcopy(missing) == pickle.loads(pickle.dumps(missing)) == missing


def test_an_empty_sentence_is_false() -> None:
    assert not Sentence()
    assert Sentence.of("a")
