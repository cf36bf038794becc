"""The whole zoo on every page: no overfull line in an article, in journals' classes, in the columns of conferences."""

from __future__ import annotations

import pytest
from printed import complaints, needs_class, told
from truth import EVERY, load

from symmem.documents.paper.layout import CLASSES, Layout, page_of
from symmem.documents.paper.paper import Paper

SIX = ("heavyball", "nesterov", "rmsprop-torch", "adamw", "nadamw", "lion")
PAGES = (*CLASSES, "235", "397")


def document(names: tuple[str, ...], order: int, page: str) -> str:
    """One document; every section counts its equations anew, as a paper of its own would."""
    paper = Paper(tuple(told(load(name), order) for name in names), layout=Layout(page_of(page)))
    anew = "\\clearpage\\setcounter{equation}{0}\n"
    return paper.document(anew.join(paper.parts.values()))


@pytest.mark.prove
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("names", "order"), [(EVERY, 1), (SIX, 2)], ids=["the zoo", "six to order 2"])
def test_no_line_is_overfull(names: tuple[str, ...], order: int, page: str) -> None:
    needs_class(page_of(page).document_class)
    found = complaints(document(names, order, page))
    if found:
        alone = {name: complaints(document((name,), order, page)) for name in names}
        assert {name: lines for name, lines in alone.items() if lines} == {}
        pytest.fail(f"one by one they fit, together: {found[:3]}")


def test_a_transpose_of_a_variable_at_its_step_has_one_superscript() -> None:
    """NorMuon's fourth variable reads the transpose of its third: TeX takes no second superscript."""
    needs_class("article")
    assert complaints(document(("normuon",), 1, "article")) == []
