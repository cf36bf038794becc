"""The sign table of ``symmem compare --all`` against brute force: the number c of L + h c R, in both senses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import mpmath
import pytest
from mpmath import mpf
from sympy import Expr, Integer, Rational
from truth import EVERY, load

from symmem.checks.claims import random_points
from symmem.checks.rows import sign_row
from symmem.checks.verify import as_theory_sees, dimension_of, layout_of, literal_of
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation, derive
from symmem.derivation.loss.regularisation_sign import regularisation
from symmem.derivation.loss.verdicts import ModifiedLoss
from symmem.verification import bruteforce
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import Loss, ridge_loss
from symmem.verification.ridges import Monomial
from symmem.verification.values import gentle_values, settled_step
from symmem.verification.vectors import Vector

TINY = {name: Rational(1, 10**16) for name in ("eps", "delta", "eps_root")}
"""The table is told for small numbers that go to 0."""
DIGITS = 60
FAR = 120
"""A step at which factors b(n) that settle slowly are within a few percent of their limits."""
NUDGE = mpf(10) ** -18
CONSTANT = [name for name in EVERY if load(name).schedule is None]
"""Under a schedule c is told per unit of a slow rate: tests/derivation/test_slow_rate.py."""
FEW = ("heavyball", "adam", "adam-l2", "signum", "optimistic-gd", "global-clip", "nsgd-momentum")


class Case:
    """An optimizer at values at which its memory is short, without decay, on a coupled loss."""

    def __init__(self, name: str) -> None:
        optimizer = load(name)
        self.values = gentle_values(optimizer) | ({"weight_decay": Integer(0)} if _decays(optimizer) else {})
        tiny = _tiny(optimizer)
        told = {key: value for key, value in self.values.items() if key not in tiny}
        self.row = sign_row(name, told)
        self.derivation: Derivation = derive(optimizer.with_values(told) if told else optimizer)
        self.values |= {key: TINY[key] for key in tiny if key in self.values}
        self.run = literal_of(as_theory_sees(optimizer), self.values, layout_of(optimizer))
        self.point = random_points(self.run, dimension_of(self.run.layout), 1)[0]
        step = settled_step(self.run.optimizer, self.run.numbers)
        self.bound, self.step = (1e-6, step) if step is not None else (0.03, FAR)

    def moved(self) -> Vector:
        """M for h = 1."""
        return bruteforce.correction(self.run, self.point, self.step, Rational(1), DIGITS)

    def penalty(self, norm: Expr) -> Vector:
        """``grad R = H dR/d(grad)``, the inner derivative by a difference of 60 digits."""
        gradient = self.run.loss.gradient(self.point)

        def size(*entries: mpf) -> mpf:
            layouts = None if self.run.layout is None else {"theta": self.run.layout, "grad": self.run.layout}
            vectors = {"theta": self.point, "grad": entries}
            return evaluate(norm, self.values, vectors, layouts=layouts, digits=DIGITS)

        return self.run.loss.contraction(self.point, _slopes(size, gradient))


def _slopes(function: Callable[..., mpf], at: Vector) -> Vector:
    found = []
    for position in range(len(at)):
        above, below = ([x + side * NUDGE * (i == position) for i, x in enumerate(at)] for side in (1, -1))
        found.append((function(*above) - function(*below)) / (2 * NUDGE))
    return tuple(found)


def _norm(derivation: Derivation, loss: ModifiedLoss) -> Expr:
    return regularisation(derivation.method, loss).norm


def check_behind_a_factor(case: Case) -> None:
    """``M = h P grad(c R)`` with ``P = F/grad``, entry by entry; c = 0 is ``M = 0``."""
    row, run = case.row, case.run
    if row["sign"] is None:
        assert row["why"]
        return
    with mpmath.workdps(DIGITS):
        gradient = list(run.loss.gradient(case.point))
        update = bruteforce.memoryless(run, case.point, case.step, DIGITS)
        moved = case.moved()
        if row["sign"] == 0:
            assert max(map(abs, moved)) < mpf(10) ** -6 * max(map(abs, update))
            return
        assert row["sign"] == (1 if row["factor"] > 0 else -1)
        penalty = case.penalty(_norm(case.derivation, case.derivation.modified_loss))
        for m, f, g, r in zip(moved, update, gradient, penalty, strict=True):
            assert abs(m * g / (f * r) / mpf(row["factor"]) - 1) < case.bound


def check_inside_the_map(case: Case) -> None:
    """``F + M = F at the gradient of L + h c R``: M is the derivative of the map along ``h c grad R``.

    A decay that is no parameter, as Scion's, adds ``h lag decay (grad . theta - L)`` to the loss (section 11).
    """
    row, run = case.row, case.run
    if row.get("map_sign") is None:
        return
    assert row["map_sign"] == (1 if row["map_factor"] > 0 else -1)
    inside = case.derivation.gradient_map_loss
    with mpmath.workdps(DIGITS):
        gradient = run.loss.gradient(case.point)
        penalty = case.penalty(_norm(case.derivation, ModifiedLoss(inside.potential, inside.potential)))
        share_of_decay = evaluate(inside.map.lag * inside.map.decay, case.values, {}, digits=DIGITS)
        decay = run.loss.contraction(case.point, case.point)
        along = [row["map_factor"] * r + share_of_decay * d for r, d in zip(penalty, decay, strict=True)]

        def update(share: mpf) -> Vector:
            shifted = [g + share * a for g, a in zip(gradient, along, strict=True)]
            straight = replace(run, loss=_plane(shifted))
            return bruteforce.memoryless(straight, case.point, case.step, DIGITS)

        expected = [(x - y) / (2 * NUDGE) for x, y in zip(update(NUDGE), update(-NUDGE), strict=True)]
        scale = max(map(abs, expected))
        for m, e in zip(case.moved(), expected, strict=True):
            assert abs(m - e) < case.bound * scale


def _plane(gradient: list[mpf]) -> Loss:
    """The loss with this gradient everywhere."""
    size = len(gradient)
    rows = [[int(i == j) for j in range(size)] for i in range(size)]
    return ridge_loss([(slope, Monomial(1), row) for slope, row in zip(gradient, rows, strict=True)])


@pytest.mark.parametrize("name", FEW)
def test_the_numbers_of_a_few(name: str) -> None:
    case = Case(name)
    check_behind_a_factor(case)
    check_inside_the_map(case)


@pytest.mark.prove
@pytest.mark.parametrize("name", CONSTANT)
def test_the_numbers_of_the_sign_table(name: str) -> None:
    case = Case(name)
    check_behind_a_factor(case)
    check_inside_the_map(case)


def _tiny(optimizer: Optimizer) -> set[str]:
    """What goes to 0 in the modified loss; a number that smoothes another place stays as it is (AdaMod, diffGrad)."""
    loss = derive(optimizer).modified_loss
    small = {symbol.name for symbol in loss.regime.small} if isinstance(loss, ModifiedLoss) else set()
    return small & TINY.keys() or set(TINY)


def _decays(optimizer: Optimizer) -> bool:
    return any(parameter.name == "weight_decay" for parameter in optimizer.parameters)
