"""How the first-order derivation grows with the number of momentum variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count

from measure import Row, Target, seconds_at_most, side_by_side

from symmem import Momentum, Optimizer, derive

MANY = 10
PATIENCE = 60
"""Seconds after which a derivation is stopped."""


def adam_like(betas: Sequence[str]) -> Optimizer:
    """Bias-corrected averages of grad over the root of one of grad^2; a single one over its own square."""
    last = len(betas)
    momentum = [
        Momentum("grad**2" if position == last > 1 else "grad", beta, f"(1 - {beta}) / (1 - {beta}**(n + 1))")
        for position, beta in enumerate(betas, start=1)
    ]
    above = " + ".join(f"m{position}" for position in range(1, max(last, 2)))
    below = f"m{last}" if last > 1 else "m1**2"
    return Optimizer("adam-like", f"({above}) / sqrt({below} + eps)", momentum, _parameters(betas, "eps"))


def linear(betas: Sequence[str]) -> Optimizer:
    """Heavy-ball variables added up: the sums have transients."""
    phi = " + ".join(f"m{position}" for position in range(1, len(betas) + 1))
    return Optimizer("linear", phi, [Momentum("grad", beta, "1") for beta in betas], _parameters(betas))


def bias_corrected_variables() -> Row:
    return _growth("adam-like Phi, bias-corrected", "a", adam_like)


def heavy_ball_variables() -> Row:
    return _growth("linear Phi, heavy-ball", "h", linear)


def _growth(name: str, prefix: str, build: Callable[[Sequence[str]], Optimizer]) -> Row:
    """Every run has symbolic betas with names that were never seen: no cache can know the answer."""
    runs = count()

    def derivation_of(variables: int) -> float:
        run = next(runs)
        return _derivation_seconds(build([f"{prefix}{run}x{position}" for position in range(variables)]))

    found = side_by_side(lambda: derivation_of(MANY), lambda: derivation_of(1), rounds=7)
    note = f"stopped after {PATIENCE} s" if found[0] >= PATIENCE else ""
    return Row(f"{name}: {MANY} variables / 1", *found, Target(15), note)


def _derivation_seconds(optimizer: Optimizer) -> float:
    """F and M for symbolic n, and both limits."""

    def work() -> tuple[object, ...]:
        derivation = derive(optimizer)
        return derivation.F, derivation.M, derivation.limit.F, derivation.limit.M

    return seconds_at_most(PATIENCE, work)


def _parameters(betas: Sequence[str], *others: str) -> dict[str, dict[str, object]]:
    decays: dict[str, dict[str, object]] = {
        name: {"default": Fraction(9, 10), "range": "[0, 1)"} for name in betas
    }
    return decays | {name: {"default": Fraction(1, 100), "range": "(0, inf)"} for name in others}
