"""``symmem verify``: a true declaration passes, a false formula and another program are seen, and how it is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import pytest
from command import output, run
from sympy import Rational, Symbol
from truth import load

import symmem
from symmem import grad, lr
from symmem.checks.against import program_of
from symmem.checks.claims import claims, random_points, value_of
from symmem.checks.orders import Errors, directions, error_orders
from symmem.checks.picture import drawn
from symmem.checks.verify import DIMENSION, literal_of, verify
from symmem.checks.verify_text import verification_text
from symmem.declaration.toml import read_toml
from symmem.derivation.derivation import Derivation, MemorylessIteration, derive
from symmem.documents.columns import Style
from symmem.errors import SymmemError
from symmem.verification.straight import straight
from symmem.verification.values import gentle_values, longest_delay, settled_step
from symmem.verification.vectors import VerificationError, distance

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


FADES = """
name = "fades"
phi = "{phi}"
[parameters]
beta = {{ default = 0.9, range = "[0, 1)" }}
{momentum}
"""


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
        ("one step", "straight"): True,
        ("a fixed time", "straight"): True,
    }


class Crooked(Derivation):
    """A derivation whose line is half as long as it should be."""

    @property
    def straight(self) -> object:
        return derive(self.optimizer).straight.subs(lr, lr / 2)


def test_a_wrong_line_is_seen_and_the_first_step_has_none() -> None:
    """The direction on the line, made of the meaning of the line alone, is the third row."""
    adam = load("adam")
    literal = literal_of(adam, gentle_values(adam))
    point = random_points(literal, DIMENSION, 1)[0]
    line = directions(derive(adam))[2]
    assert (line.name, line.at(0)) == ("straight", derive(adam).F)
    value = value_of(line.at(4), literal, point, n=4, lr=Rational(1, 50))
    assert distance(value, straight(literal, point, 4, Rational(1, 50), 30)) < 1e-25
    found = [each for each in error_orders(Crooked(derive(adam).method, 1), literal, point) if not each.holds]
    assert [(each.counted, each.direction) for each in found] == [
        ("one step", "straight"),
        ("a fixed time", "straight"),
    ]


def test_a_true_declaration_holds() -> None:
    told: list[str] = []
    found = verify(load("nesterov"), told=told.append)
    assert found.holds
    assert len(found.claims) == 10
    assert [round(each.slope) for each in found.orders] == [1, 1, 2, 2, 2, 2]
    assert told[0] == "brute force"
    assert told[-1] == "a fixed time of straight"


def test_a_line_that_is_not_there_is_said() -> None:
    """A cascade whose steps change has no straight line at step n: no row, and the reason."""
    laprop = load("laprop")
    assert [each.name for each in directions(derive(laprop))] == ["F", "F + M"]
    found = verify(laprop, orders=False, points=1, steps=(1,))
    assert [name for name, _ in found.missing] == ["the straight-line history"]
    text = " ".join(verification_text(found, Style()).split())
    assert "Not claimed, the straight-line history: a g_l reads momentum variables" in text
    assert found.holds


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
    assert b"1 of 17 claims fail." in done.stdout


def test_a_picture_where_all_is_exact() -> None:
    """Gradient descent has no errors over h, and none or some over steps: both are drawn."""
    for path in ((0.0, 0.0, 0.0), (0.0, 1e-30, 2e-30)):
        exact = Errors("a fixed time", "straight", 2, (0.1, 0.05), (0.0, 0.0), None, path)
        given: Any = SimpleNamespace(orders=(exact,), optimizer=load("gd"), unmeasured="")
        assert b"exact" in drawn(given, "svg")


def test_a_title_is_drawn_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    """No formula and no TeX, though matplotlib knows both, and a user's settings may ask for TeX."""
    exact = Errors("a fixed time", "straight", 2, (0.1, 0.05), (0.0, 0.0), None, (0.0, 0.0, 0.0))
    monkeypatch.setitem(matplotlib.rcParams, "text.usetex", True)
    for title in (r"$\input{/etc/passwd}$", r"$x_1", r"a_1 ^ \frac{"):
        given: Any = SimpleNamespace(
            orders=(exact,), optimizer=replace(load("gd"), title=title), unmeasured=""
        )
        assert f"{title}: the optimizer against" in drawn(given, "svg").decode()
        assert drawn(given, "png")[:4] == b"\x89PNG"


