"""Each thing is computed once: the parts of a derivation ask for the same expansion, and for the same coefficients."""

from __future__ import annotations

from collections import Counter

import pytest

import symmem
from symmem.derivation.differentials import Differentials
from symmem.derivation.expansion import expansion
from symmem.derivation.recursion import Coefficients


@pytest.mark.parametrize("name", ["adamw", "heavyball", "lion"])
def test_one_expansion_for_one_report(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trees are made and solved once for each order; the second shift alone asks for the order below."""
    expansion.cache_clear()
    calls: Counter[str] = Counter()

    def counted(owner: type, method: str) -> None:
        original = getattr(owner, method)

        def call(*arguments: object) -> object:
            calls[f"{owner.__name__}.{method}"] += 1
            return original(*arguments)

        monkeypatch.setattr(owner, method, call)

    counted(Coefficients, "solve")
    counted(Differentials, "__init__")
    str(symmem.derive(symmem.load(name)))
    assert calls["Coefficients.solve"] == 1
    assert calls["Differentials.__init__"] == 1
