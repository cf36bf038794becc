"""What a notebook shows of the records: the formulas of the notation room, between dollars and as HTML."""

from __future__ import annotations

import html
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from sympy import Integral, Symbol
from truth import FIRST, load

import symmem
from symmem.documents.notebook import expression_latex
from symmem.notation.decimals import shown as readable
from symmem.notation.latex import latex


@pytest.mark.parametrize("name", FIRST)
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
            assert latex(readable(expression), names=optimizer.symbols, functions=functions) in shown


@pytest.mark.parametrize("name", FIRST)
def test_html_holds_the_formulas_and_is_well_formed(name: str) -> None:
    optimizer = load(name)
    derivation = symmem.derive(optimizer)
    loss = derivation.modified_loss
    expected = {
        optimizer: [optimizer.phi, *(part for m in optimizer.momentum for part in (m.g, m.beta, m.b))],
        derivation: [
            derivation.F,
            derivation.M,
            *derivation.coefficients,
            *([loss.potential] if loss else []),
        ],
    }
    for record, expressions in expected.items():
        page = record._repr_html_()
        for tag in ("div", "table", "tr", "td", "th", "strong"):
            assert page.count(f"<{tag}>") == page.count(f"</{tag}>")
        shown = html.unescape(page)
        for expression in expressions:
            assert (
                latex(readable(expression), names=optimizer.symbols, functions=optimizer.function_symbols)
                in shown
            )
    if derivation.obstruction is not None:
        assert str(derivation.obstruction.reason) in html.unescape(derivation._repr_html_())


def test_a_strangers_title_is_text() -> None:
    title = "A <script>alert(1)</script> & co"
    optimizer = symmem.Optimizer(
        "mine", "m1", [symmem.Momentum("grad", "0", "1")], title=title, reference=title
    )
    for record in (optimizer, symmem.derive(optimizer)):
        assert "<script" not in record._repr_html_()
        assert html.escape(title) in record._repr_html_()


def test_an_expression_of_somebody_else_is_shown_by_sympy() -> None:
    foreign = Integral(Symbol("x") ** 2, Symbol("x"))
    assert expression_latex(foreign) == foreign._repr_latex_()


def test_the_example_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From top to bottom without an error, in a kernel of its own; what it shows is what the records say."""
    repository = Path(__file__).resolve().parents[2]
    monkeypatch.setenv("PYTHONPATH", str(repository))
    for place in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(place, str(tmp_path / place))
    notebook = nbformat.read(repository / "examples" / "notebook.ipynb", as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    results = [cell.outputs[-1].data for cell in notebook.cells if cell.cell_type == "code"]
    shipped = nbformat.read(repository / "examples" / "notebook.ipynb", as_version=4)
    assert [cell.outputs[-1].data for cell in shipped.cells if cell.cell_type == "code"] == results
    adamw = symmem.load("adamw")
    assert results[0]["text/html"] == adamw._repr_html_()
    assert results[1]["text/html"] == symmem.derive(adamw)._repr_html_()
    assert results[1]["text/latex"] == symmem.derive(adamw)._repr_latex_()
    correction = symmem.derive(adamw).limit.M
    assert results[2]["text/plain"] == str(correction)
    assert results[2]["text/latex"] == rf"$\displaystyle {latex(readable(correction), names=adamw.symbols)}$"
    assert "D2L" in results[4]["text/plain"]