def test_verify_on_the_command_line(tmp_path: Path) -> None:
    picture = tmp_path / "errors.svg"
    text = output("verify", "heavyball", "--set", "beta=0.25", "--plot", str(picture))
    assert text.startswith("HeavyBall: proof by numbers\n")
    assert text.endswith("All 16 claims hold.\n")
    assert picture.read_text(encoding="utf-8").count("<path") > 10
    for given, line in (
        (("heavyball", "--plot", "errors.doc"), b"a picture ends in .png, .pdf, .svg"),
        (("heavyball", "--against", "torch.optim.Nothing"), b"torch.optim has no Nothing"),
        (("heavyball", "--against", "missing.py:Class"), b"there is no such Python file"),
        (("heavyball", "--against", "mine.py"), b"is a file; say which class of it"),
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
    assert output("verify", str(own)).endswith("All 16 claims hold.\n")


CHAIN = """
name = "chain"
phi = "{phi}"

[[momentum]]
g = "grad"
delay = {first}

[[momentum]]
g = "{g}"
delay = {second}
"""


@pytest.mark.parametrize(
    ("phi", "g", "first", "second"), [("m2/sqrt(m1**2 + 1)", "m1*grad", 20, 24), ("m2", "m1", 30, 31)]
)
def test_long_delays_are_waited_for(phi: str, g: str, first: int, second: int) -> None:
    """True claims were called wrong: h times the delay was not small, and a chain of delays had not been seen whole."""
    optimizer = read_toml(CHAIN.format(phi=phi, g=g, first=first, second=second))
    assert longest_delay(optimizer) == first + second
    found = verify(optimizer, points=1, steps=(0, 3))
    assert found.holds
    assert {claim.step for claim in found.claims} == {0, 3, None}
    assert min(len(each.path) for each in found.orders if each.counted == "a fixed time") > first + second


@pytest.mark.parametrize(("name", "values"), [("heavyball", {"beta": "0.99"}), ("adam", {"beta2": "0.999"})])
def test_memory_that_outlasts_a_run_is_not_called_wrong(name: str, values: dict[str, str]) -> None:
    """Errors over a fixed time grow while memory fills, whatever h is: they say nothing, and are not measured."""
    found = verify(load(name).with_values(values), points=1, steps=(0, 3))
    assert found.holds
    assert {each.counted for each in found.orders} == {"one step"}
    said = verification_text(found, Style())
    assert "Not measured, the errors over a fixed time" in said
    assert "short memory" not in said
    with pytest.raises(SymmemError, match="not measured"):
        drawn(found, "png")


def test_memory_that_a_run_outlasts_is_measured() -> None:
    found = verify(load("heavyball").with_values(beta="0.9"), points=1, steps=(0, 3))
    assert found.holds
    assert not found.unmeasured
    assert min(len(each.path) for each in found.orders if each.counted == "a fixed time") == 401


SCHEDULED = """
name = "scheduled"
phi = "m1"

[schedule]
rate = "{rate}"

[[momentum]]
g = "grad"
beta = "0.3"
b = "0.7"
"""


@pytest.mark.parametrize(
    ("rate", "is_measured", "steps"),
    [
        ("min(1, (n + 1)/8)", True, {0, 3, None}),
        ("min(1, (n + 1)/40)", False, {0, 3, None}),
        ("min(1, (n + 1)/400)", False, {0, 3, None}),
        ("sqrt(n + 1)", False, {0, 3}),
    ],
)
def test_a_long_warm_up_is_not_called_wrong(rate: str, is_measured: bool, steps: set[int | None]) -> None:
    """True claims were called wrong: while the rate rises, errors over a fixed time grow, whatever h is; and memory
    holds the last steps of the rise when the rate itself has settled, so that the limit comes later."""
    found = verify(read_toml(SCHEDULED.format(rate=rate)), points=1, steps=(0, 3))
    assert found.holds
    assert {claim.step for claim in found.claims} == steps
    assert ("a fixed time" in {each.counted for each in found.orders}) == is_measured
    assert bool(found.unmeasured) != is_measured


def test_h_is_small_beside_the_scales_of_the_declaration() -> None:
    """True claims were called wrong: h was small beside 1, and not beside the width 1e-6 of this update."""
    sharp = 'name = "sharp"\nphi = "m1/(m1**2 + 1e-12)"\n[[momentum]]\ng = "grad"\nbeta = "0.3"\nb = "0.7"\n'
    assert verify(read_toml(sharp), points=1, steps=(3,)).holds


@pytest.mark.parametrize(
    ("phi", "momentum"),
    [
        ("m1", '[[momentum]]\ng = "grad"\nbeta = "beta"\nb = "beta**n"'),
        ("m1 - m2", '[[momentum]]\ng = "grad"\nbeta = "beta"\nb = "1 - beta"\n'
                    '[[momentum]]\ng = "grad"\nbeta = "1/5"\nb = "4/5"'),
        ("m2", '[[momentum]]\ng = "grad"\ndelay = 1\nstart = 0\n'
               '[[momentum]]\ng = "grad - m1"\nbeta = "beta"\nb = "1"'),
    ],
)  # fmt: skip
def test_a_limit_of_0_is_not_called_wrong(phi: str, momentum: str) -> None:
    """What is left of the past at a late step was measured against itself; a limit that is not 0 is still seen."""
    optimizer = read_toml(FADES.format(phi=phi, momentum=momentum))
    found = verify(optimizer, points=1, steps=(0, 3), orders=False)
    assert found.holds
    assert {claim.step for claim in found.claims} == {0, 3, None}
    kept = {(claim.quantity, claim.step) for claim in found.claims if claim.error}
    assert ("M", None) in kept
    literal = literal_of(optimizer, gentle_values(optimizer))
    moved = SimpleNamespace(
        F=derive(optimizer).F,
        M=derive(optimizer).M,
        limit=SimpleNamespace(F=grad / 10**6, M=lr * grad / 10**6),
    )
    seen = list(claims(moved, literal, random_points(literal, DIMENSION, 1), (0,)))
    assert [claim.holds for claim in seen] == [True, True, False, False]


@pytest.mark.parametrize("phi", ["1/m1", "sign(m1)*m1**2/abs(m1)**(5/2)", "log(abs(m1))"])
def test_a_run_keeps_away_from_poles(phi: str) -> None:
    """It ran into the pole of 1/m1, and the order over a fixed time, which is claimed off it, was called wrong."""
    average = '[[momentum]]\ng = "grad"\nbeta = "beta"\nb = "1 - beta"'
    optimizer = read_toml(FADES.format(phi=phi, momentum=average))
    found = verify(optimizer, points=1, steps=(0, 3))
    assert found.holds
    assert {each.counted for each in found.orders} == {"one step", "a fixed time"}
