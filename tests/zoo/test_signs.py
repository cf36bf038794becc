"""The sign table of ``symmem compare --all`` against brute force: the number c of L + h c R."""

from __future__ import annotations

import mpmath
import pytest
from mpmath import mpf
from sympy import Integer, Rational
from truth import EVERY, load

from symmem.checks.claims import random_points
from symmem.checks.rows import sign_row
from symmem.checks.verify import as_theory_sees, dimension_of, layout_of, literal_of
from symmem.declaration.optimizer import Optimizer
from symmem.verification import bruteforce
from symmem.verification.values import gentle_values, settled_step

TINY = {name: Rational(1, 10**16) for name in ("eps", "delta", "eps_root")}
"""The table is told for small numbers that go to 0."""
DIGITS = 60
FAR = 120
"""A step at which factors b(n) that settle slowly are within a few percent of their limits."""


def slopes(norm: str, values: dict[str, Rational], gradient: list[mpf]) -> list[mpf] | None:
    """``dR/d(grad)``, entry by entry, for the norms of the table."""
    if norm == "total(Abs(grad))":
        return [mpmath.sign(x) for x in gradient]
    if norm == "total(grad**2)":
        return [2 * x for x in gradient]
    if "p" in values:
        power = 2 - 2 * mpf(values["p"].p) / values["p"].q
        return [power * abs(x) ** (power - 1) * mpmath.sign(x) for x in gradient]
    return None


@pytest.mark.prove
@pytest.mark.parametrize("name", [name for name in EVERY if load(name).schedule is None])
def test_the_number_of_the_sign_table(name: str) -> None:
    """``M = h P grad(c R)`` with ``P = F/grad``, entry by entry, without decay; c = 0 is ``M = 0``.

    Under a schedule c is told per unit of a slow rate: tests/derivation/test_slow_rate.py.
    """
    optimizer = load(name)
    values = gentle_values(optimizer) | ({"weight_decay": Integer(0)} if _decays(optimizer) else {})
    row = sign_row(name, {key: value for key, value in values.items() if key not in TINY})
    if row["sign"] is None:
        return
    values |= {key: tiny for key, tiny in TINY.items() if key in values}
    run = literal_of(as_theory_sees(optimizer), values, layout_of(optimizer))
    point = random_points(run, dimension_of(run.layout), 1)[0]
    step = settled_step(run.optimizer, run.numbers)
    bound, step = (1e-6, step) if step is not None else (0.03, FAR)
    with mpmath.workdps(DIGITS):
        gradient = list(run.loss.gradient(point))
        update = bruteforce.memoryless(run, point, step, DIGITS)
        moved = bruteforce.correction(run, point, step, Rational(1), DIGITS)
        if row["sign"] == 0:
            assert max(map(abs, moved)) < mpf(10) ** -6 * max(map(abs, update))
            return
        assert row["sign"] == (1 if row["factor"] > 0 else -1)
        slope = slopes(row["norm"]["sympy"], values, gradient)
        assert slope is not None
        penalty = run.loss.contraction(point, slope)
        for m, f, g, r in zip(moved, update, gradient, penalty, strict=True):
            assert abs(m * g / (f * r) / mpf(row["factor"]) - 1) < bound


def _decays(optimizer: Optimizer) -> bool:
    return any(parameter.name == "weight_decay" for parameter in optimizer.parameters)
