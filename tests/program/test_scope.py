"""The Scope: no two things have one name, and the user's names stay."""

from __future__ import annotations

import doctest

import pytest
from sympy import Symbol

from symmem.program import scope as scope_module
from symmem.program import statements
from symmem.program.scope import Scope
from symmem.program.statements import Internal


def test_the_examples() -> None:
    for module in (scope_module, statements):
        found = doctest.testmod(module)
        assert found.attempted > 0
        assert found.failed == 0


def test_an_internal_symbol_is_nobody_elses() -> None:
    assert Internal("v1") != Symbol("v1")
    assert hash(Internal("v1")) == hash(Internal("v1"))
    assert (Internal("v1") - Symbol("v1")) != 0
    assert (Internal("v1") - Internal("v1")) == 0


def test_internal_names_yield() -> None:
    scope = Scope(["v1", "v1_", "beta"])
    assert scope.name(Internal("v1")) == "v1__"
    assert scope.name(Symbol("v1")) == "v1"
    assert scope.name(Internal("v1")) == "v1__", "a symbol keeps the name that it got"
    assert scope.name(Symbol("v2")) == "v2"
    assert scope.name(Internal("v2")) == "v2_"


def test_keywords_are_no_names() -> None:
    scope = Scope(["double", "double_", "beta"], words=["double", "for"])
    assert scope.kept("double") == "double__"
    assert scope.kept("double_") == "double_"
    assert scope.name(Symbol("double")) == "double__"
    assert scope.name(Internal("for")) == "for_"


def test_what_is_outside_yields_and_is_told() -> None:
    scope = Scope(["np", "float_"], outer=["np", "float", "range"])
    assert [scope.outer(name) for name in ("np", "float", "range")] == ["np_", "float", "range"]
    assert scope.aliases == (("np_", "np"),)
    assert scope.name(Internal("range")) == "range_"
    with pytest.raises(KeyError):
        scope.outer("sum")


def test_preferred_spellings() -> None:
    grad = Symbol("grad")
    assert Scope(["grad"], preferred={grad: "g"}).name(grad) == "g"
    assert Scope(["grad", "g"], preferred={grad: "g"}).name(grad) == "g_"


def test_all_names_differ() -> None:
    kept = ["v1", "c1", "np", "end", "x_"]
    scope = Scope(kept, words=["end"], outer=["np", "out"])
    made = [scope.name(Internal(name)) for name in ("v1", "c1", "np", "end", "x", "x_", "out")]
    everything = [*map(scope.kept, kept), *made, scope.outer("np"), scope.outer("out"), scope.fresh("v1")]
    assert len(set(everything)) == len(everything)
