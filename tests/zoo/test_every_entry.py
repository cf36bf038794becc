"""Every entry of the zoo against brute force: a cheap part always, all of it under ``make prove``."""

from __future__ import annotations

import pytest
from truth import EVERY, load

from symmem.algebra.results import Missing
from symmem.checks.claims import claims, random_points
from symmem.checks.orders import error_orders
from symmem.checks.verify import as_theory_sees, dimension_of, layout_of, literal_of
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.verification import bruteforce
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.values import gentle_values, settled_step
from symmem.verification.vectors import relative_error

CASCADES = [name for name in EVERY if derive(load(name)).method.is_cascade]


def literal(name: str) -> Literal:
    optimizer: Optimizer = load(name)
    return literal_of(as_theory_sees(optimizer), gentle_values(optimizer), layout_of(optimizer))


@pytest.mark.parametrize("name", EVERY)
def test_one_step_and_the_limit(name: str) -> None:
    run = literal(name)
    points = random_points(run, dimension_of(run.layout), 1)
    found = list(claims(derive(load(name)), run, points, (2,)))
    # The limit of a rate or a product that settles slowly is out of reach of brute force.
    settles = settled_step(run.optimizer, run.numbers) is not None
    assert {claim.step for claim in found} == ({2, None} if settles else {2})
    assert [claim for claim in found if not claim.holds] == []


@pytest.mark.prove
@pytest.mark.parametrize("name", EVERY)
def test_finite_n_and_the_limit(name: str) -> None:
    run = literal(name)
    points = random_points(run, dimension_of(run.layout), 2, seed=1)
    found = list(claims(derive(load(name)), run, points, (0, 1, 3, 6, 11)))
    assert len(found) == (12 if settled_step(run.optimizer, run.numbers) is not None else 10)
    assert [claim for claim in found if not claim.holds] == []


@pytest.mark.prove
@pytest.mark.parametrize("name", EVERY)
def test_error_orders(name: str) -> None:
    """One without the correction, two with it and on the straight line, of one step and over a fixed time."""
    run = literal(name)
    point = random_points(run, dimension_of(run.layout), 1)[0]
    found = error_orders(derive(load(name)), run, point)
    assert len(found) == (4 if isinstance(derive(load(name)).straight, Missing) else 6)
    assert [each for each in found if not each.holds] == []


@pytest.mark.prove
@pytest.mark.parametrize("name", CASCADES)
def test_second_order_of_a_cascade_in_the_limit(name: str) -> None:
    """F_1 and F_2 against the expansion in h of the direction of the true run."""
    run, derivation = literal(name), derive(load(name), 2)
    point = random_points(run, dimension_of(run.layout), 1)[0]
    assert not isinstance(derivation.coefficients, Missing)
    step = settled_step(run.optimizer, run.numbers)
    assert step is not None
    truth = bruteforce.expansion(run, point, step, 2, digits=15)
    for formula, exact in zip(derivation.coefficients, truth, strict=True):
        if formula == 0:  # a second moment that vanishes on a constant past leaves no F_1 (ACProp)
            assert max(map(abs, exact)) < 1e-20
            continue
        layouts = None if run.layout is None else {"theta": run.layout, "grad": run.layout}
        value = evaluate(
            formula, run.numbers, {"theta": point}, run.loss, run.functions, layouts=layouts, digits=30
        )
        assert relative_error(value if isinstance(value, list) else [value] * len(point), exact) < 1e-10
