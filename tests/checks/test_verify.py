"""``symmem verify``: a true declaration passes, a false formula and another program are seen, and how it is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command import output, run
from sympy import Symbol
from truth import load

import symmem
from symmem.checks.against import program_of
from symmem.checks.claims import claims, random_points
from symmem.checks.orders import error_orders
from symmem.checks.verify import DIMENSION, literal_of, verify
from symmem.derivation.derivation import Derivation, MemorylessIteration, derive
from symmem.verification.values import gentle_values, settled_step
from symmem.verification.vectors import VerificationError

OWN = '''
import torch


class Half(torch.optim.Optimizer):
    """Gradient descent that takes half of the step from the third on."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})
        self.count = 0

    @torch.no_grad()
    def step(self):
        self.count += 1
        share = 1.0 if self.count < 3 else 0.5
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(share * group["lr"] * p.grad)
'''


class Wrong(Derivation):
    """A derivation whose correction at step n lacks a factor, and whose limit is right."""

    @property
    def M(self) -> object:
        return 2 * derive(self.optimizer).M

    @property
    def limit(self) -> MemorylessIteration:
        return derive(self.optimizer).limit


def test_a_wrong_formula_is_seen() -> None:
    right = derive(load("heavyball"))
    wrong = Wrong(right.method, 1)
    literal = literal_of(load("heavyball"), gentle_values(load("heavyball")))
    points = random_points(literal, DIMENSION, 1)
    assert all(claim.holds for claim in claims(right, literal, points))
    failed = [(claim.quantity, claim.step) for claim in claims(wrong, literal, points) if not claim.holds]
    assert failed == [("M", 1), ("M", 2), ("M", 5)]
    orders = {(each.counted, each.direction): each.holds for each in error_orders(wrong, literal, points[0])}
    assert orders == {
        ("one step", "F"): True,
        ("a fixed time", "F"): True,
        ("one step", "F + M"): False,
        ("a fixed time", "F + M"): False,
    }


def test_a_true_declaration_holds() -> None:
    told: list[str] = []
    found = verify(load("nesterov"), told=told.append)
    assert found.holds
    assert len(found.claims) == 10
    assert [round(each.slope) for each in found.orders] == [1, 1, 2, 2]
    assert told[0] == "brute force"
    assert told[-1] == "a fixed time of F + M"


def test_random_points_are_others_for_another_seed() -> None:
    literal = literal_of(load("gd"), {})
    assert random_points(literal, 3, 2) == random_points(literal, 3, 2)
    assert random_points(literal, 3, 2) != random_points(literal, 3, 2, seed=1)


def test_the_settled_step_follows_the_memory() -> None:
    assert settled_step(load("gd"), {}) < settled_step(load("heavyball"), {"beta": 0.5})
    assert settled_step(load("heavyball"), {"beta": 0.5}) < settled_step(load("heavyball"), {"beta": 0.9})


def test_the_program_is_called_with_the_declared_parameters() -> None:
    adamw = load("adamw-torch")
    assert program_of(adamw, "torch.optim.AdamW") is adamw.implementation
    other = program_of(replace(adamw, implementation=None), "torch.optim.AdamW")
    assert dict(other.arguments)["betas"] == (Symbol("beta1"), Symbol("beta2"))
    momentum = program_of(replace(load("heavyball"), implementation=None), "torch.optim.SGD")
    assert dict(momentum.arguments) == {"momentum": Symbol("beta")}
    with pytest.raises(VerificationError, match=r"torch.optim.SGD has no argument for beta1"):
        program_of(adamw, "torch.optim.SGD")
    with pytest.raises(VerificationError, match="there is no package 'nowhere' here"):
        program_of(load("gd"), "nowhere.optim.SGD")
    with pytest.raises(VerificationError, match=r"torch.optim has no Adamm"):
        program_of(load("gd"), "torch.optim.Adamm")


def test_where_a_program_of_a_file_parts(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN)
    done = run("verify", "gd", "--against", f"{own}:Half")
    assert done.returncode == 1
    assert b"they part at step 3, in matrix 0 at [0, 0]" in done.stdout
    assert b"1 of 15 claims fail." in done.stdout


def test_verify_on_the_command_line(tmp_path: Path) -> None:
    picture = tmp_path / "errors.svg"
    text = output("verify", "heavyball", "--set", "beta=0.25", "--plot", str(picture))
    assert text.startswith("HeavyBall: proof by numbers\n")
    assert text.endswith("All 14 claims hold.\n")
    assert picture.read_text(encoding="utf-8").count("<path") > 10
    for given, line in (
        (("heavyball", "--plot", "errors.doc"), b"a picture ends in .png, .pdf, .svg"),
        (("heavyball", "--against", "torch.optim.Nothing"), b"torch.optim has no Nothing"),
        (("heavyball", "--against", "missing.py:Class"), b"there is no such Python file"),
        (("nothing",), b"is neither in the zoo nor a file"),
    ):
        done = run("verify", *given)
        assert done.returncode == 2
        assert line in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_declaration_never_runs_a_program_by_itself(tmp_path: Path) -> None:
    """Only --against runs one: a declaration from a stranger may name what it likes."""
    text = output("show", "gd").replace("torch.optim.SGD", "antigravity.nothing")
    own = tmp_path / "own.toml"
    own.write_text(text)
    assert symmem.load(own).implementation.name == "antigravity.nothing"
    assert output("verify", str(own)).endswith("All 14 claims hold.\n")
