"""Each thing is computed once for one report: the expansion, each assembled part of it, and the modified loss.

Counted are, by what they are done for: the solved recursion and the elementary differentials (one expansion), the
assembly of F_j and G_j, and the question for the modified loss.  What is cached is emptied first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest

import symmem
from symmem.algebra.trees import Tree
from symmem.derivation import derivation
from symmem.derivation.groups import group_regulariser
from symmem.derivation.loss import modified_loss
from symmem.derivation.orders.differentials import Differentials
from symmem.derivation.orders.expansion import Expansion, Numbers, expansion
from symmem.derivation.orders.recursion import Coefficients
from symmem.method.method import Method

NAMES = ["adam", "adamw", "heavyball", "nesterov", "rmsprop", "lion", "signum"]


def _counted(
    calls: Counter[object], what: str, work: Callable[..., object], key: Callable[..., object]
) -> object:
    def call(*arguments: object) -> object:
        calls[what, key(*arguments)] += 1
        return work(*arguments)

    return call


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[object]:
    counted: Counter[object] = Counter()
    solve, differentials, assembled = Coefficients.solve, Differentials.__init__, Expansion.assembled

    def assemble(series: Expansion, parts: Iterable[tuple[Tree, Numbers]]) -> object:
        listed = tuple(parts)
        counted["assembly", series.method, str(listed)] += 1
        return assembled(series, listed)

    monkeypatch.setattr(
        Coefficients, "solve", _counted(counted, "recursion", solve, lambda ring, _: ring.kernels)
    )
    monkeypatch.setattr(
        Differentials, "__init__", _counted(counted, "differentials", differentials, lambda _, method: method)
    )
    monkeypatch.setattr(Expansion, "assembled", assemble)
    asked = _counted(
        counted, "modified loss", modified_loss.modified_loss, lambda method, order: (method, order)
    )
    for module in (derivation, modified_loss, group_regulariser):
        monkeypatch.setattr(module, "modified_loss", asked)
    expansion.cache_clear()
    return counted


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_each_thing_once_for_one_report(name: str, order: int, calls: Counter[object]) -> None:
    str(symmem.derive(symmem.load(name), order))
    kinds = {key[0] for key in calls if isinstance(key, tuple)}
    assert kinds == {"recursion", "differentials", "assembly", "modified loss"}
    assert {key: times for key, times in calls.items() if times > 1} == {}


def test_one_expansion_where_nothing_else_is_asked(calls: Counter[object]) -> None:
    """Heavy ball has no coupled decay and no merged twin: one method, one of everything."""
    method: Method = symmem.derive(symmem.load("heavyball"), 2).method
    _ = symmem.derive(symmem.load("heavyball"), 2).coefficients
    assert calls["recursion", tuple(channel.kernel for channel in method.channels)] == 1
    assert sum(times for key, times in calls.items() if isinstance(key, tuple) and key[0] == "recursion") == 1
