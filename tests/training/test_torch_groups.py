"""The runtime optimizer classes against brute force: param groups that differ in everything."""

from __future__ import annotations

import pytest
from group_truth import CASES, EXTRAS, closure, error, moved, optimizer_of, parameters
from truth import FIRST, shown_first


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", [*shown_first(FIRST), *EXTRAS])
def test_step(name: str, case: str) -> None:
    tensors, groups = parameters(), CASES[case]
    optimizer = optimizer_of(name, groups, tensors)
    before = float(closure(tensors)().detach())
    assert float(optimizer.step(closure(tensors))) == before
    assert error(tensors, moved(name, groups)) < 1e-14
    assert [group["n"] for group in optimizer.param_groups] == [group.n + 1 for group in groups]
