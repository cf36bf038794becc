"""``symmem verify --minibatch``: right formulas hold, and one that is wrong anywhere does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

import symmem
from symmem.checks import noise
from symmem.checks.verify import verify
from symmem.derivation.mean_over_batches import MeanOverBatches, mean_over_batches


@pytest.mark.parametrize("name", ["adam", "sgd-l2"])
def test_the_noise_of_mini_batches_holds(name: str) -> None:
    found = verify(symmem.load(name), orders=False, noise=True, points=1, steps=(1,))
    assert {claim.quantity for claim in found.claims} == {"F", "M", "F_xi", "M_xi"}
    assert found.holds


@pytest.mark.parametrize("part", ["frozen", "memory"])
def test_a_wrong_formula_is_seen(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*given: object) -> MeanOverBatches:
        found = mean_over_batches(*given)  # type: ignore[arg-type]
        assert isinstance(found, MeanOverBatches)
        return replace(found, **{part: getattr(found, part) * (1 + symmem.theta / 10**9)})

    monkeypatch.setattr(noise, "mean_over_batches", wrong)
    found = verify(symmem.load("signum"), orders=False, noise=True, points=1, steps=(1,))
    assert not found.holds


def test_what_is_not_claimed_is_said() -> None:
    found = verify(symmem.load("lamb"), orders=False, noise=True, points=1, steps=(1,))
    assert "the noise of mini-batches" in dict(found.missing)
