"""The public face: what can be imported from symmem, and records that show themselves."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command import output
from sympy import Function, Rational, Symbol, cancel
from truth import FIRST

import symmem
from symmem import D2L, grad, lr, n, theta, total
from symmem.declaration import loading


def test_every_public_name_is_there() -> None:
    for name in symmem.__all__:
        assert getattr(symmem, name) is not None
    assert set(symmem.__all__) < set(dir(symmem))
    with pytest.raises(AttributeError, match="nothing"):
        symmem.nothing  # noqa: B018


def test_import_symmem_does_not_import_sympy() -> None:
    code = "import sys, symmem; print('sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_atoms_are_those_of_the_formulas() -> None:
    beta = Symbol("beta")
    assert beta * lr * D2L(grad) / (1 - beta) ** 3 == symmem.derive("heavyball").limit.M
    assert (theta, n) == (Symbol("theta"), Symbol("n"))
    assert total == Function("total")
    assert symmem.derive("heavyball").modified_loss.potential.has(total(grad**2))


@pytest.mark.parametrize("name", ["gd", "adamw", "lion-k"])
def test_print_is_what_the_command_line_shows(name: str) -> None:
    assert str(symmem.derive(name)) + "\n" == output("derive", name)
    assert symmem.derive(name).to_latex() == output("derive", name, "--format", "latex")
    assert symmem.derive(name, 2).to_latex("limit") == output(
        "derive", name, "--order", "2", "--limit", "--format", "latex"
    )


def test_derive_takes_an_optimizer_a_name_or_a_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(output("show", "heavyball"), encoding="utf-8")
    forms = ["heavyball", str(path), path, symmem.load("heavyball"), loading.load("heavyball")]
    for form in forms:
        derivation = symmem.derive(form)
        assert isinstance(derivation, symmem.Derivation)
        assert derivation.limit.M == symmem.derive("heavyball").limit.M
    assert symmem.derive("heavyball", order=2).order == 2


def test_the_zoo_is_listed_in_order() -> None:
    assert symmem.zoo()[:4] == FIRST[:4]
    assert {*FIRST} <= {*symmem.zoo()}
    assert symmem.zoo("sign")[:4] == ("signum", "lion", "lion-bc", "lion-k")


def test_numbers_are_put_in_by_keyword_or_by_mapping() -> None:
    adamw = symmem.load("adamw")
    named = adamw.with_values(beta1=0.9, beta2=Rational(1, 2))
    assert named == adamw.with_values({"beta1": "0.9", "beta2": 0.5})
    assert named.values == (("beta1", Rational(9, 10)), ("beta2", Rational(1, 2)))
    assert isinstance(named, symmem.Optimizer)
    assert "_{1," in named._repr_html_() or "beta_1" not in named._repr_html_()


def test_compare_is_what_the_command_line_shows() -> None:
    together = symmem.compare(["adam", symmem.load("gd"), symmem.derive("lion-k")])
    assert str(together) + "\n" == output("compare", "adam", "gd", "lion-k")
    assert together.to_latex() == output("compare", "adam", "gd", "lion-k", "--format", "latex")
    assert together.to_json() == output("compare", "adam", "gd", "lion-k", "--format", "json")
    page = together._repr_html_()
    for title in ("Adam", "GD", "Lion-K"):
        assert f"<td>{title}</td>" in page
    assert page.count("<tr>") == page.count("</tr>") == 4


def test_emit_is_what_the_command_line_writes() -> None:
    derivation = symmem.derive("gd")
    assert symmem.emit(derivation, "numpy") == output("emit", "gd", "--target", "numpy")
    assert json.loads(symmem.emit(derivation, "json"))["optimizer"] == "gd"


def test_a_declaration_can_be_kept() -> None:
    optimizer = symmem.load("lion-k")
    assert pickle.loads(pickle.dumps(optimizer)) == optimizer


@pytest.mark.parametrize("order", [0, 1.5, 2.0, "2", None])
def test_an_order_is_a_whole_number(order: object) -> None:
    with pytest.raises(symmem.DerivationError, match=r"the order is a power of h, 1 or more"):
        symmem.derive("heavyball", order=order)  # type: ignore[arg-type]


@pytest.mark.parametrize("step", [-1, 1.5, "2", None])
def test_a_step_is_a_whole_number(step: object) -> None:
    """``at(1.5)`` was the iteration at step 1."""
    with pytest.raises(symmem.DerivationError, match="steps count from 0"):
        symmem.derive("heavyball").at(step)  # type: ignore[arg-type]


def test_a_step_of_numpy_is_a_step() -> None:
    beta = Symbol("beta")
    assert cancel(symmem.derive("heavyball").at(np.int64(1)).F - grad * (1 + beta)) == 0


def test_a_derivation_can_be_copied_and_kept() -> None:
    """Whatever was computed before: the exact numbers in it have no bytes."""
    one = symmem.derive("heavyball", order=2)
    expected = one.coefficients[2]
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
        assert type(other) is type(one)
        assert other.order == 2
        assert (other.coefficients[2] - expected).expand() == 0
    by_hand = symmem.derive(symmem.load("adam").with_values(beta2="0.5"))
    assert pickle.loads(pickle.dumps(by_hand)).M == by_hand.M


def test_one_optimizer_is_compared_and_none_is_refused() -> None:
    assert str(symmem.compare("adam")) == str(symmem.compare(["adam"]))
    with pytest.raises(symmem.DeclarationError, match="name the optimizers"):
        symmem.compare([])


def test_emit_says_what_it_takes() -> None:
    """A name was taken for so many derivations as it has letters."""
    for given in ("gd", ["gd", "adam"], symmem.load("gd")):
        with pytest.raises(symmem.SymmemError, match=r"symmem\.derive"):
            symmem.emit(given, "numpy")  # type: ignore[arg-type]
