"""The runtime optimizer classes against brute force: param groups that differ in everything."""

from __future__ import annotations

import pytest
from group_truth import EXTRAS, Group, closure, error, moved, optimizer_of, parameters
from sympy import Rational
from truth import FIRST

TWO = {"beta": Rational(3, 5), "beta1": Rational(1, 2), "beta2": Rational(9, 10), "eps": Rational(1, 30)}
TWO |= {"weight_decay": Rational(1, 7), "delta": Rational(1, 3), "decay": Rational(1, 5)}
CASES = {
    "one group": [Group((0, 1, 2), n=4)],
    "two rates": [Group((0, 2), n=3), Group((1,), lr=Rational(1, 30), n=3)],
    "two of everything": [Group((0, 2), n=6), Group((1,), lr=Rational(1, 40), n=6, values=TWO)],
    "one joined late": [Group((0,), n=7), Group((1, 2), lr=Rational(1, 40), n=2, values=TWO)],
    "one joins now": [Group((0,), n=5), Group((1,), n=0, values=TWO), Group((2,), lr=Rational(1, 50), n=5)],
    "one maximises": [Group((0, 1), n=4, values=TWO), Group((2,), n=4, maximize=True)],
    "one is not trained": [Group((0, 2), n=4)],
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", [*FIRST, *EXTRAS])
def test_step(name: str, case: str) -> None:
    tensors, groups = parameters(), CASES[case]
    optimizer = optimizer_of(name, groups, tensors)
    before = float(closure(tensors)().detach())
    assert float(optimizer.step(closure(tensors))) == before
    assert error(tensors, moved(name, groups)) < 1e-14
    assert [group["n"] for group in optimizer.param_groups] == [group.n + 1 for group in groups]
