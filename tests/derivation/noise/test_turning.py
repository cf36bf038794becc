"""The batch size at which the effect of a decay turns: simulated runs of Adam, against both predictions.

``examples/batch_size/turning.py`` runs the optimizer with its memory and knows no formula for what it measures.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FILE = Path(__file__).resolve().parents[3] / "examples" / "batch_size" / "turning.py"


@pytest.fixture(scope="module")
def turning() -> ModuleType:
    spec = importlib.util.spec_from_file_location("turning", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["turning"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("case", "runs", "share"), [(0, 2000, 0.02), (1, 8000, 0.1)])
def test_small_noise_turns_where_the_second_order_says(
    turning: ModuleType, case: int, runs: int, share: float
) -> None:
    parameter, betas, steepness = turning.CASES[case]
    noise = turning.Noise(steepness)
    expected = turning.predicted(noise, *betas, parameter)
    found, error = turning.measured(noise, betas, parameter, near=expected, runs=runs)
    assert error < share * expected
    assert abs(found - expected) < 3 * error


@pytest.mark.parametrize("steepness", [-1.0, -3.0])
def test_large_noise_turns_where_the_mean_square_stands_still(turning: ModuleType, steepness: float) -> None:
    """``g^2 + V/B`` with ``DV = steepness V D(g^2)/g^2``; the second order is far from it."""
    noise, betas = turning.Noise(steepness), (0.5, 0.97)
    still = turning.standing_still(noise)
    assert still == pytest.approx(-steepness / turning.GRADIENT**2)
    found, error = turning.measured(noise, betas, "beta2", near=still, runs=600, steps=400)
    assert error < 0.01 * still
    assert abs(found - still) < 3 * error + 0.01 * still
    assert turning.predicted(noise, *betas, "beta2") > 1.5 * still


def test_a_variance_that_does_not_move_turns_nothing(turning: ModuleType) -> None:
    noise, betas = turning.Noise(0.0), (0.5, 0.9)
    full = turning.slopes(np.zeros((1, turning.STEPS)), noise, 1.0, betas, "beta2")[0]
    zeta = np.random.default_rng(1).standard_normal((1000, turning.STEPS))
    for ratio in (0.5, 1.0, 2.0):
        batch = 1 / (ratio * turning.GRADIENT**2)
        found = turning.slopes(zeta, noise, batch, betas, "beta2").mean() / full
        assert turning.long_effect(noise, batch) == pytest.approx((1 + ratio) ** -2)
        assert found == pytest.approx((1 + ratio) ** -2, rel=0.03)
        assert 1 - turning.predicted(noise, *betas, "beta2") / batch < 0
