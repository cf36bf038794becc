"""``symmem verify --minibatch``: right formulas hold, and one that is wrong anywhere does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mpmath import mpf
from sympy import Rational

import symmem
from symmem.checks import noise
from symmem.checks.verify import verify
from symmem.derivation.noise.mean_over_batches import MeanOverBatches, mean_over_batches, noise_in_mean
from symmem.method.sampling import Sampling
from symmem.verification.losses import probe_point


@pytest.mark.parametrize("name", ["adam", "sgd-l2"])
def test_the_noise_of_mini_batches_holds(name: str) -> None:
    found = verify(symmem.load(name), orders=False, noise=True, points=1, steps=(1,))
    assert {claim.quantity for claim in found.claims} == {"F", "M", "F_xi", "M_xi"}
    assert found.holds


@pytest.mark.parametrize("part", ["frozen", "memory"])
def test_a_wrong_formula_is_seen(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*given: object) -> MeanOverBatches:
        found = noise_in_mean(*given)  # type: ignore[arg-type]
        assert isinstance(found, MeanOverBatches)
        return replace(found, **{part: getattr(found, part) * (1 + symmem.theta / 10**9)})

    monkeypatch.setattr(noise, "noise_in_mean", wrong)
    found = verify(symmem.load("signum"), orders=False, noise=True, points=1, steps=(1,))
    assert not found.holds


def test_a_formula_that_is_zero_in_numbers_holds_and_one_that_is_not_does_not() -> None:
    """Before its branch is taken an update is linear, as RAdam's: noise does nothing, and the truth is rounding."""
    momentum = [("grad", "beta", "1"), ("1", "0", "where(beta*n > 5, 1, 0)")]
    parameters = {"beta": {"default": Rational(1, 2), "range": "(0, 1)"}}
    late = symmem.Optimizer(
        "late", "m1 + m1**2*m2", [symmem.Momentum(*each) for each in momentum], parameters
    )
    soon = symmem.Optimizer("soon", "m1 + m1**2", [symmem.Momentum(*momentum[0])], parameters)
    errors = []
    for optimizer in (late, soon):
        formula = mean_over_batches(symmem.derive(optimizer).method, Sampling(), 1).frozen
        assert formula != 0
        rounding = (mpf(0), mpf("1e-33"))
        point, batches = probe_point(2), noise.three_batches()
        errors.append(noise._error(formula, rounding, {"beta": Rational(1, 2)}, batches, point))
    assert errors[0] < 1e-30
    assert errors[1] >= 1


def test_what_is_not_claimed_is_said() -> None:
    found = verify(symmem.load("lamb"), orders=False, noise=True, points=1, steps=(1,))
    assert "the noise of mini-batches" in dict(found.missing)
