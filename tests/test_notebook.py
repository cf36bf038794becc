"""What a notebook shows of the records: the formulas of the notation room, between dollars."""

from __future__ import annotations

import pytest
from truth import ZOO, load

import symmem
from symmem.notation.latex import latex


@pytest.mark.parametrize("name", ZOO)
def test_records_show_their_formulas(name: str) -> None:
    optimizer = load(name)
    derivation = symmem.derive(optimizer)
    functions = {f.name: (f.latex, f.potential) for f in optimizer.functions}
    expected = {
        optimizer: [optimizer.phi, *(part for m in optimizer.momentum for part in (m.g, m.b))],
        derivation: list(derivation.coefficients),
    }
    for record, expressions in expected.items():
        shown = record._repr_latex_()
        assert shown.startswith("$$")
        assert shown.endswith("$$")
        assert shown.count("{") == shown.count("}")
        for expression in expressions:
            assert latex(expression, names=optimizer.symbols, functions=functions) in shown
