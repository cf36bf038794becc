"""How the first-order derivation grows with the number of momentum variables."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from fractions import Fraction

from measure import Row, Target, side_by_side

from symmem import Momentum, Optimizer, derive, load

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


FAMILIES = {"adam-like": adam_like, "linear": linear}


def bias_corrected_variables() -> Row:
    return _growth("adam-like Phi, bias-corrected", "adam-like")


def heavy_ball_variables() -> Row:
    return _growth("linear Phi, heavy-ball", "linear")


def _growth(name: str, family: str) -> Row:
    """Each derivation has a process of its own: closed forms are kept up to renaming, so new names are not enough."""
    found = side_by_side(lambda: _in_new_process(family, MANY), lambda: _in_new_process(family, 1), rounds=7)
    note = f"stopped after {PATIENCE} s" if found[0] >= PATIENCE else "CPU time, each in a new process"
    return Row(f"{name}: {MANY} variables / 1", *found, Target(15), note)


def _in_new_process(family: str, variables: int) -> float:
    call = [sys.executable, __file__, family, str(variables)]
    try:
        done = subprocess.run(call, capture_output=True, check=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return float(PATIENCE)
    return float(done.stdout)


def _derived(optimizer: Optimizer) -> tuple[object, ...]:
    """F and M for symbolic n, and both limits."""
    derivation = derive(optimizer)
    return derivation.F, derivation.M, derivation.limit.F, derivation.limit.M


def _measured(family: str, variables: int) -> float:
    """CPU seconds of one derivation; AdamW's before it has loaded the modules, and knows none of its closed sums."""
    _derived(load("adamw"))
    optimizer = FAMILIES[family]([f"b{position}" for position in range(variables)])
    start = time.process_time()
    _derived(optimizer)
    return time.process_time() - start


def _parameters(betas: Sequence[str], *others: str) -> dict[str, dict[str, object]]:
    decays: dict[str, dict[str, object]] = {
        name: {"default": Fraction(9, 10), "range": "[0, 1)"} for name in betas
    }
    return decays | {name: {"default": Fraction(1, 100), "range": "(0, inf)"} for name in others}


if __name__ == "__main__":
    print(_measured(sys.argv[1], int(sys.argv[2])))
